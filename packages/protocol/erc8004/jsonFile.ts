import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { InvalidInputError } from "../errors.ts";
import { type Hex, toHex } from "../hex.ts";
import { readForeignJson } from "../json/foreignJson.ts";
import { canonicalBody, type RecordBody } from "../json/recordBody.ts";

/**
 * The largest file of ERC-8004 that is written, kept or read here, in bytes. A file with two inclusion proofs has
 * about 8,000 bytes.
 */
export const MAX_FILE_BYTES = 32 * 1024;

/**
 * The most values in such a file, and its deepest nesting. A signed record has at most some hundred values.
 */
const LIMITS = { maxLength: MAX_FILE_BYTES, maxDepth: 16, maxValues: 4_000 };

export type JsonFile = { text: string; hash: Hex };

/**
 * The keccak-256 of a file's bytes, the value of `feedbackHash` and `responseHash` (ERC-8004, Giving
 * Feedback, Appending Responses).
 *
 * @param text its UTF-8 is hashed
 */
export function fileHash(text: string): Hex {
  return toHex(keccak_256(utf8ToBytes(text)));
}

/**
 * Writes a file: canonical JSON, so that the same content has the same hash everywhere.
 *
 * @throws InvalidInputError when a value is not allowed in canonical JSON (such as a float), or when the file is
 * larger than {@link MAX_FILE_BYTES}
 */
export function writeJsonFile(content: RecordBody): JsonFile {
  const text = canonicalBody(content);
  requireSize(text);
  return { text, hash: fileHash(text) };
}

/**
 * Reads a file that somebody wrote.
 *
 * @throws InvalidInputError when it is not an object in canonical JSON of at most {@link MAX_FILE_BYTES}
 */
export function readJsonFile(text: string): JsonFile & { content: RecordBody } {
  requireSize(text);
  const content = readForeignJson(text, LIMITS);
  if (content === null || typeof content !== "object" || Array.isArray(content))
    fail("must be a JSON object");
  // This refuses floats, lone surrogates and repeated keys, because the text would change.
  if (canonicalBody(content as RecordBody) !== text)
    fail("must be canonical JSON: keys sorted at every level, no spaces, no key twice");
  return { text, hash: fileHash(text), content: content as RecordBody };
}

function requireSize(text: string): void {
  if (text.length > MAX_FILE_BYTES || utf8ToBytes(text).length > MAX_FILE_BYTES)
    fail(`must have at most ${MAX_FILE_BYTES} bytes`);
}

function fail(message: string): never {
  throw new InvalidInputError({ issues: [{ field: "file", message }] });
}
