import { sql, type RawBuilder } from 'kysely';
import { columnList, parameter, prepared } from '../../connection/statement.ts';
import { shortLockTimeout, type WithId } from '../row.ts';

export interface Outcome extends WithId {
  /** `false` when the key belongs to another request. */
  isSame: boolean;
}

/** Age from which a key counts as absent. */
const isExpired = sql`created_at <= now() - interval '24 hours'`;

/**
 * Number of pages of keys, chosen by chance, whose expired ones are deleted after 64 inserts with a key. A page has 70 keys, so that expired
 * keys are at most about one eighth of the table, without an index on their age: its end would fill with dead rows while an old snapshot
 * is open. Processes need no common place to go on from.
 */
const PAGES = 8;

/** Statements of `Insert`, which take rows as JSON, and keys and requests as digests. */
export function insertStatements(table: string, columns: readonly string[]) {
  const insertOne = (condition: RawBuilder<unknown>) =>
    sql<WithId>`insert into ${sql.table(table)} (${columnList(columns)})
      select ${columnList(columns)} from json_populate_record(null::${sql.table(table)}, ${''}) ${condition} returning id`;
  const isAbsent = sql`where not exists (select from idempotency_key where key = ${parameter('bytea')})`;
  return {
    one: prepared(insertOne(sql``)),
    // Inserts a row and its key, unless the key is stored. Takes the digest of the key twice, then that of the request.
    oneOnce: prepared(
      sql<WithId>`with inserted as (${insertOne(isAbsent)})
        insert into idempotency_key (key, request, row_id)
        select ${parameter('bytea')}, ${parameter('bytea')}, id from inserted returning row_id as id`,
    ),
    many: prepared(manyStatement(table, columns)),
    manyOnce: prepared(manyOnceStatement(table, columns)),
    find: prepared(
      sql<Outcome>`select row_id as id, request = ${parameter('bytea')} as "isSame" from idempotency_key
        where key = ${parameter('bytea')} and not ${isExpired}`,
    ),
    deleteKey: prepared(sql`delete from idempotency_key where key = ${parameter('bytea')} and ${isExpired}`),
    deleteExpired: prepared(
      sql`with place as materialized (
          select greatest(0, floor(random() * (pg_relation_size('idempotency_key') / current_setting('block_size')::integer + ${sql.lit(PAGES - 1)})) - ${sql.lit(PAGES - 1)}) as page
        )
        delete from idempotency_key where ctid = any(array(
          select ctid from idempotency_key
          where ctid >= (select format('(%s,0)', page)::tid from place)
            and ctid < (select format('(%s,0)', page + ${sql.lit(PAGES)})::tid from place)
            and ${isExpired} for update skip locked))`,
    ),
  };
}

/**
 * Inserts the rows of a JSON array, and returns an id for each, in their order. All statements insert in one order, that of the values:
 * two of them with the same unique values the other way round would wait for each other. PostgreSQL assigns the ids in the order in
 * which it inserts, so the position of an id among the new ones tells its row.
 */
function manyStatement(table: string, columns: readonly string[]) {
  return sql<WithId>`
    with ${shortLockTimeout},
    given as materialized (
      select ordinality, ${inOrder(columns)}, ${columnList(columns)}
      from json_populate_recordset(null::${sql.table(table)}, ${''}) with ordinality, short_lock_timeout
    ),
    ${insertedRows(table, columns, 'given')}
    select ids[number] as id from given cross join new_ids order by ordinality`;
}

/**
 * As `manyStatement`, for rows of which some have a key: takes the digests of keys and requests as well, null for a row without key. Leaves
 * out rows whose stored key has expired, which have the id null.
 */
function manyOnceStatement(table: string, columns: readonly string[]) {
  return sql<{ id: number | null; isSame: boolean }>`
    with ${shortLockTimeout},
    given as materialized (
      select *
      from json_populate_recordset(null::${sql.table(table)}, ${''}) with ordinality
      join unnest(${parameter('bytea[]')}, ${parameter('bytea[]')}) with ordinality as once (key, request, ordinality) using (ordinality)
      cross join short_lock_timeout
    ),
    own as materialized (
      select key, request, row_id, ${isExpired} as is_expired from idempotency_key
      where key = any(array(select key from given where key is not null))
    ),
    new as materialized (
      select ordinality, key, request, ${inOrder(columns)}, ${columnList(columns)}
      from given
      where not exists (select from own where own.key = given.key)
    ),
    ${insertedRows(table, columns, 'new')},
    created as materialized (select ordinality, key, request, ids[number] as id from new cross join new_ids),
    stored as (
      insert into idempotency_key (key, request, row_id)
      select key, request, id from created where key is not null order by key
    )
    select coalesce(created.id, own.row_id) as id, created.id is not null or given.request = own.request as "isSame"
    from given
    left join created using (ordinality)
    left join own on own.key = given.key and not own.is_expired
    order by ordinality`;
}

const inOrder = (columns: readonly string[]) =>
  sql`row_number() over (order by ${columnList(columns)}, ordinality) as number`;

/** Parts of a `with` clause: `new_ids` has an array of the ids of the rows of `source`, whose index is their `number`. */
const insertedRows = (table: string, columns: readonly string[], source: string) => sql`
    inserted as (
      insert into ${sql.table(table)} (${columnList(columns)})
      select ${columnList(columns)} from ${sql.table(source)} order by number
      returning id
    ),
    new_ids as materialized (select array_agg(id order by id) as ids from inserted)`;
