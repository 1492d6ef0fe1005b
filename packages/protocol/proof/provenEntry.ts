import { InvalidInputError, TallystickError } from "../errors.ts";
import { entryHash, entryLine, type LedgerEntry, parseEntryLine } from "../ledger/entry.ts";

/** A proof is wrong. `message` says which part. */
export class ProofError extends TallystickError {
  constructor(message: string) {
    super({ code: "proof_invalid", message, hint: "The file was changed, or it proves something else." });
  }
}

/**
 * Reads the entry of a proof: a canonical line that hashes to what it says.
 *
 * @throws ProofError; InvalidInputError naming `entry` when it cannot be read
 */
export function readProvenEntry(line: string): LedgerEntry {
  const entry = parseLine(line);
  if (entryLine(entry) !== line) throw new ProofError("The entry is not a canonical ledger line.");
  if (entryHash(entry) !== entry.currentHash)
    throw new ProofError("The entry's current_hash is not its hash.");
  return entry;
}

function parseLine(line: string): LedgerEntry {
  try {
    return parseEntryLine(line);
  } catch (cause) {
    if (!(cause instanceof TallystickError)) throw cause;
    const issues =
      cause instanceof InvalidInputError
        ? cause.issues.map(({ field, message }) => ({
            field: field === "" ? "entry" : `entry.${field}`,
            message,
          }))
        : [{ field: "entry", message: `is no JSON: ${cause.message}` }];
    throw new InvalidInputError({ issues, cause });
  }
}
