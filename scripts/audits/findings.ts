/** The result of one check: whether it holds, and a sentence that says what was found. */
export type Finding = { holds: boolean; what: string };

/** The results of all checks so far. */
export class Findings {
  readonly all: Finding[] = [];
  /** What could not be checked within the limits, in sentences. */
  readonly unchecked: string[] = [];

  /** Adds the result of a check, with a sentence for each outcome. Returns `holds`. */
  check(holds: boolean, yes: string, no: string): boolean {
    this.all.push({ holds, what: holds ? yes : no });
    return holds;
  }
}
