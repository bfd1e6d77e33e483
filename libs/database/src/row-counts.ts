import { sql, type Kysely, type RawBuilder } from 'kysely';

/**
 * Blocks of 2^19, 2^14 and 2^9 ids: whoever looks for a position sums up the large blocks, then at most 32 in one of
 * those, then 32 in one of these, and walks through at most 512 ids at the end. Measured on ten million rows; larger
 * steps make reading slower, more levels make writing slower.
 */
const SHIFTS = [19, 14, 9];

/** So many transactions can change one block's count without waiting for each other. */
const SLOTS = 16;

/**
 * For migrations: from here on, triggers keep the number of a table's rows, so that neither a page at any depth nor a
 * total has to scan it. The SQL that this makes is part of migrations that have been released: it is frozen. What it
 * makes for a table `item`, whose key must be a bigint `id` that never changes:
 * - the view `item_count`: one row with the `total`, and one count for each filter
 * - the function `item_id_at(target)`: the id of the row before which there are `target` rows, null past the end
 * - the tables `item_slot_count` and `item_block_count`, in which they look that up, in the snapshot of the statement
 *   that asks
 *
 * A transaction adds what it changes to rows of a slot that nobody else is using, and so waits for nobody's commit, as
 * long as no more than 16 write to the table at once. Only transactions at the isolation level read committed can
 * write: others fail with 40001 when somebody has written since they began. Rows that are there already are counted;
 * meanwhile, a second or two for ten million, nobody else can write.
 * @param filters SQL conditions by the name of their count, such as `{ finished: "status = 'Finished'" }`
 */
