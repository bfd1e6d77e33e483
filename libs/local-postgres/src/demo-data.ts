// Fills the running stack through the services' public APIs: `npm run demo-data`. Keeps existing rows.
import { SingleBar, Presets } from 'cli-progress';
import { services } from './services.ts';

/** Name, year of release, rank in GitHut, PYPL and TIOBE. */
const languages = [
  ['JavaScript', 1995, 1, 3, 7],
  ['Python', 1991, 2, 1, 3],
  ['Java', 1995, 3, 2, 2],
  ['TypeScript', 2012, 7, 10, 42],
  ['C#', 2000, 9, 4, 5],
  ['PHP', 1995, 8, 6, 8],
  ['C++', 1985, 5, 5, 4],
  ['C', 1972, 10, 5, 1],
  ['Ruby', 1995, 6, 15, 15],
  ['R', 1993, 33, 7, 9],
  ['Objective-C', 1984, 18, 8, 18],
  ['Swift', 2015, 16, 9, 13],
  ['Kotlin', 2011, 15, 12, 40],
  ['Go', 2009, 4, 13, 14],
  ['Rust', 2010, 14, 16, 26],
  ['Scala', 2004, 11, 17, 34],
] as const;

const chores = [
  'Water the plants',
  'Pay the rent',
  'Call grandmother',
  'Mend the bicycle',
  'Return the books',
  'Buy bread',
];
const topics = ['Fastify', 'Kysely', 'PostgreSQL', 'TypeBox', 'Jest', 'Nx', 'Docker', 'HTTP', 'TypeScript', 'Node.js'];
const weeks = Array.from({ length: 20 }, (_, index) => index + 1);
const days = weeks.flatMap((week) => chores.map((chore) => `${chore}, week ${week}`));
const lessons = topics.flatMap((topic) => weeks.slice(0, 10).map((lesson) => `${topic}, lesson ${lesson}`));

/** What is to be there, by the property that tells the records of a service apart. */
const wanted: { service: string; key: string; records: Record<string, unknown>[] }[] = [
  {
    service: 'programming-languages',
    key: 'name',
    records: languages.map(([name, released_year, githut_rank, pypl_rank, tiobe_rank]) => ({
      name,
      released_year,
      githut_rank,
      pypl_rank,
      tiobe_rank,
    })),
  },
  { service: 'items', key: 'title', records: days.map((title) => ({ title })) },
  { service: 'todos', key: 'description', records: days.map((description) => ({ description })) },
  {
    service: 'tutorials',
    key: 'title',
    records: lessons.map((title, index) => ({
      title,
      description: `What ${title} is about.`,
      published: index % 3 === 0,
    })),
  },
];

const bar = new SingleBar(
  { format: '{bar} {value}/{total} {service}', clearOnComplete: false, noTTYOutput: true, notTTYSchedule: 1_000 },
  Presets.shades_classic,
);
bar.start(wanted.flatMap(({ records }) => records).length, 0, { service: '' });
let created = 0;
try {
  for (const { service, key, records } of wanted) {
    const { sharedPort, path } = services.find(({ name }) => name === service)!;
    const url = `http://localhost:${sharedPort}${path}`;
    const present = new Set((await allRecords(url, service)).map((record) => record[key]));
    for (const record of records) {
      if (!present.has(record[key])) {
        await create(url, record);
        created += 1;
      }
      bar.increment(1, { service });
    }
  }
} catch (error) {
  bar.stop();
  console.error(`${(error as Error).message}. Is the stack running? Start it with npm start.`);
  process.exit(1);
}
bar.stop();
console.log(`${created} records created.`);

async function allRecords(url: string, service: string) {
  if (service !== 'programming-languages') return answer<Record<string, unknown>[]>(`${url}?limit=1000000`);
  const records: Record<string, unknown>[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await answer<{ data: Record<string, unknown>[] }>(`${url}?page=${page}`);
    if (data.length === 0) return records;
    records.push(...data);
  }
}

async function create(url: string, record: unknown) {
  await answer(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(record) });
}

async function answer<Body>(url: string, init?: RequestInit): Promise<Body> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached`, { cause: error });
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}
