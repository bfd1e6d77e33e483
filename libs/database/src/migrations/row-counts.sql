-- Row counts of one table, so that neither its total nor a page at any depth takes a scan of it. row-counts.ts replaces the names
-- "counted_table", whose primary key is a bigint "id", and "counted_name", and the condition "counted_filter".
--
-- A statement that inserts or deletes rows appends one change for each block of 512 ids that it touches; no statement of a
-- writer updates a count. A count is the newest row of _count_total plus the changes that are not folded into it. Changes
-- commit and roll back with their rows, so a count is exact in every snapshot and at every isolation level, and no writer
-- waits for another one.

create table counted_table_count_change (
  number bigint primary key generated always as identity,
  block bigint not null,
  total integer not null,
  filtered integer not null
);

-- Blocks of 2^19 (level 0), 2^14 (level 1) and 2^9 ids (level 2). A search for a position adds up one row for each half
-- million ids, then at most 32 rows twice, then reads at most 512 rows of the table.
create table counted_table_count_block (
  level smallint,
  block bigint,
  total integer not null,
  filtered integer not null,
  primary key (level, block)
) with (fillfactor = 50);

-- The newest row has the totals. Totals are appended, because a row that is updated gets slower to read with each update
-- as long as an old snapshot, such as a backup's, is open.
create table counted_table_count_total (
  number bigint primary key,
  total bigint not null,
  filtered bigint not null,
  -- The totals include all changes up to this number. Readers start after it, and skip the dead rows of old changes.
  folded bigint not null,
  -- The candidate for the next `folded`. It counts as soon as the transactions before `seen_by` have ended, because each of
  -- them may still commit a change with a smaller number.
  seen bigint not null,
  seen_by xid8 not null
);

create view counted_table_count as
select
  coalesce(newest.total, 0) + coalesce(open.total, 0) as total,
  coalesce(newest.filtered, 0) + coalesce(open.filtered, 0) as counted_name
from (values (true)) as always
left join lateral (select * from counted_table_count_total order by number desc limit 1) as newest on true
cross join lateral (
  select sum(total) as total, sum(filtered) as filtered
  from counted_table_count_change where number > coalesce(newest.folded, 0)
) as open;

-- The id of the row that `target` rows precede, null past the end. Each step finds the block with that row among the
-- blocks of the step before, until its ids are `low` to `high` in blocks of level 2. PL/pgSQL keeps the plan.
create function counted_table_id_at(target bigint) returns bigint language plpgsql stable as $$
declare
  start constant bigint := coalesce((select folded from counted_table_count_total order by number desc limit 1), 0);
begin
  return (
    with recursive step (level, low, high, missing) as (
      select -1, -1::bigint << 54, ~(-1::bigint << 54), target
      union all
      select step.level + 1, hit.block << shift, ((hit.block + 1) << shift) - 1, step.missing - hit.preceding
      from step
      cross join lateral (select 5 * (1 - step.level) as shift) as next
      cross join lateral (
        select block, upto - total as preceding
        from (
          select block, sum(total) as total, sum(sum(total)::integer) over (order by block rows unbounded preceding) as upto
          from (
            select block, total from counted_table_count_block
            where level = (step.level + 1)::smallint and block between step.low >> shift and step.high >> shift
            union all
            select block >> shift, total from counted_table_count_change
            where number > start and total <> 0 and block between step.low and step.high
          ) as counts
          group by block
        ) as sums
        where upto > step.missing order by block limit 1
      ) as hit
      where step.level < 2
    )
    select id from step
    cross join lateral (
      select id from counted_table where id between low << 9 and (low << 9) + 511 order by id offset step.missing limit 1
    ) as found
    where step.level = 2
  );
end $$;

