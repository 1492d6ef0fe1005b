import { hexlify, randomBytes, ZeroAddress } from "ethers";

/** The terms of a hire, in the form of ethers. */
export type Hire = {
  hireId: string;
  buyer: string;
  seller: string;
  payee: string;
  amount: bigint;
  fee: bigint;
  feeRecipient: string;
  deadline: bigint;
  arbiter: string;
};

/** A hire with the given terms. The other terms are a random hireId, no payee, 0.50 USDC, no fee, and no arbiter. */
export function hireOf(terms: Partial<Hire> & Pick<Hire, "buyer" | "seller" | "deadline">): Hire {
  return {
    hireId: hexlify(randomBytes(32)),
    payee: ZeroAddress,
    amount: 500_000n,
    fee: 0n,
    feeRecipient: ZeroAddress,
    arbiter: ZeroAddress,
    ...terms,
  };
}
