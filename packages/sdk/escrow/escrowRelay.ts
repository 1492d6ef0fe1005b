import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { ChainError } from "../errors.ts";
import type { EscrowCalls, EscrowState } from "./escrowCalls.ts";
import type { DepositAuthorization } from "./signEscrow.ts";

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

/**
 * Runs an instruction. If the contract refuses because the same was done before, this returns the earlier
 * transaction, which the events name.
 */
export async function unlessDone(
  calls: EscrowCalls,
  hire: Hire,
  what: "deposit" | "settlement",
  done: EscrowState["status"],
  work: () => Promise<Hex>,
): Promise<Hex> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ChainError) || error.reason !== "WrongStatus") throw error;
    const id = calls.idOf(hire);
    const earlier = (await calls.state(id)).status === done ? await calls.findEvent(id, what) : undefined;
    if (earlier === undefined) throw error;
    return earlier;
  }
}

/** Makes a relay that sends the transactions with its own wallet, which pays the gas. */
export function walletRelay(calls: EscrowCalls): EscrowRelay {
  return {
    deposit: (hire, authorization) =>
      unlessDone(calls, hire, "deposit", "held", () => calls.depositWithAuthorization(hire, authorization)),
    markDelivered: (hire, resultHash, signature) => calls.markDelivered(hire, resultHash, signature),
    release: (hire, signature) =>
      unlessDone(calls, hire, "settlement", "released", () => calls.release(hire, signature)),
    refund: (hire, signer, signature) =>
      unlessDone(calls, hire, "settlement", "refunded", () => calls.refund(hire, signer, signature)),
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