-- Adds at most `bound` of the open changes to the totals and blocks, so that a backlog does not exceed the timeout of a statement: each
-- change costs a row of three levels. Returns how many there were; 0 also while another session folds.
create function counted_table_count_fold(bound integer default 5000) returns integer language plpgsql as $$
declare
  newest record;
  last bigint;
  folder xid8;
  is_settled boolean;
  folded_changes integer;
  has_empty_block boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'Row counts are folded at read committed only';
  end if;
  if not pg_try_advisory_xact_lock('counted_table_count_change'::regclass::bigint) then
    return 0;
  end if;
  select * into newest from counted_table_count_total order by number desc limit 1;
  select max(number) into last from (
    select number from counted_table_count_change where number > coalesce(newest.folded, 0) order by number limit bound
  ) as next;
  if last is null then
    return 0;
  end if;
  -- Not before, because all transactions that have a change with a number up to `last` must have a smaller id.
  folder := pg_current_xact_id();
  -- A seen_by of the future has come with a dump from another server, where its transactions have ended.
  is_settled := pg_snapshot_xmin(pg_current_snapshot()) > newest.seen_by or newest.seen_by > folder;
  with change as (
    delete from counted_table_count_change where number > coalesce(newest.folded, 0) and number <= last
    returning block, total, filtered
  ), appended as (
    insert into counted_table_count_total (number, total, filtered, folded, seen, seen_by)
    select coalesce(newest.number, 0) + 1, coalesce(newest.total, 0) + sum(total), coalesce(newest.filtered, 0) + sum(filtered),
      -- Changes after `last` are still open, whether those up to `seen` have committed or not.
      case when is_settled then least(newest.seen, last) else coalesce(newest.folded, 0) end,
      case when is_settled is not false then last else newest.seen end,
      case when is_settled is not false then folder else newest.seen_by end
    from change
  ), added as (
    insert into counted_table_count_block as kept (level, block, total, filtered)
    select level, block >> shift, sum(total), sum(filtered)
    from change cross join (values (0, 10), (1, 5), (2, 0)) as levels (level, shift)
    group by 1, 2
    on conflict (level, block) do update
    set total = kept.total + excluded.total, filtered = kept.filtered + excluded.filtered
    returning total
  )
  select (select count(*) from change), bool_or(total = 0) into folded_changes, has_empty_block from added;
  delete from counted_table_count_total where number <= newest.number;
  if has_empty_block then
    delete from counted_table_count_block where total = 0;
  end if;
  return folded_changes;
end $$;

-- Counts all rows anew, while readers and writers go on.
create function counted_table_count_recount() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'Rows are recounted at read committed only';
  end if;
  -- In this order, as `truncate` locks them.
  lock table counted_table in access share mode;
  perform pg_advisory_xact_lock('counted_table_count_change'::regclass::bigint);
  -- One statement, because both must see the same rows: changes that commit later are added to the new counts.
  with change as (delete from counted_table_count_change)
  insert into counted_table_count_block (level, block, total, filtered)
  select 3, id >> 9, count(*), count(*) filter (where counted_filter) from counted_table group by 2;
  delete from counted_table_count_block where level <> 3;
  insert into counted_table_count_block (level, block, total, filtered)
  select levels.level, block >> shift, sum(total), sum(filtered)
  from counted_table_count_block cross join (values (0, 10), (1, 5), (2, 0)) as levels (level, shift)
  group by 1, 2;
  with replaced as (delete from counted_table_count_total returning number)
  insert into counted_table_count_total (number, total, filtered, folded, seen, seen_by)
  select coalesce((select max(number) from replaced), 0) + 1, coalesce(sum(total), 0), coalesce(sum(filtered), 0), 0, 0, pg_current_xact_id()
  from counted_table_count_block where level = 3;
  delete from counted_table_count_block where level = 3;
end $$;

create function counted_table_count_insert() returns trigger language plpgsql as $$
begin
  insert into counted_table_count_change (block, total, filtered)
  select id >> 9, count(*), count(*) filter (where counted_filter) from inserted group by 1;
  return null;
end $$;

create function counted_table_count_delete() returns trigger language plpgsql as $$
begin
  insert into counted_table_count_change (block, total, filtered)
  select id >> 9, -count(*), -count(*) filter (where counted_filter) from deleted group by 1;
  return null;
end $$;

create function counted_table_count_update() returns trigger language plpgsql as $$
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

-- Locks the tables of the counts as readers and folds do: the totals first.
create function counted_table_count_truncate() returns trigger language plpgsql as $$
begin
  truncate counted_table_count_total, counted_table_count_change, counted_table_count_block;
  return null;
end $$;

create trigger count_insert after insert on counted_table
referencing new table as inserted for each statement execute function counted_table_count_insert();

create trigger count_delete after delete on counted_table
referencing old table as deleted for each statement execute function counted_table_count_delete();

-- row-counts.ts drops it for a table without a filter, whose updates change no count.
create trigger count_update after update on counted_table
referencing old table as deleted new table as inserted for each statement execute function counted_table_count_update();

create trigger count_truncate after truncate on counted_table
for each statement execute function counted_table_count_truncate();

-- Counts the rows that exist. Writers wait since the first trigger.
select counted_table_count_recount();
