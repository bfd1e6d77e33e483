const topics = ['Fastify', 'Kysely', 'PostgreSQL', 'TypeBox', 'Jest', 'Nx', 'Docker', 'HTTP', 'TypeScript', 'Node.js'];
const lessons = Array.from({ length: 10 }, (_, index) => index + 1);
const titles = topics.flatMap((topic) => lessons.map((lesson) => `${topic}, lesson ${lesson}`));

/** Records that `npm run demo-data` creates. */
export const demoData = titles.map((title, index) => ({
  title,
  description: `What ${title} is about.`,
  published: index % 3 === 0,
}));
