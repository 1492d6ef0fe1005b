import type { MutationReport } from "./mutantsOf.ts";

/** Lines of files, counted from 1. */
export type SampledLines = Map<string, Set<number>>;

/**
 * Picks `count` lines with code, spread evenly over all files. The same files and count always give the same lines.
 *
 * @param files the text of each file
 */
export function sampleLines(files: ReadonlyMap<string, string>, count: number): SampledLines {
  const all = [...files].flatMap(([file, text]) => codeLines(text).map((line) => ({ file, line })));
  const taken = Math.min(count, all.length);
  const picked: SampledLines = new Map();
  for (let n = 0; n < taken; n++) {
    const { file, line } = all[Math.floor(((n + 0.5) * all.length) / taken)] as (typeof all)[number];
    picked.set(file, (picked.get(file) ?? new Set()).add(line));
  }
  return picked;
}

/** The sampled lines as Stryker's patterns: a file, a colon and a range of lines. */
export function patternsOf(sampled: SampledLines): string[] {
  return [...sampled].flatMap(([file, lines]) => [...lines].map((line) => `${file}:${line}-${line}`));
}

/** The mutants of a report that are whole in one sampled line. */
export function onlySampled({ files }: MutationReport, sampled: SampledLines): MutationReport {
  const left = Object.entries(files).map(([file, { source, mutants }]) => {
    const isSampled = ({ location: { start, end } }: (typeof mutants)[number]): boolean =>
      start.line === end.line && sampled.get(file)?.has(start.line) === true;
    return [file, { source, mutants: mutants.filter(isSampled) }] as const;
  });
  return { files: Object.fromEntries(left.filter(([, { mutants }]) => mutants.length > 0)) };
}

/** The lines that have more than a comment, brackets, or an import. */
function codeLines(text: string): number[] {
  let isComment = false;
  return text.split("\n").flatMap((line, n) => {
    const code = line.trim();
    if (!isComment && code.startsWith("/*")) isComment = true;
    if (isComment) {
      isComment = !code.includes("*/");
      return [];
    }
    const isEmpty = /^(\/\/.*|import\b.*|[^\p{L}\p{N}]*)$/u.test(code);
    return isEmpty ? [] : [n + 1];
  });
}
