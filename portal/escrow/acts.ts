import type { Hire } from "tallystick-protocol/escrow/hire";
import { payeeOf } from "./termsOf.ts";

/** The actions of a person on an escrow. */
export type ActName = "markDelivered" | "release" | "split" | "refund" | "timeoutRefund" | "withdraw";

/**
 * The state of an escrow on the chain. `credits` is what the contract owes to accounts. `time` is the chain's time,
 * in unix seconds.
 */
export type EscrowState = {
  status: "none" | "held" | "released" | "split" | "refunded" | "timedOut";
  delivered: boolean;
  time: number;
  credits: { account: string; amount: bigint }[];
};

/** An action, and why the reader can take it or not. */
export type Act = { name: ActName; title: string; isOpen: boolean; why: string };

const TITLES: { [name in ActName]: string } = {
  markDelivered: "Mark the delivery",
  release: "Release the money",
  split: "Split the money",
  refund: "Refund the money",
  timeoutRefund: "Refund after the deadline",
  withdraw: "Withdraw what the token held back",
};

/** The outcome of an escrow, as the end of a sentence. */
export const ENDS: { [status in EscrowState["status"]]: string } = {
  none: "nothing was deposited under these terms",
  held: "the money is held",
  released: "the money was released",
  split: "the money was split",
  refunded: "the money went back to the buyer",
  timedOut: "the deadline passed, and the money went back to the buyer",
};

/**
 * Lists which actions an account can take, and who can take the others, by the rules of HireEscrow. The
 * contract checks them again when the transaction comes.
 *
 * @param account lower case; null for a reader without a wallet
 */
export function actsOf(hire: Hire, standing: EscrowState, account: string | null): Act[] {
  const { status, delivered, time, credits } = standing;
  const isLate = BigInt(Math.floor(time)) >= hire.deadline;
  const isBuyer = account === hire.buyer;
  const over = status === "held" ? null : `Not open: ${ENDS[status]}.`;
  const act = (name: ActName, isOpen: boolean, why: string): Act => ({
    name,
    title: TITLES[name],
    isOpen: isOpen && account !== null,
    why,
  });
  const ofBuyer = (name: ActName, what: string): Act =>
    act(
      name,
      over === null && isBuyer,
      over ?? (isBuyer ? `You are the buyer: ${what}` : `Only the buyer can do this: ${what}`),
    );
  return [
    markAct(),
    ofBuyer("release", "all of it goes to the seller, and that is final."),
    ofBuyer("split", "a part goes to the seller and the rest back to the buyer, and that is final."),
    refundAct(),
    timeoutAct(),
    withdrawAct(),
  ];

  function markAct(): Act {
    const isSeller = account === hire.seller;
    const what = "it says on the chain that the work was delivered, before the deadline. It moves no money.";
    const closed =
      over ??
      (delivered ? "Done: the seller marked it." : isLate ? "Not open: the deadline has passed." : null);
    return act(
      "markDelivered",
      closed === null && isSeller,
      closed ?? (isSeller ? `You are the seller: ${what}` : `Only the seller can do this: ${what}`),
    );
  }

  function refundAct(): Act {
    const role = roleOf(hire, account);
    const may = role === "buyer" || role === "seller" || role === "arbiter";
    const words: { [role: string]: string } = {
      buyer: "You are the buyer: you can take all of it back. The seller sees that you did.",
      seller: "You are the seller: you can give the hire up, and all of it goes back to the buyer.",
      arbiter: "You are the arbiter that the buyer named: you can send all of it back to the buyer.",
    };
    return act(
      "refund",
      over === null && may,
      over ??
        words[role] ??
        "Only the buyer, the seller and the arbiter, if the terms name one, can do this.",
    );
  }

  function timeoutAct(): Act {
    return act(
      "timeoutRefund",
      over === null && isLate,
      over ??
        (isLate
          ? "Anyone can do this now: all of it goes back to the buyer."
          : "Open to anyone once the deadline has passed."),
    );
  }

  function withdrawAct(): Act {
    const owed = credits.find(({ amount }) => amount > 0n);
    return act(
      "withdraw",
      owed !== undefined,
      owed === undefined
        ? "Nothing to withdraw: the contract owes none of the parties anything."
        : `The token refused a payment to ${owed.account}. The contract keeps it; anyone can have it paid to that account.`,
    );
  }
}

/**
 * Closes all actions while a transaction for the escrow is pending. A second transaction would spend gas on
 * money that the first transaction may have moved.
 * @param what the title of the pending transaction
 */
export function closedBy(what: string, acts: readonly Act[]): Act[] {
  const why = `Not open: your transaction “${what}” is pending. This opens again once it is done, replaced or failed.`;
  return acts.map((act) => (act.isOpen ? { ...act, isOpen: false, why } : act));
}

/** The role of an account in a hire. */
export function roleOf(
  hire: Hire,
  account: string | null,
): "buyer" | "seller" | "payee" | "arbiter" | "other" {
  if (account === null) return "other";
  if (account === hire.buyer) return "buyer";
  if (account === hire.seller) return "seller";
  if (account === hire.arbiter) return "arbiter";
  return account === payeeOf(hire) ? "payee" : "other";
}

/**
 * The parts of a split, computed as in the contract. `toSeller` bears its share of the fee, rounded down. The payee
 * gets the rest of `toSeller`.
 */
export function partsOf(
  { amount, fee }: Hire,
  toSeller: bigint,
): { toPayee: bigint; fee: bigint; toBuyer: bigint } {
  const share = amount === 0n ? 0n : (fee * toSeller) / amount;
  return { toPayee: toSeller - share, fee: share, toBuyer: amount - toSeller };
}
