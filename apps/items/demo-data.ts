const chores = ['Water the plants', 'Pay the rent', 'Call grandmother', 'Mend the bicycle', 'Buy bread'];
const weeks = Array.from({ length: 20 }, (_, index) => index + 1);

/** Records that `npm run demo-data` creates. */
export const demoData = weeks.flatMap((week) => chores.map((chore) => ({ title: `${chore}, week ${week}` })));
