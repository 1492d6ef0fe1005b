import { InvalidInputError, TallystickError } from "../errors.ts";
import { toBareHex } from "../hex.ts";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "../json/pythonJson.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";

/** What one entry of the ledger says (swarm.at §4.2). Hashes are 64 lower-case hex digits without `0x`. */
export type LedgerEntry = {
  /** Seconds since 1970. A number prints as a Python float, a bigint as an int: keep the kind that was read. */
  timestamp: number | bigint;
  taskId: string;
  parentHash: string;
  payload: { [key: string]: PyJson };
  currentHash: string;
};

/** An entry before it is hashed. */
export type UnsealedEntry = Omit<LedgerEntry, "currentHash">;

/** The parent of the first entry: 64 zeros. */
export const GENESIS_HASH = "0".repeat(64);

/** An entry is inconsistent. `message` is the reason, one clause without a full stop. */
export class LedgerCorruptError extends TallystickError {
  constructor(reason: string) {
    super({ code: "ledger_corrupt", message: reason });
  }
}

const HASH = /^[0-9a-f]{64}$/;

/** Whether `value` is a hash as the ledger writes it: 64 lower-case hex digits. */
export function isLedgerHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

function canonicalLine(entry: UnsealedEntry, currentHash: string): string {
  // The five keys are written here in code point order. Only the payload has other keys to sort.
  return `{"current_hash": "${currentHash}", "parent_hash": "${entry.parentHash}", "payload": ${dumpsPythonJson(
    entry.payload,
  )}, "task_id": ${dumpsPythonJson(entry.taskId)}, "timestamp": ${dumpsPythonJson(entry.timestamp)}}`;
}

/**
 * SHA-256 of Python's `json.dumps(entry, sort_keys=True)` with `current_hash` set to "" (swarm.at §5.3).
 *
 * @returns 64 lower-case hex digits. If the entry has a `currentHash`, it is not read
 */
export function entryHash(entry: UnsealedEntry): string {
  return toBareHex(sha256ByNoble(canonicalLine(entry, "")));
}

/**
 * Does {@link sealEntry} and {@link entryLine} together, and prints the payload only once.
 *
 * @param sha256 how the line is hashed; in plain JavaScript unless the caller has something faster
 */
export function sealLine(
  entry: UnsealedEntry,
  sha256: Sha256 = sha256ByNoble,
): { entry: LedgerEntry; line: string } {
  const { timestamp, taskId, parentHash, payload } = entry;
  const behind = canonicalLine(entry, "").slice(HASH_AT);
  const currentHash = toBareHex(sha256(BEFORE_HASH + behind));
  return {
    entry: { timestamp, taskId, parentHash, payload, currentHash },
    line: BEFORE_HASH + currentHash + behind,
  };
}

/** The entry with its hash filled in. */
export function sealEntry(entry: UnsealedEntry): LedgerEntry {
  const { timestamp, taskId, parentHash, payload } = entry;
  return { timestamp, taskId, parentHash, payload, currentHash: entryHash(entry) };
}

/**
 * The canonical line of an entry: Python's `json.dumps(entry, sort_keys=True)`, `current_hash` filled in, no newline.
 * Its bytes are the leaf of the Merkle tree; it is pure ASCII.
 */
export function entryLine(entry: LedgerEntry): string {
  return canonicalLine(entry, entry.currentHash);
}

/** {@link entryHash} from the entry's own canonical line, without printing it again. */
export function hashOfEntryLine(line: string, sha256: Sha256 = sha256ByNoble): string {
  return toBareHex(sha256(BEFORE_HASH + line.slice(HASH_AT + 64)));
}

/** What precedes the 64 digits of `current_hash` in every canonical line. */
const BEFORE_HASH = '{"current_hash": "';
const HASH_AT = BEFORE_HASH.length;

const KEYS = ["timestamp", "task_id", "parent_hash", "payload", "current_hash"];

/**
 * Reads one line of a ledger, in any layout. Checks the shape, not the hashes: see {@link checkEntry}.
 *
 * @throws JsonSyntaxError when it is no JSON, or has a key twice in one object
 * @throws InvalidInputError naming the field that is missing, unknown or of the wrong type
 */
export function parseEntryLine(text: string): LedgerEntry {
  return entryFromPyJson(parsePythonJson(text, { duplicateKeys: "refuse" }));
}

/**
 * Reads an entry out of parsed JSON: exactly the five fields of swarm.at §4.2.
 *
 * @throws InvalidInputError naming the field that is missing, unknown or of the wrong type
 */
export function entryFromPyJson(value: PyJson): LedgerEntry {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInputError({ issues: [{ field: "", message: "must be a JSON object" }] });
  }
  const issues: { field: string; message: string }[] = [];
  for (const key of Object.keys(value)) {
    if (!KEYS.includes(key)) issues.push({ field: key, message: "is not a field of a ledger entry" });
  }
  const own = (key: string): PyJson | undefined => (Object.hasOwn(value, key) ? value[key] : undefined);
  const timestamp = own("timestamp");
  if (typeof timestamp !== "number" && typeof timestamp !== "bigint") {
    issues.push({ field: "timestamp", message: "must be a number of seconds" });
  }
  const taskId = own("task_id");
  if (typeof taskId !== "string") issues.push({ field: "task_id", message: "must be a string" });
  const parentHash = own("parent_hash");
  if (!isLedgerHash(parentHash))
    issues.push({ field: "parent_hash", message: "must be 64 lower-case hex digits" });
  const payload = own("payload");
  if (payload === null || typeof payload !== "object" || Array.isArray(payload)) {
    issues.push({ field: "payload", message: "must be an object" });
  }
  const currentHash = own("current_hash");
  if (!isLedgerHash(currentHash))
    issues.push({ field: "current_hash", message: "must be 64 lower-case hex digits" });
  if (issues.length > 0) throw new InvalidInputError({ issues });
  return { timestamp, taskId, parentHash, payload, currentHash } as LedgerEntry;
}

/**
 * Checks that an entry names the entry before it as its parent, and that its own hash is right.
 *
 * @param parentHash the hash of the entry before it; {@link GENESIS_HASH} for the first entry
 * @throws LedgerCorruptError naming each wrong hash
 */
export function checkEntry(entry: LedgerEntry, parentHash: string): void {
  checkHashes(entry, parentHash, entryHash(entry));
}

/** {@link checkEntry} for a caller that has computed the entry's hash already. */
export function checkHashes(entry: LedgerEntry, parentHash: string, computedHash: string): void {
  const problems: string[] = [];
  if (entry.parentHash !== parentHash)
    problems.push(`parent_hash is ${entry.parentHash}, but the entry before has ${parentHash}`);
  if (entry.currentHash !== computedHash)
    problems.push(`current_hash is ${entry.currentHash}, but the entry hashes to ${computedHash}`);
  if (problems.length > 0) throw new LedgerCorruptError(problems.join("; "));
}
