import { hexlify, randomBytes, ZeroAddress } from "ethers";

/** The terms of a hire, as ethers passes them. */
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

/** A hire with a random number, no fee, no arbiter, and the given rest. */
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
