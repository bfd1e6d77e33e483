import { sql, type Kysely, type RawBuilder } from 'kysely';
import { idAt, SHIFTS, SMALLEST_SHIFT } from './row-positions.ts';

/** So many transactions can change one block's count without waiting for each other. */
const SLOTS = 16;

/**
 * For migrations: from here on, triggers keep the number of a table's rows, so that neither a page at any depth nor a
 * total has to scan it. What this makes for a table `item`, whose key must be a bigint `id` that never changes:
 * - the view `item_count`: one row with the `total`, and one count for each filter
 * - the function `item_id_at(target)`: the id of the row before which there are `target` rows, null past the end
 * - the tables `item_slot_count` and `item_block_count`, in which they look that up, in the snapshot of the statement
 *   that asks
 *
 * A transaction adds what it changes to rows of a slot that nobody else is using, and so waits for nobody's commit, as
 * long as no more than 16 write to the table at once. Mostly, new rows belong to the newest block: their number stays
 * with the total of the slot, as `recent`, until rows of another block follow, so that an insert changes one row instead
 * of four. Only transactions at the isolation level read committed can write: others fail with 40001 when somebody has
 * written since they began. Rows that are there already are counted; meanwhile, a second or two for ten million, nobody
 * else can write.
 *
 * Migrations that have been released call this, so it also brings up to date what earlier releases have made: after
 * each change of it, one more migration calls it again.
 * @param filters SQL conditions by the name of their count, such as `{ finished: "status = 'Finished'" }`; they can't become
 * others later, since a table that is counted already keeps its columns
 */
