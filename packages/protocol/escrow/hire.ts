import type { Address } from "../address.ts";
import { type Hex, ZERO_HASH } from "../hex.ts";
import { typedDataHash } from "../signatures/typedDataHash.ts";

/**
 * The terms of one escrowed hire, as HireEscrow takes them in calldata. `amount` and `fee` are atomic units of the
 * token, and the amount includes the fee. `deadline` is in unix seconds. A zero `payee` means the seller. A zero
 * `arbiter` means that there is no arbiter.
 */
export type Hire = {
  hireId: Hex;
  buyer: Address;
  seller: Address;
  payee: Address;
  amount: bigint;
  fee: bigint;
  feeRecipient: Address;
  deadline: bigint;
  arbiter: Address;
};

/** Which deployment a hire belongs to. */
export type EscrowDeployment = { chainId: number; escrow: Address };

/** The EIP-712 domain of a HireEscrow. */
export function escrowDomain({ chainId, escrow }: EscrowDeployment) {
  return { name: "Tallystick HireEscrow", version: "1", chainId, verifyingContract: escrow } as const;
}

/** The EIP-712 types a HireEscrow knows. */
export const hireTypes = {
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
  Release: [{ name: "escrowId", type: "bytes32" }],
  Split: [
    { name: "escrowId", type: "bytes32" },
    { name: "toSeller", type: "uint128" },
  ],
  Refund: [
    { name: "escrowId", type: "bytes32" },
    { name: "signer", type: "address" },
  ],
  MarkDelivered: [
    { name: "escrowId", type: "bytes32" },
    { name: "resultHash", type: "bytes32" },
  ],
} as const;

/** Typed data of the hire itself: the buyer signs it for `depositWithPermit`; its digest is the escrowId. */
export function hireTypedData(hire: Hire, deployment: EscrowDeployment) {
  return {
    domain: escrowDomain(deployment),
    types: { Hire: hireTypes.Hire },
    primaryType: "Hire",
    message: hire,
  } as const;
}

/** The id of a hire in one deployment: the EIP-712 digest of its terms, and the nonce of its EIP-3009 payment. */
export function escrowId(hire: Hire, deployment: EscrowDeployment): Hex {
  return typedDataHash(hireTypedData(hire, deployment));
}

/** What the buyer signs to pay the seller in full. */
export function releaseTypedData(id: Hex, deployment: EscrowDeployment) {
  return {
    domain: escrowDomain(deployment),
    types: { Release: hireTypes.Release },
    primaryType: "Release",
    message: { escrowId: id },
  } as const;
}

/** What the buyer signs to pay the seller `toSeller` atomic units and take back the rest. */
export function splitTypedData(id: Hex, toSeller: bigint, deployment: EscrowDeployment) {
  return {
    domain: escrowDomain(deployment),
    types: { Split: hireTypes.Split },
    primaryType: "Split",
    message: { escrowId: id, toSeller },
  } as const;
}

/** What the `signer` (the buyer, the seller or the named arbiter) signs to send the money back to the buyer. */
export function refundTypedData(id: Hex, signer: Address, deployment: EscrowDeployment) {
  return {
    domain: escrowDomain(deployment),
    types: { Refund: hireTypes.Refund },
    primaryType: "Refund",
    message: { escrowId: id, signer },
  } as const;
}

/** What the seller signs to record delivery; `resultHash` is 32 bytes of the seller's choice, zero when it has none. */
export function markDeliveredTypedData(id: Hex, deployment: EscrowDeployment, resultHash: Hex = ZERO_HASH) {
  return {
    domain: escrowDomain(deployment),
    types: { MarkDelivered: hireTypes.MarkDelivered },
    primaryType: "MarkDelivered",
    message: { escrowId: id, resultHash },
  } as const;
}
