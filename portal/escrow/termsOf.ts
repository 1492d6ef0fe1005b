import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import type { NodeEscrow } from "./escrowQuery.ts";
import { atomicOf } from "./usdc.ts";

/** The terms of one escrow, and the contract that holds it. */
export type EscrowTerms = { id: Hex; hire: Hire; deployment: EscrowDeployment };

const NOBODY: Hex = `0x${"0".repeat(40)}`;

/**
 * Finds the terms of an escrow's id. The id is the EIP-712 digest of all terms, of the chain and of the
 * contract. So it does not matter who names the terms: wrong terms give another id and are refused.
 * @returns null when the node's terms are not valid or give another id
 */
export function termsOf(told: NodeEscrow, chainId: number, id: Hex): EscrowTerms | null {
  const deployment: EscrowDeployment = { chainId, escrow: told.contract as Hex };
  const [amount, fee] = [atomicOf(told.amountUsdc), atomicOf(told.feeUsdc)];
  if (amount === null || fee === null || !Number.isSafeInteger(told.deadline)) return null;
  const terms = {
    hireId: told.hireId as Hex,
    buyer: told.buyerAddress as Hex,
    seller: told.sellerAddress as Hex,
    amount,
    fee,
    feeRecipient: (told.feeRecipient ?? NOBODY) as Hex,
    deadline: BigInt(told.deadline),
    arbiter: (told.arbiter ?? NOBODY) as Hex,
  };
  // If the terms name no payee, the node shows the seller as the payee. So both forms are tried.
  for (const payee of [NOBODY, told.payee as Hex]) {
    const hire: Hire = { ...terms, payee };
    if (idOf(hire, deployment) === id) return { id, hire, deployment };
  }
  return null;
}

/** The id of these terms; null if the terms are not valid. */
export function idOf(hire: Hire, deployment: EscrowDeployment): Hex | null {
  try {
    return escrowId(hire, deployment);
  } catch {
    return null;
  }
}

/** The account that is paid. */
export function payeeOf({ payee, seller }: Hire): Hex {
  return payee === NOBODY ? seller : payee;
}

/** Whether an optional address of the terms is set, for example the arbiter. */
export function isNamed(address: string): boolean {
  return address !== NOBODY;
}
