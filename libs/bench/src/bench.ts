// Measures the built services beside other programs that do the same on the same database: `npm run bench`.
//   --quick           fewer rows, scenarios and rounds, in less than two minutes; the results are printed only
//   --only=SCENARIO   one scenario; may be repeated; the results are printed only
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkAgreement, checkValidation } from './agreement.ts';
import { chart } from './chart.ts';
import {
  constantScenarios,
  itemTableOf,
  MAX_DEEP_CONNECTIONS,
  mainOf,
  names,
  programOf,
  programs,
  startServer,
  type Server,
} from './contestants.ts';
import { rssMbOf } from './cpu.ts';
import { prepareDatabases, type Databases } from './databases.ts';
import { goals, limitOutcome, outcomeOf } from './goals.ts';
import { findLoadGenerator } from './load.ts';
import { makeServerReady, measureServer, turnsOf, type Contestant, type Instruments } from './measure.ts';
import { fullPlan, quickPlan } from './plan.ts';
import { cellsTable, inOneLine, outcomesTable, resultsPage, type Surroundings } from './report.ts';
import { runBenchmark, type Benchmark } from './run-benchmark.ts';
import { scenariosFor, type Scenario } from './scenarios.ts';
import { spreadOf, type Spread } from './statistics.ts';

const START_LIMIT_MS = 350;
const RSS_LIMIT_MB = 150;

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
});
const plan = values.quick ? quickPlan : fullPlan;
const chosen = values.only ?? plan.scenarios;
const all = scenariosFor(plan.rows);
const unknown = chosen?.filter((name) => !all.some((scenario) => scenario.name === name)) ?? [];
if (unknown.length > 0) {
  console.error(`There is no scenario ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
const scenarios = chosen ? all.filter(({ name }) => chosen.includes(name)) : all;
const titles = new Map(scenarios.map(({ name, title }) => [name, title]));

await runBenchmark(run);

async function run({ directory, stopAtEnd, measure }: Benchmark) {
  const generator = await findLoadGenerator(directory);
  console.error(`Preparing ${plan.rows.items.toLocaleString('en')} items …`);
  const databases = await prepareDatabases(directory, plan.rows);
  stopAtEnd(() => databases.cluster.stop());
  const surroundings = describeSurroundings(databases, generator.name);
  console.error(`fsync is ${databases.fsync}, synchronous_commit is ${databases.synchronousCommit}.`);

  const starts = await timeStarts(databases.items);
  const instruments = { generator, plan, cluster: databases.cluster };
  const { contestants, services } = await startContestants(databases, instruments, stopAtEnd);
  const { cells, failures } = await measure(turnsOf(plan, scenarios, contestants));
  const rssMb = await Promise.all(services.map(({ pid }) => rssMbOf(pid)));

  const outcomes = [
    ...goals.flatMap((goal) => outcomeOf(goal, cells, titles)),
    ...limitOutcome('Start to first answer', 'ms', START_LIMIT_MS, starts),
    ...limitOutcome('RSS after the benchmark', 'MB', RSS_LIMIT_MB, largest(rssMb)),
  ];
  console.log(`\n${inOneLine(surroundings)}\n`);
  for (const scenario of scenarios) {
    console.log(`${scenario.title}\n${cellsTable(cells.filter((cell) => cell.scenario === scenario.name))}\n`);
  }
  console.log(outcomesTable(outcomes));
  if (failures.size > 0) {
    const lines = [...failures].map(([place, reason]) => `${place}: ${reason}`);
    throw new Error(`Not everything could be measured:\n${lines.join('\n')}`);
  }
  if (values.quick || values.only) return;

  const folder = join(import.meta.dirname, '..');
  const shown = new Map([...titles].filter(([name]) => ['read', 'first-page', 'create'].includes(name)));
  await writeFile(join(folder, 'RESULTS.md'), resultsPage(surroundings, plan, outcomes, cells, titles));
  await writeFile(join(folder, 'chart.svg'), chart(cells, shown, inOneLine(surroundings)));
  console.log('\nWritten to libs/bench/RESULTS.md and libs/bench/chart.svg.');
}

function describeSurroundings({ version, fsync, synchronousCommit }: Databases, loadGenerator: string): Surroundings {
  return {
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    // What follows the kernel's version is its packager's.
    system: `${type()} ${release().split('-')[0]!}`,
    node: process.versions.node,
    postgres: version,
    date: new Date().toISOString().slice(0, 10),
    ...{ fsync, synchronousCommit, loadGenerator },
  };
}

/** The time from the start of the items service to its first answer, its database being migrated. */
async function timeStarts(databaseUrl: string): Promise<Spread | undefined> {
  const times: number[] = [];
  for (let start = 0; start < plan.starts; start += 1) {
    const server = await startServer(mainOf('items'), databaseUrl, '/v1/items/1');
    await server.stop();
    times.push(server.startMs);
  }
  return spreadOf(times);
}

/** Starts the contestants that are servers, and checks that all of them do the same. */
async function startContestants(databases: Databases, instruments: Instruments, stopAtEnd: Benchmark['stopAtEnd']) {
  const start = async (...args: Parameters<typeof startServer>) => {
    const server = await startServer(...args);
    stopAtEnd(server.stop);
    return server;
  };
  const service = {
    items: await start(mainOf('items'), databases.items, '/v1/items/1'),
    tutorials: await start(mainOf('tutorials'), databases.tutorials, '/api/tutorials/1'),
  };
  const measured = (serverOf: (scenario: Scenario) => Server): Pick<Contestant, 'makeReady' | 'turn'> => ({
    makeReady: (scenario) => makeServerReady(serverOf(scenario), scenario, instruments),
    turn: (scenario, connections) => measureServer(serverOf(scenario), scenario, connections, instruments),
  });
  const create = all.find(({ name }) => name === 'create')!;
  const contestants: Contestant[] = [
    { name: names.service, takesPart: () => true, ...measured((scenario) => service[scenario.service]) },
    {
      name: names.withoutKey,
      takesPart: (scenario) => scenario === 'create-once',
      makeReady: () => makeServerReady(service.items, create, instruments),
      turn: (_, connections) => measureServer(service.items, create, connections, instruments),
    },
  ];
  for (const name of Object.keys(programs) as (keyof typeof programs)[]) {
    const settings = { ITEM_TABLE: itemTableOf(name) };
    const server = await start(programOf(name), databases.items, '/v1/items/1', settings);
    const isConstant = name === names.constant;
    if (!isConstant) {
      for (const scenario of scenarios) await checkAgreement(service[scenario.service].url, server.url, scenario);
      await checkValidation(server.url);
    }
    contestants.push({
      name,
      takesPart: (scenario, connections) =>
        (!isConstant || constantScenarios.includes(scenario)) &&
        (scenario !== 'deep-page' || connections <= MAX_DEEP_CONNECTIONS) &&
        (isConstant ? plan.connectionsBeside : plan.connections).includes(connections),
      ...measured(() => server),
    });
  }
  return { contestants, services: Object.values(service) };
}

/** Of the services; `undefined` where the system does not tell. */
function largest(rssMb: (number | undefined)[]) {
  const known = rssMb.filter((each) => each !== undefined);
  return known.length > 0 ? spreadOf([Math.max(...known)]) : undefined;
}
