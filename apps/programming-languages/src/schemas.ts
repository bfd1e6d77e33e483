import { PageHeaders, PageQuery } from '@rest-services/pagination';
import {
  absentIfBlank,
  absentIfEmpty,
  acceptsText,
  Id,
  IdempotencyHeaders,
  KeyReused,
  messageResponse,
  PathId,
  Timestamp,
} from '@rest-services/service';
import { Type } from 'typebox';

const stored = { minimum: -2_147_483_648, maximum: 2_147_483_647 };
const Rank = Type.Optional(
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    ...stored,
    description: 'Missing or empty: null. Digits in a string will do too.',
    examples: [1],
    ...acceptsText,
    ...absentIfEmpty,
  }),
);

const example = { name: 'TypeScript', released_year: 2012, githut_rank: 4, pypl_rank: 8, tiobe_rank: 36 };

export const Language = Type.Object(
  {
    name: Type.String({
      maxLength: 255,
      description: 'Unique; not blank; at most 255 characters (Unicode code points).',
      examples: ['TypeScript'],
      ...absentIfBlank,
    }),
    released_year: Type.Integer({
      ...stored,
      description: 'Digits in a string will do too.',
      examples: [2012],
      ...acceptsText,
      ...absentIfEmpty,
    }),
    githut_rank: Rank,
    pypl_rank: Rank,
    tiobe_rank: Rank,
  },
  { $id: 'ProgrammingLanguageFields', examples: [example] },
);

const StoredRank = Type.Unsafe<number | null>({ type: ['integer', 'null'], examples: [1] });
export const StoredLanguage = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['TypeScript'] }),
    released_year: Type.Integer({ examples: [2012] }),
    githut_rank: StoredRank,
    pypl_rank: StoredRank,
    tiobe_rank: StoredRank,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  {
    $id: 'ProgrammingLanguage',
    examples: [{ id: 1, ...example, created_at: '2026-11-20T18:30:00.000Z', updated_at: '2026-11-20T18:30:00.000Z' }],
  },
);

// An invalid id names no record. This contract responds with 200 to it.
const LanguageId = Type.Object({ id: Type.Optional(PathId) });
const unnamed = messageResponse('Name cannot be empty');
const taken = messageResponse(
  'Name is taken by another programming language',
  'Another programming language has the name.',
);

export const checkService = {
  operationId: 'checkService',
  summary: 'Says ok',
  description: 'Needs no database.',
  response: { 200: messageResponse('ok', 'The service runs.') },
};

export const listLanguages = {
  operationId: 'listProgrammingLanguages',
  summary: 'A page of 10 programming languages in the order of their ids',
  description: 'The Link header leads to the other pages. A page past the end is empty.',
  querystring: Type.Pick(PageQuery, ['page']),
  response: {
    200: Type.Object(
      { data: Type.Array(StoredLanguage), meta: Type.Object({ page: Type.Integer({ minimum: 1 }) }) },
      { $id: 'ProgrammingLanguagePage', description: 'The programming languages of the page.', headers: PageHeaders },
    ),
  },
};

export const createLanguage = {
  operationId: 'createProgrammingLanguage',
  summary: 'Create a programming language',
  description: 'A rank that is not sent becomes null.',
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  headers: IdempotencyHeaders,
  body: Language,
  response: {
    200: messageResponse('Programming language created successfully', 'The programming language has been created.'),
    400: unnamed,
    409: taken,
    422: KeyReused,
  },
};

export const updateLanguage = {
  operationId: 'updateProgrammingLanguage',
  summary: 'Replace the five fields of a programming language',
  description: 'A rank that is not sent becomes null. The message tells whether there was such a record.',
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  params: LanguageId,
  body: Language,
  response: {
    200: messageResponse(
      'Programming language updated successfully',
      'The programming language has been changed, or there is none with the id.',
    ),
    400: unnamed,
    409: taken,
  },
};

export const deleteLanguage = {
  operationId: 'deleteProgrammingLanguage',
  summary: 'Remove a programming language for good',
  description: 'The message tells whether there was such a record.',
  params: LanguageId,
  response: {
    200: messageResponse(
      'Programming language deleted successfully',
      'The programming language has been removed, or there is none with the id.',
    ),
  },
};
