const chores = [
  'Water the plants',
  'Pay the rent',
  'Call grandmother',
  'Mend the bicycle',
  'Return the books',
  'Buy bread',
];
const weeks = Array.from({ length: 20 }, (_, index) => index + 1);

/** Records that `npm run demo-data` creates, and the property that tells them apart. */
export const demoData = {
  key: 'title',
  records: weeks.flatMap((week) => chores.map((chore) => ({ title: `${chore}, week ${week}` }))),
};
