/** One thing that is wrong: where, what, and what to do about it. */
export type Fault = {
  /** The file, below the folder that is checked. */
  file: string;
  /** The entry's line, from 1, where the fault is in one entry. */
  line?: number;
  what: string;
  todo: string;
};

/** How many faults are kept; the others are counted. */
const MAX_FAULTS = 1_000;

/** What a check has found. `notes`: remarks that are no faults. */
export type Findings = {
  kind: "ledger" | "log";
  entries: number;
  /** The root over these entries, `0x…`. */
  root: string;
  /** What the log calls itself, and whether its checkpoint was held against a key or a policy. */
  origin?: string;
  trusted?: boolean;
  faults: Fault[];
  /** All faults, also those beyond the list. */
  faultCount: number;
  notes: string[];
};

/** Collects faults, a limited number of them. */
export class FaultList {
  readonly faults: Fault[] = [];
  count = 0;

  add(fault: Fault): void {
    this.count++;
    if (this.faults.length < MAX_FAULTS) this.faults.push(fault);
  }
}
