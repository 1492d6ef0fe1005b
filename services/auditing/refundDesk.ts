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
  /** Named as arbiter by buyers that hire under this operator's audits. */
  arbiter: LocalAccount;
  network: PaymentNetwork;
  /** The contracts that it answers for: no other is ever called. */
  escrows: readonly Address[];
  sender: TransactionSender;
  log: Log;
};

/**
 * Gives the money of hires that were rolled back to their buyers, where an escrow still holds it and names this arbiter. The contract
 * settles an escrow once; what it holds now is asked every time, so that nothing has to be remembered.
 */
export function createRefundDesk({ arbiter, network, escrows, sender, log }: RefundDeskParameters) {
  const address = arbiter.address.toLowerCase() as Address;

  async function refund({ id, escrow, hire }: RolledBackEscrow): Promise<boolean> {
    const deployment = { chainId: network.chainId, escrow };
    const calls = createEscrowCalls({ sender, deployment });
    if ((await calls.state(id)).status !== "held") return false;
    const terms = termsOf(hire, id, deployment);
    if (terms === undefined) {
      log("A node gave terms that are not an escrow's.", { escrow: id });
      return false;
    }
    const signature = await createEscrowSigner({ account: arbiter, deployment, network }).refund(id);
    await calls.refund(terms, address, signature);
    log("A hire that was rolled back was refunded.", { escrow: id, buyer: hire.buyer, amount: hire.amount });
    return true;
  }

  return {
    /**
     * @param rolledBack those whose rollback no reorganization takes back
     * @param auditArbiters whom the node's parameters name: another's refund would count as a quarrel of the two sides
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
          // Somebody settled it meanwhile, or the chain is away: it is looked at again in the next round.
          log("A refund could not be made.", { escrow: it.id, error });
        }
      }
      return count;
    },
  };
}

/** The terms as they were signed: a payee that is not named is the seller. */
function termsOf(hire: Hire, id: Hex, deployment: { chainId: number; escrow: Address }): Hire | undefined {
  const ways = [hire, { ...hire, payee: zeroAddress as Address }];
  return ways.find((terms) => escrowId(terms, deployment) === id);
}

export type RefundDesk = ReturnType<typeof createRefundDesk>;
