/** The line coverage of one source file: `hit` of `found` lines ran, and `missed` did not. */
export type FileCoverage = { file: string; hit: number; found: number; missed: number[] };

/** Reads an lcov report: `SF:` names a file, `DA:line,count` a line in it. */
export function readLcov(text: string): FileCoverage[] {
  const files: FileCoverage[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("SF:")) files.push({ file: line.slice(3), hit: 0, found: 0, missed: [] });
    const current = files.at(-1);
    const [, at, count] = /^DA:(\d+),(\d+)/.exec(line) ?? [];
    if (current === undefined || at === undefined) continue;
    current.found++;
    if (Number(count) > 0) current.hit++;
    else current.missed.push(Number(at));
  }
  return files;
}
