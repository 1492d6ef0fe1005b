/** One small change of a contract's source that no test should let pass. */
export type Mutant = {
  /** Names the change and survives edits elsewhere in the file: `function|operator|original → replacement|occurrence`. */
  id: string;
  /** Source file, relative to contracts/. */
  file: string;
  /** The kind of the change. */
  operator: string;
  /** 1-based. */
  line: number;
  /** The byte offsets of the replaced code. */
  start: number;
  end: number;
  original: string;
  replacement: string;
  /**
   * The expression or statement that contains the change and can be switched at run time. Absent where no
   * switch is possible, as in a modifier or a constant.
   */
  choice?: Choice;
};

/** `start` and `end` are byte offsets. */
export type Choice = {
  form: "expression" | "statement" | "yulLiteral" | "yulStatement";
  start: number;
  end: number;
};

/** The source with a mutant's change made. */
export function applyMutant(source: string, mutant: Pick<Mutant, "start" | "end" | "replacement">): string {
  const bytes = Buffer.from(source);
  return Buffer.concat([
    bytes.subarray(0, mutant.start),
    Buffer.from(mutant.replacement),
    bytes.subarray(mutant.end),
  ]).toString();
}
