/** Name, year of release, rank in GitHut, PYPL and TIOBE. */
const languages = [
  ['JavaScript', 1995, 1, 3, 7],
  ['Python', 1991, 2, 1, 3],
  ['Java', 1995, 3, 2, 2],
  ['Perl', 1987, 22, 17, 9],
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

/** Records that `npm run demo-data` creates. */
export const demoData = languages.map(([name, released_year, githut_rank, pypl_rank, tiobe_rank]) => ({
  name,
  released_year,
  githut_rank,
  pypl_rank,
  tiobe_rank,
}));
