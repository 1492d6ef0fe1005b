import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { ChainError } from "../errors.ts";
import type { EscrowCalls, EscrowState } from "./escrowCalls.ts";
import type { DepositAuthorization } from "./signEscrow.ts";
import { whenKnown } from "./whenKnown.ts";

/**
 * Brings signed instructions to an escrow: a wallet that sends them itself, or a keeper by HTTP. Each method except
 * `state` returns the hash of the transaction that carried the instruction out, even if another account sent it
 * earlier.
 */
export type EscrowRelay = {
  deposit: (hire: Hire, authorization: DepositAuthorization) => Promise<Hex>;
  markDelivered: (hire: Hire, resultHash: Hex, signature: Hex) => Promise<Hex>;
  release: (hire: Hire, signature: Hex) => Promise<Hex>;
  refund: (hire: Hire, signer: Address, signature: Hex) => Promise<Hex>;
  state: (id: Hex) => Promise<EscrowState>;
};

/** What an instruction brings about: the status of its escrow, and the event that shows it. */
type Effect = { status: EscrowState["status"]; event: "deposit" | "settlement" };

export const DEPOSIT: Effect = { status: "held", event: "deposit" };
const RELEASE: Effect = { status: "released", event: "settlement" };
const REFUND: Effect = { status: "refunded", event: "settlement" };

/**
 * Sends an instruction, as {@link whenKnown} attempts it. If the contract refuses it because the same was done before, this
 * returns the earlier transaction, which the events name.
 *
 * @param effect what it brings about; undefined for a mark, which leaves the status as it is
 */
export async function sendWhenKnown(
  calls: EscrowCalls,
  hire: Hire,
  send: () => Promise<Hex>,
  effect?: Effect,
): Promise<Hex> {
  const id = calls.idOf(hire);
  return await whenKnown(calls, id, send, async (status) =>
    effect !== undefined && status === effect.status ? await calls.findEvent(id, effect.event) : undefined,
  );
}

/** Makes a relay that sends the transactions with its own wallet, which pays the gas. */
export function walletRelay(calls: EscrowCalls): EscrowRelay {
  return {
    deposit: (hire, authorization) =>
      sendWhenKnown(calls, hire, () => calls.depositWithAuthorization(hire, authorization), DEPOSIT),
    markDelivered: (hire, resultHash, signature) =>
      sendWhenKnown(calls, hire, () => calls.markDelivered(hire, resultHash, signature)),
    release: (hire, signature) => sendWhenKnown(calls, hire, () => calls.release(hire, signature), RELEASE),
    refund: (hire, signer, signature) =>
      sendWhenKnown(calls, hire, () => calls.refund(hire, signer, signature), REFUND),
    state: (id) => calls.state(id),
  };
}

/**
 * Makes one relay of several. If a relay fails the next is asked, unless the contract itself has refused.
 *
 * @example firstRelay([httpRelay({ url: "https://keeper.example" }), walletRelay(calls)])
 */
export function firstRelay(relays: readonly [EscrowRelay, ...EscrowRelay[]]): EscrowRelay {
  const attempt = async <T>(work: (relay: EscrowRelay) => Promise<T>): Promise<T> => {
    let last: unknown;
    for (const relay of relays) {
      try {
        return await work(relay);
      } catch (error) {
        if (error instanceof ChainError && error.code === "call_refused") throw error;
        last = error;
      }
    }
    throw last;
  };
  return {
    deposit: (hire, authorization) => attempt((relay) => relay.deposit(hire, authorization)),
    markDelivered: (hire, hash, signature) => attempt((relay) => relay.markDelivered(hire, hash, signature)),
    release: (hire, signature) => attempt((relay) => relay.release(hire, signature)),
    refund: (hire, signer, signature) => attempt((relay) => relay.refund(hire, signer, signature)),
    state: (id) => attempt((relay) => relay.state(id)),
  };
}