export async function keepRowCounts<DB>(db: Kysely<DB>, table: string, filters: Record<string, string> = {}) {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  // Written out in the functions, which then mean the same whatever a session's search_path is.
  const named = (name: string) => sql.id(rows[0]!.schema, name);
  const counted = named(table);
  const slots = named(`${table}_slot_count`);
  const blocks = named(`${table}_block_count`);
  const filterNames = Object.keys(filters);
  const columns = filterNames.map((name) => sql.id(name));

  /** The ids of a table's rows with what each adds to the counts. */
  const changes = (source: RawBuilder<unknown>, sign: 1 | -1) => sql`
    select id, ${sql.lit(sign)} as total${each(
      filterNames,
      (name) => sql`, case when ${sql.raw(filters[name]!)} then ${sql.lit(sign)} else 0 end as ${sql.id(name)}`,
    )} from ${source}`;

  await sql`
    create table ${slots} (
      slot smallint primary key,
      total bigint not null${each(columns, (column) => sql`, ${column} bigint not null`)}
    ) with (fillfactor = 10)`.execute(db);
  await sql`
    create table ${blocks} (
      level smallint, block bigint, slot smallint, total integer not null, primary key (level, block, slot)
    ) with (fillfactor = 50)`.execute(db);
  await sql`lock table ${counted} in share row exclusive mode`.execute(db);
  await fill();
  await sql`analyze ${slots}, ${blocks}`.execute(db);

  const inserted = changes(sql`inserted`, 1);
  const deleted = changes(sql`deleted`, -1);
  await onChange('insert', 'new table as inserted', sql`${addToSlot(inserted)} ${addToBlocks(inserted)}`);
  await onChange('delete', 'old table as deleted', sql`${addToSlot(deleted)} ${addToBlocks(deleted)}`);
  if (filterNames.length > 0) {
    const before = changes(sql`before`, -1);
    const after = changes(sql`after`, 1);
    const listed = sql.join([sql`id`, ...columns]);
    await onChange(
      'update',
      'old table as before new table as after',
      addToSlot(sql`${before} union all ${after}`),
      // Most updates change nothing that is counted.
      sql`
      if not exists (select ${listed} from (${changes(sql`before`, 1)}) b except select ${listed} from (${after}) a) then
        return null;
      end if;`,
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
    create view ${named(`${table}_count`)} as
    select coalesce(sum(total), 0)::bigint as total${each(
      columns,
      (column) => sql`, coalesce(sum(${column}), 0)::bigint as ${column}`,
    )} from ${slots}`.execute(db);

  await sql`
    create function ${named(`${table}_id_at`)}(target bigint) returns bigint language plpgsql stable as $body$
    begin
      if target = 0 then
        return (select id from ${counted} order by id limit 1);
      end if;
      return (
        select id from ${sql.join(SHIFTS.map((_, level) => blockAt(level)))}, lateral (
          select id from ${counted}
          where id between ${firstOf(lowest, 0)} and ${lastOf(lowest, 0)}
          order by id offset ${at(lowest)}.missing limit 1
        ) as found
      );
    end $body$`.execute(db);

  /** Counts all rows once, in the smallest blocks, and makes everything else of these. */
  async function fill() {
    await sql`
      with smallest as materialized (
        select id >> ${sql.lit(SHIFTS[lowest])} as block, sum(total) as total${each(columns, (column) => sql`, sum(${column}) as ${column}`)}
        from (${changes(counted, 1)}) as r group by 1
      ), whole as (
        insert into ${slots} (slot, total${each(columns, (column) => sql`, ${column}`)})
        select 0, sum(total)${each(columns, (column) => sql`, sum(${column})`)} from smallest having count(*) > 0
      )
      insert into ${blocks} (level, block, slot, total)
      ${sql.join(
        SHIFTS.map(
          (shift, level) =>
            sql`select ${sql.lit(level)}, block >> ${sql.lit(shift - SHIFTS[lowest]!)} as block, 0, sum(total)
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

  /** @param action what becomes of the changes, when a slot has been found for them */
  async function onChange(event: string, transition: string, action: RawBuilder<unknown>, unless = sql``) {
    await trigger(
      event,
      sql`after ${sql.raw(event)}`,
      sql`referencing ${sql.raw(transition)} for each statement`,
      sql`${unless}
      while not pg_try_advisory_xact_lock(tg_relid::integer, free_slot) loop
        free_slot := free_slot + 1;
        if free_slot = ${sql.lit(SLOTS)} then
          free_slot := pg_backend_pid() % ${sql.lit(SLOTS)};
          perform pg_advisory_xact_lock(tg_relid::integer, free_slot);
          exit;
        end if;
      end loop;
      ${action}
      return null;`,
    );
  }

  async function trigger(
    name: string,
    event: RawBuilder<unknown>,
    scope: RawBuilder<unknown>,
    body: RawBuilder<unknown>,
  ) {
    const called = `${table}_count_${name}`;
    await sql`
      create function ${named(called)}() returns trigger language plpgsql as $body$
      declare
        free_slot integer := 0;
      begin ${body} end $body$`.execute(db);
    await sql`create trigger ${sql.id(called)} ${event} on ${counted} ${scope} execute function ${named(called)}()`.execute(
      db,
    );
  }

  /**
   * The block that holds the target, and how many rows are `missing` from its first row to the target. PostgreSQL adds
   * integers up faster than bigints, whose sums are numeric; no block holds more rows than ids.
   */
  function blockAt(level: number) {
    const target = level === 0 ? sql`target` : sql`${at(level - 1)}.missing`;
    const within =
      level === 0
        ? sql``
        : sql`and block between ${firstOf(level - 1, SHIFTS[level]!)} and ${lastOf(level - 1, SHIFTS[level]!)}`;
    return sql`lateral (
          select block, ${target} - earlier as missing
          from (
            select block, sum(total) as total,
              sum(sum(total)::integer) over (order by block rows unbounded preceding) - sum(total) as earlier
            from ${blocks} where level = ${sql.lit(level)} ${within} group by block
          ) as b
          where earlier + total > ${target} order by block limit 1
        ) as ${at(level)}`;
  }
}

const lowest = SHIFTS.length - 1;
const at = (level: number) => sql.id(`level_${level}`);

/** The first block of 2^shift ids in the block that was found at `level`. */
const firstOf = (level: number, shift: number) => sql`${at(level)}.block << ${sql.lit(SHIFTS[level]! - shift)}`;
const lastOf = (level: number, shift: number) =>
  sql`${firstOf(level, shift)} | ${sql.lit(2 ** (SHIFTS[level]! - shift) - 1)}`;

function each<Element>(elements: Element[], fragment: (element: Element) => RawBuilder<unknown>) {
  return elements.length === 0 ? sql`` : sql.join(elements.map(fragment), sql``);
}
