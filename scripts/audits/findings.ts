/** One thing that was looked at, and whether it holds. */
export type Finding = { holds: boolean; what: string };

/** What was found so far. */
export class Findings {
  readonly all: Finding[] = [];

  /** Notes what was looked at, in words for either case. */
  check(holds: boolean, yes: string, no: string): boolean {
    this.all.push({ holds, what: holds ? yes : no });
    return holds;
  }
}
