import type { Address } from "tallystick-protocol/address";
import { escrowFee, type FeeBand } from "tallystick-protocol/escrow/feeSchedule";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { RelayRefusedError } from "../errors.ts";
import { inLowerCase } from "../inLowerCase.ts";

/** What a hire needs so that a keeper relays its instructions. */
export type Worth = {
  /** The smallest amount, in atomic units. */
  minAmount?: bigint;
  /** Who must receive the fee of the schedule (default: the published one). Without `fee` the keeper gets no fee. */
  fee?: { recipient: Address; fees?: readonly FeeBand[] };
};

/** @throws RelayRefusedError naming the wrong field */
export function requireWorth(hire: Hire, { minAmount = 1n, fee }: Worth): void {
  if (hire.amount < minAmount) {
    throw new RelayRefusedError({
      code: "amount_too_small",
      message: `Only hires of at least ${minAmount} atomic units are relayed here.`,
      field: "hire.amount",
    });
  }
  if (!fee) return;
  const least = escrowFee(hire.amount, fee.fees);
  const { recipient } = inLowerCase(fee, "recipient");
  const message = `Only hires that pay ${recipient} a fee of ${least} atomic units are relayed here.`;
  if (hire.feeRecipient !== recipient) {
    throw new RelayRefusedError({ code: "fee_missing", message, field: "hire.fee_recipient" });
  }
  if (hire.fee < least) throw new RelayRefusedError({ code: "fee_missing", message, field: "hire.fee" });
}
