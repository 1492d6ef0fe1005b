import { CanonicalChain } from "tallystick-protocol/ledger/canonicalChain";
import { sha256ByWasm } from "./sha256ByWasm.ts";

/** The result of a worker for a part of a ledger's file: its leaves without separators, 32 bytes each. */
export type LedgerPart = { parent: string; head: string; leaves: Uint8Array<ArrayBuffer> };

/** What a worker answers: null for a part with a line that is bad or doubtful, or a part that cannot be read. */
export type VerifiedPart = { number: number; part: LedgerPart | null };

const NEWLINE = 0x0a;

/** The place of the parent hash in a canonical line. */
const PARENT_AT = `{"current_hash": "${"0".repeat(64)}", "parent_hash": "`.length;

const scope = globalThis as unknown as {
  postMessage: (answer: VerifiedPart, transfer: ArrayBuffer[]) => void;
  addEventListener: (
    type: "message",
    listener: (event: { data: { number: number; part: Blob } }) => void,
  ) => void;
};

const sha256 = sha256ByWasm();

/** Verifies whole lines of a ledger; null when a line is bad or doubtful. */
async function verify(part: Blob): Promise<LedgerPart | null> {
  const bytes = new Uint8Array(await part.arrayBuffer());
  const parent = String.fromCharCode(...bytes.subarray(PARENT_AT, PARENT_AT + 64));
  const chain = new CanonicalChain(await sha256, parent);
  const leaves = new Uint8Array(32 * countLines(bytes));
  for (let at = 0, leafAt = 0; at < bytes.length; leafAt += 32) {
    const end = bytes.indexOf(NEWLINE, at);
    const leaf = end === -1 ? undefined : chain.next(bytes.subarray(at, end));
    if (leaf === undefined) return null;
    leaves.set(leaf, leafAt);
    at = end + 1;
  }
  return { parent, head: chain.head, leaves };
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

scope.addEventListener("message", ({ data: { number, part } }) => {
  const answer = (found: LedgerPart | null): void =>
    scope.postMessage({ number, part: found }, found === null ? [] : [found.leaves.buffer]);
  // A file that changes while it is read cannot be read any more. Reading line by line then says so.
  void verify(part).then(answer, () => answer(null));
});
