import type { Address } from "tallystick-protocol/address";
import { escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import type { Log } from "tallystick-runtime/stderrLog";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import type { TransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createEscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { type LocalAccount, zeroAddress } from "viem";
import type { RolledBackEscrow } from "./operatorNode.ts";

export type RefundDeskParameters = {
  /** Buyers that hire under this operator's audits name it as arbiter. */
  arbiter: LocalAccount;
  network: PaymentNetwork;
  /** The only escrow contracts that are called. */
  escrows: readonly Address[];
  sender: TransactionSender;
  log: Log;
};

/**
 * Returns the money of rolled back hires to their buyers, where an escrow still holds it and names this arbiter. The
 * contract settles an escrow once, and its state is asked every time, so nothing has to be remembered.
 */
export function createRefundDesk({ arbiter, network, escrows, sender, log }: RefundDeskParameters) {
  const address = arbiter.address.toLowerCase() as Address;

  async function refund({ id, escrow, hire }: RolledBackEscrow): Promise<boolean> {
    const deployment = { chainId: network.chainId, escrow };
    const calls = createEscrowCalls({ sender, deployment });
    if ((await calls.state(id)).status !== "held") return false;
    const terms = termsOf(hire, id, deployment);
    if (terms === undefined) {
      log("The node's terms of an escrow do not match its id.", { escrow: id });
      return false;
    }
    const signature = await createEscrowSigner({ account: arbiter, deployment, network }).refund(id);
    await calls.refund(terms, address, signature);
    log("A hire that was rolled back was refunded.", { escrow: id, buyer: hire.buyer, amount: hire.amount });
    return true;
  }

  return {
    /**
     * @param rolledBack escrows of hires whose rollback is final
     * @param auditArbiters the arbiters in the node's parameters. A refund by another arbiter would count as a dispute
     * between buyer and seller, and not as the result of an audit
     * @returns how many were refunded
     */
    round: async (
      rolledBack: readonly RolledBackEscrow[],
      auditArbiters: readonly Address[],
      signal: AbortSignal,
    ): Promise<number> => {
      let count = 0;
      if (!auditArbiters.includes(address)) return count;
      for (const it of rolledBack) {
        signal.throwIfAborted();
        if (it.hire.arbiter !== address || !escrows.includes(it.escrow)) continue;
        try {
          if (await refund(it)) count++;
        } catch (error) {
          // Perhaps somebody settled the escrow meanwhile, or the chain cannot be reached. The next round tries again.
          log("A refund could not be made.", { escrow: it.id, error });
        }
      }
      return count;
    },
  };
}

/**
 * The terms in the form that the buyer signed. If no payee was signed, the node may give the seller as the payee, so both
 * forms are tried.
 */
function termsOf(hire: Hire, id: Hex, deployment: { chainId: number; escrow: Address }): Hire | undefined {
  const ways = [hire, { ...hire, payee: zeroAddress as Address }];
  return ways.find((terms) => escrowId(terms, deployment) === id);
}

export type RefundDesk = ReturnType<typeof createRefundDesk>;
