import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

const libs = (...names) => names.map((name) => `lib:${name}`);

/** The imports that each project may have. Tests may import more than what runs in production. */
const boundaries = (...alsoAllowed) => [
  'error',
  {
    depConstraints: [
      {
        sourceTag: 'app',
        onlyDependOnLibsWithTags: [
          ...libs('errors', 'concurrency', 'pagination', 'database', 'service'),
          ...alsoAllowed,
        ],
      },
      { sourceTag: 'web', onlyDependOnLibsWithTags: libs('client') },
      { sourceTag: 'lib:errors', onlyDependOnLibsWithTags: [] },
      { sourceTag: 'lib:concurrency', onlyDependOnLibsWithTags: [] },
      { sourceTag: 'lib:pagination', onlyDependOnLibsWithTags: [] },
      { sourceTag: 'lib:database', onlyDependOnLibsWithTags: [...libs('errors', 'concurrency'), ...alsoAllowed] },
      {
        sourceTag: 'lib:service',
        onlyDependOnLibsWithTags: [...libs('errors', 'concurrency', 'database'), ...alsoAllowed],
      },
      { sourceTag: 'lib:testing', onlyDependOnLibsWithTags: libs('local-postgres', 'workspace') },
      { sourceTag: 'lib:local-postgres', onlyDependOnLibsWithTags: libs('workspace') },
      { sourceTag: 'lib:workspace', onlyDependOnLibsWithTags: [] },
      { sourceTag: 'lib:client', onlyDependOnLibsWithTags: alsoAllowed },
      { sourceTag: 'lib:history', onlyDependOnLibsWithTags: libs('local-postgres', 'testing') },
      { sourceTag: 'lib:bench', onlyDependOnLibsWithTags: libs('local-postgres') },
    ],
  },
];

export default tseslint.config(
  { ignores: ['**/dist', '**/generated', '**/node_modules', '.nx', '.data'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
  },
  { plugins: { '@nx': nx } },
  {
    files: ['**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
    },
  },
  // Files of no project have no place in the project graph.
  { files: ['{apps,libs}/**/*.{ts,tsx}'], rules: { '@nx/enforce-module-boundaries': boundaries() } },
  {
    files: ['**/src/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: ['@rest-services/service/*', '!@rest-services/service/start', '**/test/**'] },
      ],
    },
  },
  {
    files: ['{apps,libs}/**/{test,bench}/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': boundaries(...libs('local-postgres', 'testing', 'client')) },
  },
);
