import { toBareHex } from "../hex.ts";
import { scanCanonical, scanCanonicalNumber, scanCanonicalString } from "../json/canonicalScan.ts";
import type { HashText } from "./hashText.ts";

/** A line of a ledger that was found good. */
export type CanonicalLine = { currentHash: string; leafHash: Uint8Array };

const CURRENT = '{"current_hash": "';
const PARENT = '", "parent_hash": "';
const PAYLOAD = '", "payload": ';
const TASK = ', "task_id": ';
const TIME = ', "timestamp": ';

const PARENT_AT = CURRENT.length + 64;
const PAYLOAD_AT = PARENT_AT + PARENT.length + 64;

/**
 * Checks a line of a ledger without reading it into an entry, several times as fast: its form is the canonical one, it
 * names this parent, and it hashes to what it says.
 *
 * @param hashText hashes the line; its 32 bytes also make the Merkle leaf
 * @returns undefined when the line is not good, or not surely: the slow way then says which, and why
 */
export function verifyCanonicalLine(
  text: string,
  parentHash: string,
  hashText: HashText,
): CanonicalLine | undefined {
  const isFramed =
    text.startsWith(CURRENT) &&
    text.startsWith(PARENT, PARENT_AT) &&
    text.startsWith(parentHash, PARENT_AT + PARENT.length) &&
    text.startsWith(PAYLOAD, PAYLOAD_AT) &&
    text.charCodeAt(PAYLOAD_AT + PAYLOAD.length) === 0x7b;
  if (!isFramed) return undefined;
  let at = scanCanonical(text, PAYLOAD_AT + PAYLOAD.length, 1);
  if (at === -1 || !text.startsWith(TASK, at)) return undefined;
  at = scanCanonicalString(text, at + TASK.length);
  if (at === -1 || !text.startsWith(TIME, at)) return undefined;
  at = scanCanonicalNumber(text, at + TIME.length);
  if (at !== text.length - 1 || text.charCodeAt(at) !== 0x7d) return undefined;
  const currentHash = text.slice(CURRENT.length, PARENT_AT);
  if (toBareHex(hashText(CURRENT + text.slice(PARENT_AT))) !== currentHash) return undefined;
  return { currentHash, leafHash: hashText(`\0${text}`) };
}
