import pg from 'pg';

/** Numbers as numbers, which are exact up to 2^53; dates as in JSON, timestamps as ISO 8601 in UTC with milliseconds. */
export function resultTypes() {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.NUMERIC, Number);
  types.setTypeParser(pg.types.builtins.DATE, String);
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoTimestamp);
  return types;
}

/** Rewrites `2026-11-20 18:30:00.5+00` as `2026-11-20T18:30:00.500Z`. A Date in between takes longer than the rest of a row. */
function isoTimestamp(text: string) {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
}
