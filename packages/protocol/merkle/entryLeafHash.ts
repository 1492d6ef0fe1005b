import { entryLine, type LedgerEntry } from "../ledger/entry.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { leafHash } from "./hash.ts";

const encoder = new TextEncoder();

/** The Merkle leaf of a ledger entry: SHA-256(0x00 ‖ its canonical line, without the newline). */
export function entryLeafHash(entry: LedgerEntry): Uint8Array {
  return lineLeafHash(entryLine(entry));
}

/** {@link entryLeafHash} for a caller that already has the canonical line. */
export function lineLeafHash(line: string, sha256: Sha256 = sha256ByNoble): Uint8Array {
  return leafHash(encoder.encode(line), sha256);
}
