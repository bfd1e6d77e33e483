-- What row-counts.sql makes for a table, with folds of a bounded number of changes.

-- The release before calls it without an argument.
drop function if exists counted_table_count_fold();

-- Adds at most `bound` of the open changes to the totals and blocks, so that a backlog does not exceed the timeout of a statement: each
-- change costs a row of three levels. Returns how many there were; 0 also while another session folds.
create or replace function counted_table_count_fold(bound integer default 5000) returns integer language plpgsql as $$
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

-- Locks the tables of the counts as readers and folds do: the totals first.
create or replace function counted_table_count_truncate() returns trigger language plpgsql as $$
begin
  truncate counted_table_count_total, counted_table_count_change, counted_table_count_block;
  return null;
end $$;
