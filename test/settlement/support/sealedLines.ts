import { GENESIS_HASH, sealLine } from "tallystick-protocol/ledger/entry";

/** The canonical lines of a small ledger, without their newlines. `changes` are other texts for some entries. */
export function sealedLines(count: number, changes: { [at: number]: string } = {}): string[] {
  let parentHash: string = GENESIS_HASH;
  return Array.from({ length: count }, (_, n) => {
    const payload = { type: "settlement", data_update: { text: changes[n] ?? `entry ${n}` } };
    const { entry, line } = sealLine({ timestamp: n + 0.5, taskId: `task ${n}`, parentHash, payload });
    parentHash = entry.currentHash;
    return line;
  });
}

/** The hash of a line's entry. */
export function hashOfLine(line: string): string {
  return JSON.parse(line).current_hash;
}
