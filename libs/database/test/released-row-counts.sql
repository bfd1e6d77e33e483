-- What keepRowCounts made for an empty table `task` in the migrations 0002 of the services, when they were released.

create table "task_slot_count" (
      slot smallint primary key,
      total bigint not null, "done" bigint not null
    ) with (fillfactor = 10);

create table "task_block_count" (
      level smallint, block bigint, slot smallint, total integer not null, primary key (level, block, slot)
    ) with (fillfactor = 50);

create function "task_count_insert"() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
      begin
      while not pg_try_advisory_xact_lock(tg_relid::integer, free_slot) loop
        free_slot := free_slot + 1;
        if free_slot = 16 then
          free_slot := pg_backend_pid() % 16;
          perform pg_advisory_xact_lock(tg_relid::integer, free_slot);
          exit;
        end if;
      end loop;
      insert into "task_slot_count" as kept (slot, total, "done")
      select free_slot, sum(total), sum("done") from (
    select id, 1 as total, case when status = 'done' then 1 else 0 end as "done" from inserted) as r having count(*) > 0
      on conflict (slot) do update
      set total = kept.total + excluded.total, "done" = kept."done" + excluded."done";
      insert into "task_block_count" as kept (level, block, slot, total)
      select l.level, r.id >> l.shift, free_slot, sum(r.total)
      from (
    select id, 1 as total, case when status = 'done' then 1 else 0 end as "done" from inserted) as r
      cross join (values (0, 19), (1, 14), (2, 9)) as l (level, shift)
      group by 1, 2
      on conflict (level, block, slot) do update set total = kept.total + excluded.total;
      return null; end $body$;

create trigger "task_count_insert" after insert on "task" referencing new table as inserted for each statement execute function "task_count_insert"();

create function "task_count_delete"() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
      begin
      while not pg_try_advisory_xact_lock(tg_relid::integer, free_slot) loop
        free_slot := free_slot + 1;
        if free_slot = 16 then
          free_slot := pg_backend_pid() % 16;
          perform pg_advisory_xact_lock(tg_relid::integer, free_slot);
          exit;
        end if;
      end loop;
      insert into "task_slot_count" as kept (slot, total, "done")
      select free_slot, sum(total), sum("done") from (
    select id, -1 as total, case when status = 'done' then -1 else 0 end as "done" from deleted) as r having count(*) > 0
      on conflict (slot) do update
      set total = kept.total + excluded.total, "done" = kept."done" + excluded."done";
      insert into "task_block_count" as kept (level, block, slot, total)
      select l.level, r.id >> l.shift, free_slot, sum(r.total)
      from (
    select id, -1 as total, case when status = 'done' then -1 else 0 end as "done" from deleted) as r
      cross join (values (0, 19), (1, 14), (2, 9)) as l (level, shift)
      group by 1, 2
      on conflict (level, block, slot) do update set total = kept.total + excluded.total;
      return null; end $body$;

create trigger "task_count_delete" after delete on "task" referencing old table as deleted for each statement execute function "task_count_delete"();

create function "task_count_update"() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
      begin
      if not exists (select id, "done" from (
    select id, 1 as total, case when status = 'done' then 1 else 0 end as "done" from before) b except select id, "done" from (
    select id, 1 as total, case when status = 'done' then 1 else 0 end as "done" from after) a) then
        return null;
      end if;
      while not pg_try_advisory_xact_lock(tg_relid::integer, free_slot) loop
        free_slot := free_slot + 1;
        if free_slot = 16 then
          free_slot := pg_backend_pid() % 16;
          perform pg_advisory_xact_lock(tg_relid::integer, free_slot);
          exit;
        end if;
      end loop;
      insert into "task_slot_count" as kept (slot, total, "done")
      select free_slot, sum(total), sum("done") from (
    select id, -1 as total, case when status = 'done' then -1 else 0 end as "done" from before union all
    select id, 1 as total, case when status = 'done' then 1 else 0 end as "done" from after) as r having count(*) > 0
      on conflict (slot) do update
      set total = kept.total + excluded.total, "done" = kept."done" + excluded."done";
      return null; end $body$;

create trigger "task_count_update" after update on "task" referencing old table as before new table as after for each statement execute function "task_count_update"();

create function "task_count_truncate"() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
      begin truncate "task_slot_count", "task_block_count"; return null; end $body$;

create trigger "task_count_truncate" after truncate on "task" for each statement execute function "task_count_truncate"();

create function "task_count_keep_id"() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
      begin raise exception 'The id of a row never changes: % is counted by it', tg_table_name; end $body$;

create trigger "task_count_keep_id" before update of id on "task" for each row execute function "task_count_keep_id"();

create view "task_count" as
    select coalesce(sum(total), 0)::bigint as total, coalesce(sum("done"), 0)::bigint as "done" from "task_slot_count";

create function "task_id_at"(target bigint) returns bigint language plpgsql stable as $body$
    begin
      if target = 0 then
        return (select id from "task" order by id limit 1);
      end if;
      return (
        select id from lateral (
          select block, target - earlier as missing
          from (
            select block, sum(total) as total,
              sum(sum(total)::integer) over (order by block rows unbounded preceding) - sum(total) as earlier
            from "task_block_count" where level = 0  group by block
          ) as b
          where earlier + total > target order by block limit 1
        ) as "level_0", lateral (
          select block, "level_0".missing - earlier as missing
          from (
            select block, sum(total) as total,
              sum(sum(total)::integer) over (order by block rows unbounded preceding) - sum(total) as earlier
            from "task_block_count" where level = 1 and block between "level_0".block << 5 and "level_0".block << 5 | 31 group by block
          ) as b
          where earlier + total > "level_0".missing order by block limit 1
        ) as "level_1", lateral (
          select block, "level_1".missing - earlier as missing
          from (
            select block, sum(total) as total,
              sum(sum(total)::integer) over (order by block rows unbounded preceding) - sum(total) as earlier
            from "task_block_count" where level = 2 and block between "level_1".block << 5 and "level_1".block << 5 | 31 group by block
          ) as b
          where earlier + total > "level_1".missing order by block limit 1
        ) as "level_2", lateral (
          select id from "task"
          where id between "level_2".block << 9 and "level_2".block << 9 | 511
          order by id offset "level_2".missing limit 1
        ) as found
      );
    end $body$;
