/** One fault: its place, what is wrong, and what to do about it. */
export type Fault = {
  /** The file, below the folder that is checked. */
  file: string;
  /** The entry's line, from 1, where the fault is in one entry. */
  line?: number;
  what: string;
  todo: string;
};

/** The most faults that are listed. Further faults are only counted. */
const MAX_FAULTS = 1_000;

/** The result of a check. `notes` are remarks that are not faults. */
export type Findings = {
  kind: "ledger" | "log";
  entries: number;
  /** The root over these entries, `0x…`. */
  root: string;
  /** The log's own name, and whether its checkpoint was checked against a key or a policy. */
  origin?: string;
  trusted?: boolean;
  faults: Fault[];
  /** The number of all faults, including those that are not listed. */
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
