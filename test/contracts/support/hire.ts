import type { AddressLike, Signer, TypedDataDomain } from "ethers";
import { randomBytes, TypedDataEncoder, ZeroAddress } from "ethers";

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

export const HIRE_TYPES = {
  Hire: [
    { name: "hireId", type: "bytes32" },
    { name: "buyer", type: "address" },
    { name: "seller", type: "address" },
    { name: "payee", type: "address" },
    { name: "amount", type: "uint128" },
    { name: "fee", type: "uint128" },
    { name: "feeRecipient", type: "address" },
    { name: "deadline", type: "uint64" },
    { name: "arbiter", type: "address" },
  ],
};

/** A hire with a random number, no fee, no arbiter, and the given rest. */
export function hireOf(terms: Partial<Hire> & Pick<Hire, "buyer" | "seller" | "deadline">): Hire {
  return {
    hireId: `0x${Buffer.from(randomBytes(32)).toString("hex")}`,
    payee: ZeroAddress,
    amount: 500_000n,
    fee: 0n,
    feeRecipient: ZeroAddress,
    arbiter: ZeroAddress,
    ...terms,
  };
}

export function escrowDomain(chainId: bigint, escrow: string): TypedDataDomain {
  return { name: "Tallystick HireEscrow", version: "1", chainId, verifyingContract: escrow };
}

export function escrowIdOf(hire: Hire, domain: TypedDataDomain): string {
  return TypedDataEncoder.hash(domain, HIRE_TYPES, hire);
}

/** The buyer's ReceiveWithAuthorization of the token for a hire: nonce = escrowId. */
export async function signAuthorization(
  signer: Signer,
  tokenDomain: TypedDataDomain,
  authorization: {
    from: AddressLike;
    to: AddressLike;
    value: bigint;
    validAfter: bigint;
    validBefore: bigint;
    nonce: string;
  },
): Promise<string> {
  const types = {
    ReceiveWithAuthorization: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "validAfter", type: "uint256" },
      { name: "validBefore", type: "uint256" },
      { name: "nonce", type: "bytes32" },
    ],
  };
  return signer.signTypedData(tokenDomain, types, authorization);
}
