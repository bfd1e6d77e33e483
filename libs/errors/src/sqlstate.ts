/** The error codes of PostgreSQL that the services distinguish, by PostgreSQL's names. */
export const SQLSTATE = {
  PROTOCOL_VIOLATION: '08P01',
  STRING_DATA_RIGHT_TRUNCATION: '22001',
  NUMERIC_VALUE_OUT_OF_RANGE: '22003',
  CHARACTER_NOT_IN_REPERTOIRE: '22021',
  INVALID_TEXT_REPRESENTATION: '22P02',
  UNTRANSLATABLE_CHARACTER: '22P05',
  NOT_NULL_VIOLATION: '23502',
  UNIQUE_VIOLATION: '23505',
  CHECK_VIOLATION: '23514',
  READ_ONLY_SQL_TRANSACTION: '25006',
  INVALID_AUTHORIZATION_SPECIFICATION: '28000',
  SERIALIZATION_FAILURE: '40001',
  DEADLOCK_DETECTED: '40P01',
  INSUFFICIENT_PRIVILEGE: '42501',
  UNDEFINED_TABLE: '42P01',
  LOCK_NOT_AVAILABLE: '55P03',
  QUERY_CANCELED: '57014',
} as const;

/** Classes of SQLSTATEs that may concern the values of one row: their first two characters. */
export const SQLSTATE_CLASS = { DATA_EXCEPTION: '22', INTEGRITY_CONSTRAINT_VIOLATION: '23' } as const;

/** The SQLSTATE of an error of PostgreSQL, or the name of a system error; empty if it has neither. */
export const errorCode = (error: unknown) => (error as { code?: string }).code ?? '';

/** The class of an error of PostgreSQL. */
export const errorClass = (error: unknown) => errorCode(error).slice(0, 2);
