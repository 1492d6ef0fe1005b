/** One check, and whether it holds. */
export type Finding = { holds: boolean; what: string };

/** The results of all checks so far. */
export class Findings {
  readonly all: Finding[] = [];

  /** Adds a check, with a sentence for each outcome. */
  check(holds: boolean, yes: string, no: string): boolean {
    this.all.push({ holds, what: holds ? yes : no });
    return holds;
  }
}
