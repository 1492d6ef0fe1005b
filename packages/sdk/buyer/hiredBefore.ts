import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { HireFailedError, type MoneyState } from "../errors.ts";

/** A hire under the same key that a process made whose notes are lost. */
export type EarlierHire = { seller: Address; hireId: Hex; jobId: string; money: MoneyState };

/** A seller, or the chain, knows a hire under this key and this process does not: an earlier process paid, and its notes are gone. */
export function hiredBefore(earlier: EarlierHire): HireFailedError {
  return new HireFailedError({
    code: "hired_before",
    message:
      "This hire was sent to this seller before, by a process whose records are lost. Nothing was paid by this call.",
    hint: "Look the job up by its id at the seller, or give another idempotency key for a new hire.",
    ...earlier,
  });
}
