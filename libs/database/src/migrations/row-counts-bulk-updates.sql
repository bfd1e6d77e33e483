-- What row-counts.sql makes for a table with a filter: an update appends one change for each block of ids, as inserts and deletes do,
-- not one for each row.

create or replace function counted_table_count_update() returns trigger language plpgsql as $$
begin
  insert into counted_table_count_change (block, total, filtered)
  select id >> 9, 0, sum(difference) from (
    select id, 1 as difference from inserted where counted_filter
    union all
    select id, -1 from deleted where counted_filter
  ) as changes
  group by 1 having sum(difference) <> 0;
  return null;
end $$;

create or replace trigger counted_table_count_update after update on counted_table
referencing old table as deleted new table as inserted for each statement execute function counted_table_count_update();
