import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { HireFailedError, type MoneyState } from "../errors.ts";

/** A hire under the same key, made by a process whose records are lost. */
export type EarlierHire = { seller: Address; hireId: Hex; jobId: string; money: MoneyState };

/**
 * A seller, or the chain, knows a hire under this key, and this process does not know it. An earlier process paid or
 * signed the payment, and its records are lost.
 */
export function hiredBefore(earlier: EarlierHire): HireFailedError {
  return new HireFailedError({
    code: "hired_before",
    message:
      "This hire was sent to this seller before, by a process whose records are lost. Nothing was paid by this call.",
    hint: "Look the job up by its id at the seller, or give another idempotency key for a new hire.",
    ...earlier,
  });
}
