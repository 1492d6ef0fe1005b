import type { RecordEvent } from "tallystick-derive/events";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { recordFromPayload } from "tallystick-protocol/records/record";

/** The position of a record: the anchor's log, and its place in the ledger. */
export type RecordPosition = { block: number; time: number; log: number; ledger: Hex; seq: number };

/**
 * Generic work (swarm.at §4.1) is in the same ledger, but it is not a protocol record and changes no row of
 * the derivation.
 */
const GENERIC_WORK = "settlement";

/** The entry's type, or null when it has no valid type name. */
export function entryType({ payload }: LedgerEntry): string | null {
  const type = Object.hasOwn(payload, "type") ? payload.type : undefined;
  return typeof type === "string" && /^[\w.-]{1,64}$/.test(type) ? type : null;
}

/**
 * The derivation's event for an entry; null for generic work. Some payloads are not readable as a record: a field is
 * missing, or the body has floats or integers beyond ±(2^53 − 1). They become events with an `error`, which are kept
 * as invalid.
 */
export function recordEvent(entry: LedgerEntry, position: RecordPosition): RecordEvent | null {
  const type = entryType(entry);
  if (type === GENERIC_WORK) return null;
  const { block, time, log, ledger, seq } = position;
  const place = { block, time, log, kind: "record", ledger, seq, hash: entry.currentHash } as const;
  try {
    const record = recordFromPayload(entry.payload);
    if (type !== null) return { ...place, ...record };
    throw new InvalidInputError({
      issues: [{ field: "type", message: "must be the name of a record type" }],
    });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const nothing = { body: {}, signer: ZERO_ADDRESS, signature: "0x" } as const;
    return { ...place, type: type ?? "", ...nothing, error: printable(error.message) };
  }
}

/** The reason may quote keys of the payload, with characters that a text column cannot store. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 500);
}
