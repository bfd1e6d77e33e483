import { sql, type RawBuilder } from 'kysely';

/**
 * Blocks of 2^19, 2^14 and 2^9 ids: whoever looks for a position sums up the large blocks, then at most 32 in one of
 * those, then 32 in one of these, and walks through at most 512 ids at the end. Measured on ten million rows; larger
 * steps make reading slower, more levels make writing slower.
 */
export const SHIFTS = [19, 14, 9];

const lowest = SHIFTS.length - 1;

export const SMALLEST_SHIFT = SHIFTS[lowest]!;

/** The tables of `keepRowCounts`. */
interface Counts {
  counted: RawBuilder<unknown>;
  slots: RawBuilder<unknown>;
  blocks: RawBuilder<unknown>;
}

/** The body of a PL/pgSQL function of `target` that answers the id of the row before which there are so many others. */
export function idAt({ counted, slots, blocks }: Counts) {
  return sql`
    declare
      found_id bigint;
    begin
      if target = 0 then
        return (select id from ${counted} order by id limit 1);
      end if;
      found_id := (${search(inBlocks)});
      -- The counts of the blocks are complete up to the first of which a slot keeps some rows: usually, one of the newest.
      if not exists (
        select from ${slots}
        where recent <> 0 and (found_id is null or recent_block << ${sql.lit(SMALLEST_SHIFT)} <= found_id)
      ) then
        return found_id;
      end if;
      return (${search((level) => sql`${inBlocks(level)} union all ${inSlots(level)}`)});
    end`;

  function inBlocks(level: number) {
    return sql`select block, total from ${blocks} where level = ${sql.lit(level)}`;
  }

  function inSlots(level: number) {
    const shift = sql.lit(SHIFTS[level]! - SMALLEST_SHIFT);
    return sql`select recent_block >> ${shift}, recent from ${slots} where recent <> 0`;
  }

  function search(counts: (level: number) => RawBuilder<unknown>) {
    return sql`
      select id from ${sql.join(SHIFTS.map((_, level) => blockAt(level, counts(level))))}, lateral (
        select id from ${counted}
        where id between ${firstOf(lowest, 0)} and ${lastOf(lowest, 0)}
        order by id offset ${at(lowest)}.missing limit 1
      ) as row_at`;
  }
}

/**
 * The block that holds the target, and how many rows are `missing` from its first row to the target. PostgreSQL adds
 * integers up faster than bigints, whose sums are numeric; no block holds more rows than ids.
 */
function blockAt(level: number, counts: RawBuilder<unknown>) {
  const target = level === 0 ? sql`target` : sql`${at(level - 1)}.missing`;
  const within =
    level === 0
      ? sql``
      : sql`where block between ${firstOf(level - 1, SHIFTS[level]!)} and ${lastOf(level - 1, SHIFTS[level]!)}`;
  return sql`lateral (
        select block, ${target} - earlier as missing
        from (
          select block, sum(total) as total,
            sum(sum(total)::integer) over (order by block rows unbounded preceding) - sum(total) as earlier
          from (${counts}) as counts ${within} group by block
        ) as b
        where earlier + total > ${target} order by block limit 1
      ) as ${at(level)}`;
}

const at = (level: number) => sql.id(`level_${level}`);

/** The first block of 2^shift ids in the block that was found at `level`. */
const firstOf = (level: number, shift: number) => sql`${at(level)}.block << ${sql.lit(SHIFTS[level]! - shift)}`;
const lastOf = (level: number, shift: number) =>
  sql`${firstOf(level, shift)} | ${sql.lit(2 ** (SHIFTS[level]! - shift) - 1)}`;
