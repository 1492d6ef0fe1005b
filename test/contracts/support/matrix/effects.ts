import type { Cast } from "./cast.ts";
import type { Role, Verb } from "./rules.ts";
import { PAUSE, type Staged } from "./stage.ts";
import { RESULT, TO_SELLER } from "./words.ts";

/** All effects of an allowed cell: the changes of balances, the events in order, and the stored values. */
export type Effect = {
  moved: Record<string, bigint>;
  events: (now: bigint) => [name: string, ...args: unknown[]][];
  state?: { status: bigint; delivered: boolean; amount: bigint };
};

/** The effects of a verb on a hire in the given state, as docs/escrow/ describes them. */
export function effectOf(verb: Verb, staged: Staged, cast: Cast, id: string, named: Role): Effect {
  const { hire, situation } = staged;
  const { amount, fee } = hire;
  const { delivered } = situation;
  const parties = [hire.buyer, hire.seller] as const;
  const settled = (status: bigint) => ({ status, delivered, amount: 0n });
  switch (verb) {
    case "deposit":
    case "depositWithAuthorization":
    case "depositWithPermit":
      return {
        moved: { buyer: -amount, escrow: amount },
        events: () => [
          [
            "Deposited",
            id,
            ...parties,
            hire.hireId,
            hire.payee,
            amount,
            fee,
            hire.feeRecipient,
            hire.deadline,
            hire.arbiter,
          ],
        ],
        state: { status: 1n, delivered: false, amount },
      };
    case "markDelivered":
      return {
        moved: {},
        events: () => [["Delivered", id, RESULT]],
        state: { status: 1n, delivered: true, amount },
      };
    case "release":
      return {
        moved: { escrow: -amount, payee: amount - fee, feeRecipient: fee },
        events: () => [["Released", id, ...parties, amount, 0n, fee]],
        state: settled(2n),
      };
    case "split": {
      const share = (fee * TO_SELLER) / amount;
      return {
        moved: {
          escrow: -amount,
          payee: TO_SELLER - share,
          feeRecipient: share,
          buyer: amount - TO_SELLER,
        },
        events: () => [["Released", id, ...parties, TO_SELLER, amount - TO_SELLER, share]],
        state: settled(3n),
      };
    }
    case "refund":
      return {
        moved: { escrow: -amount, buyer: amount },
        events: () => [["Refunded", id, ...parties, amount, cast[named].address]],
        state: settled(4n),
      };
    case "timeoutRefund":
      return {
        moved: { escrow: -amount, buyer: amount },
        events: () => [["TimedOut", id, ...parties, amount, delivered]],
        state: settled(5n),
      };
    case "pause":
      return { moved: {}, events: (now) => [["Paused", now + PAUSE]] };
    case "unpause":
      return { moved: {}, events: () => [["Unpaused"]] };
  }
}
