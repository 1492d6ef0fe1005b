import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import type { NodeEscrow } from "./escrowQuery.ts";
import { atomicOf } from "./usdc.ts";

/** The terms of one escrow, and where it stands. */
export type EscrowTerms = { id: Hex; hire: Hire; deployment: EscrowDeployment };

const NOBODY: Hex = `0x${"0".repeat(40)}`;

/**
 * The terms that an escrow's id stands for: it is the EIP-712 digest of all of them, of the chain and of the contract. So whoever
 * tells them, they are the right ones or they are refused.
 *
 * @returns null when what was told gives another id
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
  // A node names the seller where the terms name no payee.
  for (const payee of [NOBODY, told.payee as Hex]) {
    const hire: Hire = { ...terms, payee };
    if (idOf(hire, deployment) === id) return { id, hire, deployment };
  }
  return null;
}

/** The id of these terms; null when they are none. */
export function idOf(hire: Hire, deployment: EscrowDeployment): Hex | null {
  try {
    return escrowId(hire, deployment);
  } catch {
    return null;
  }
}

/** Who is paid. */
export function payeeOf({ payee, seller }: Hire): Hex {
  return payee === NOBODY ? seller : payee;
}

/** Whether these terms name an arbiter, a fee's recipient, or whoever the field is for. */
export function isNamed(address: string): boolean {
  return address !== NOBODY;
}