export async function keepRowCounts<DB>(db: Kysely<DB>, table: string, filters: Record<string, string> = {}) {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  // Written out in the functions, which then mean the same whatever a session's search_path is.
  const named = (name: string) => sql.id(rows[0]!.schema, name);
  const counted = named(table);
  const slots = named(`${table}_slot_count`);
  const blocks = named(`${table}_block_count`);
  const totals = named(`${table}_count`);
  const filterNames = Object.keys(filters);
  const columns = filterNames.map((name) => sql.id(name));

  /** The ids of a table's rows with what each adds to the counts. */
  const changes = (source: RawBuilder<unknown>, sign: 1 | -1) => sql`
    select id, ${sql.lit(sign)} as total${each(
      filterNames,
      (name) => sql`, case when ${sql.raw(filters[name]!)} then ${sql.lit(sign)} else 0 end as ${sql.id(name)}`,
    )} from ${source}`;

  await sql`lock table ${counted} in share row exclusive mode`.execute(db);
  if (await exists(`${table}_slot_count`)) {
    // The view first, as readers lock them: the other way round, they and this would wait for each other.
    await sql`lock table ${totals} in access exclusive mode`.execute(db);
    await sql`
      alter table ${slots}
        add column if not exists recent_block bigint not null default 0,
        add column if not exists recent integer not null default 0`.execute(db);
  } else {
    await createTables();
    await fill();
    await sql`analyze ${slots}, ${blocks}`.execute(db);
  }

  const deleted = changes(sql`deleted`, -1);
  await trigger(
    'insert',
    sql`after insert`,
    sql`referencing new table as inserted for each statement`,
    countInserted(),
  );
  await trigger(
    'delete',
    sql`after delete`,
    sql`referencing old table as deleted for each statement`,
    sql`${takeSlot()} ${addToSlot(deleted)} ${addToBlocks(deleted)} return null;`,
  );
  if (filterNames.length > 0) {
    await trigger(
      'update',
      sql`after update`,
      sql`referencing old table as before new table as after for each statement`,
      countUpdated(),
    );
  }
  await trigger(
    'truncate',
    sql`after truncate`,
    sql`for each statement`,
    sql`truncate ${slots}, ${blocks}; return null;`,
  );
  await trigger(
    'keep_id',
    sql`before update of id`,
    sql`for each row`,
    sql`raise exception 'The id of a row never changes: % is counted by it', tg_table_name;`,
  );

  await sql`
    create or replace view ${totals} as
    select coalesce(sum(total), 0)::bigint as total${each(
      columns,
      (column) => sql`, coalesce(sum(${column}), 0)::bigint as ${column}`,
    )} from ${slots}`.execute(db);

  await sql`
    create or replace function ${named(`${table}_id_at`)}(target bigint) returns bigint language plpgsql stable as $body$
    ${idAt({ counted, slots, blocks })} $body$`.execute(db);

  async function exists(name: string) {
    const { rows } = await sql<{ found: boolean }>`
      select to_regclass(format('%I.%I', current_schema(), ${name}::text)) is not null as found`.execute(db);
    return rows[0]!.found;
  }

  async function createTables() {
    await sql`
      create table ${slots} (
        slot smallint primary key,
        total bigint not null${each(columns, (column) => sql`, ${column} bigint not null`)},
        recent_block bigint not null default 0,
        recent integer not null default 0
      ) with (fillfactor = 10)`.execute(db);
    await sql`
      create table ${blocks} (
        level smallint, block bigint, slot smallint, total integer not null, primary key (level, block, slot)
      ) with (fillfactor = 50)`.execute(db);
  }

  /** Counts all rows once, in the smallest blocks, and makes everything else of these. */
  async function fill() {
    await sql`
      with smallest as materialized (
        select id >> ${sql.lit(SMALLEST_SHIFT)} as block, sum(total) as total${each(columns, (column) => sql`, sum(${column}) as ${column}`)}
        from (${changes(counted, 1)}) as r group by 1
      ), whole as (
        insert into ${slots} (slot, total${each(columns, (column) => sql`, ${column}`)})
        select 0, sum(total)${each(columns, (column) => sql`, sum(${column})`)} from smallest having count(*) > 0
      )
      insert into ${blocks} (level, block, slot, total)
      ${sql.join(
        SHIFTS.map(
          (shift, level) =>
            sql`select ${sql.lit(level)}, block >> ${sql.lit(shift - SMALLEST_SHIFT)} as block, 0, sum(total)
            from smallest group by 2`,
        ),
        sql` union all `,
      )} order by 1, 2`.execute(db);
  }

  /** Adds up `source`, as `changes` makes it, for the whole table. */
  function addToSlot(source: RawBuilder<unknown>) {
    return sql`
      insert into ${slots} as kept (slot, total${each(columns, (column) => sql`, ${column}`)})
      select free_slot, sum(total)${each(columns, (column) => sql`, sum(${column})`)} from (${source}) as r having count(*) > 0
      on conflict (slot) do update
      set total = kept.total + excluded.total${each(columns, (column) => sql`, ${column} = kept.${column} + excluded.${column}`)};`;
  }

  /** The same for the blocks, of which only the totals are asked for. */
  function addToBlocks(source: RawBuilder<unknown>) {
    return sql`
      insert into ${blocks} as kept (level, block, slot, total)
      select l.level, r.id >> l.shift, free_slot, sum(r.total)
      from (${source}) as r
      cross join (values ${sql.join(SHIFTS.map((shift, level) => sql`(${sql.lit(level)}, ${sql.lit(shift)})`))}) as l (level, shift)
      group by 1, 2
      on conflict (level, block, slot) do update set total = kept.total + excluded.total;`;
  }

  /** The usual case first: all rows belong to the block to which the slot's last ones belonged. */
  function countInserted() {
    const recent = sql`select recent_block << ${sql.lit(SMALLEST_SHIFT)} as id, recent as total from ${slots} where slot = free_slot and recent <> 0`;
    return sql`
      select
        count(*)::integer as total, min(id) >> ${sql.lit(SMALLEST_SHIFT)} as first_block, max(id) >> ${sql.lit(SMALLEST_SHIFT)} as last_block${each(
          filterNames,
          (name) => sql`, count(*) filter (where ${sql.raw(filters[name]!)}) as ${sql.id(name)}`,
        )}
      into added from inserted;
      if added.total = 0 then
        return null;
      end if;
      ${takeSlot()}
      update ${slots}
      set total = total + added.total, recent = recent + added.total${each(columns, (column) => sql`, ${column} = ${column} + added.${column}`)}
      where slot = free_slot and recent_block = added.first_block and recent_block = added.last_block;
      if not found then
        ${addToBlocks(sql`select id, 1 as total from inserted union all ${recent}`)}
        ${addToSlot(changes(sql`inserted`, 1))}
        update ${slots} set recent_block = added.last_block, recent = 0 where slot = free_slot;
      end if;
      return null;`;
  }

  /** Most updates change nothing that is counted. */
  function countUpdated() {
    const changed = sql`${changes(sql`before`, -1)} union all ${changes(sql`after`, 1)}`;
    const sums = columns.map((column) => sql`sum(${column}) <> 0`);
    return sql`
      if (select ${sql.join(sums, sql` or `)} from (${changed}) as r) then
        ${takeSlot()}
        ${addToSlot(changed)}
      end if;
      return null;`;
  }

  /** Finds a slot that nobody else is using, until the end of the transaction. */
  function takeSlot() {
    return sql`
      while not pg_try_advisory_xact_lock(tg_relid::integer, free_slot) loop
        free_slot := free_slot + 1;
        if free_slot = ${sql.lit(SLOTS)} then
          free_slot := pg_backend_pid() % ${sql.lit(SLOTS)};
          perform pg_advisory_xact_lock(tg_relid::integer, free_slot);
          exit;
        end if;
      end loop;`;
  }

  async function trigger(
    name: string,
    event: RawBuilder<unknown>,
    scope: RawBuilder<unknown>,
    body: RawBuilder<unknown>,
  ) {
    const called = `${table}_count_${name}`;
    await sql`
      create or replace function ${named(called)}() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
        added record;
      begin ${body} end $body$`.execute(db);
    await sql`create or replace trigger ${sql.id(called)} ${event} on ${counted} ${scope} execute function ${named(called)}()`.execute(
      db,
    );
  }
}

function each<Element>(elements: Element[], fragment: (element: Element) => RawBuilder<unknown>) {
  return elements.length === 0 ? sql`` : sql.join(elements.map(fragment), sql``);
}
