/** Stryker's result for a mutant. */
export type MutantStatus =
  | "Killed"
  | "Timeout"
  | "Survived"
  | "NoCoverage"
  | "CompileError"
  | "RuntimeError"
  | "Ignored"
  | "Pending";

type Position = { line: number; column: number };

/** The report that Stryker writes (mutation testing report schema): lines and columns count from 1. */
export type MutationReport = {
  files: {
    [file: string]: {
      source: string;
      mutants: {
        mutatorName: string;
        replacement?: string;
        location: { start: Position; end: Position };
        status: MutantStatus;
      }[];
    };
  };
};

/** A mutant of a room, and its outcome. */
export type RoomMutant = { file: string; id: string; line: number; status: MutantStatus };

/** The longest piece of source in a name. */
const MAX_LENGTH = 80;

/**
 * The mutants of a report. A name contains the change, but not its place: `mutator|source → replacement|number
 * among equal ones of the file`. So it stays the same when lines are added above.
 */
export function mutantsOf({ files }: MutationReport): RoomMutant[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    const seen = new Map<string, number>();
    const inOrder = mutants.toSorted((a, b) => before(a.location.start, b.location.start));
    return inOrder.map(({ mutatorName, replacement = "", location: { start, end }, status }) => {
      const key = `${mutatorName}|${short(cut(lines, start, end))} → ${short(replacement)}`;
      const number = (seen.get(key) ?? 0) + 1;
      seen.set(key, number);
      return { file, id: `${key}|${number}`, line: start.line, status };
    });
  });
}

function before(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column;
}

function cut(lines: string[], start: Position, end: Position): string {
  const text = lines.slice(start.line - 1, end.line);
  const last = text.length - 1;
  text[last] = (text[last] ?? "").slice(0, end.column - 1);
  text[0] = (text[0] ?? "").slice(start.column - 1);
  return text.join("\n");
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1)}…`;
}
