import type { Address } from "tallystick-protocol/address";
import { receiveWithAuthorizationTypedData } from "tallystick-protocol/escrow/authorization";
import {
  type EscrowDeployment,
  escrowId,
  type Hire,
  hireTypedData,
  markDeliveredTypedData,
  refundTypedData,
  releaseTypedData,
  splitTypedData,
} from "tallystick-protocol/escrow/hire";
import { permitTypedData } from "tallystick-protocol/escrow/permit";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import type { LocalAccount } from "viem";
import { type PaymentNetwork, tokenDomainOf } from "../chain/paymentNetwork.ts";

/** What an agent signs about escrowed hires. Nothing is sent: anyone who has a signature may relay it. */
export type EscrowSigner = ReturnType<typeof createEscrowSigner>;

/** An EIP-3009 authorization of a deposit; its bounds are unix seconds. */
export type DepositAuthorization = { validAfter: bigint; validBefore: bigint; signature: Hex };

/** An ERC-2612 permit with the buyer's signature over the terms themselves. `permitDeadline` is unix seconds. */
export type DepositPermit = {
  permitValue: bigint;
  permitDeadline: bigint;
  permitSignature: Hex;
  signature: Hex;
};

/**
 * Signs every instruction that a HireEscrow takes, in the domain of one deployment.
 *
 * @example
 * const signer = createEscrowSigner({ account, deployment: { chainId: 8453, escrow }, network: base });
 * const authorization = await signer.authorizeDeposit(hire); // one signature funds the escrow and fixes its terms
 * const release = await signer.release(escrowId(hire, deployment));
 */
export function createEscrowSigner(parameters: {
  account: LocalAccount;
  deployment: EscrowDeployment;
  network: PaymentNetwork;
}) {
  const { account, deployment, network } = parameters;
  const address = account.address.toLowerCase() as Address;
  return {
    address,
    /**
     * The buyer's payment. It goes to this escrow only, and with these terms only, because its nonce is the id of the
     * terms.
     */
    authorizeDeposit: async (hire: Hire, validBefore = hire.deadline): Promise<DepositAuthorization> => {
      const terms = {
        from: hire.buyer,
        to: deployment.escrow,
        value: hire.amount,
        validAfter: 0n,
        validBefore,
        nonce: escrowId(hire, deployment),
      };
      const typedData = receiveWithAuthorizationTypedData(terms, tokenDomainOf(network));
      return { validAfter: 0n, validBefore, signature: await account.signTypedData(typedData) };
    },
    /** The buyer's payment by ERC-2612, for tokens without EIP-3009. `permitNonce` is the token's `nonces(buyer)`. */
    permitDeposit: async (hire: Hire, permitNonce: bigint): Promise<DepositPermit> => {
      const permit = {
        owner: hire.buyer,
        spender: deployment.escrow,
        value: hire.amount,
        nonce: permitNonce,
        deadline: hire.deadline,
      };
      return {
        permitValue: hire.amount,
        permitDeadline: hire.deadline,
        permitSignature: await account.signTypedData(permitTypedData(permit, tokenDomainOf(network))),
        signature: await account.signTypedData(hireTypedData(hire, deployment)),
      };
    },
    /** The seller states that it delivered. */
    markDelivered: (id: Hex, resultHash: Hex = ZERO_HASH) =>
      account.signTypedData(markDeliveredTypedData(id, deployment, resultHash)),
    /** The buyer pays in full. */
    release: (id: Hex) => account.signTypedData(releaseTypedData(id, deployment)),
    /** The buyer pays a part. */
    split: (id: Hex, toSeller: bigint) => account.signTypedData(splitTypedData(id, toSeller, deployment)),
    /** Buyer, seller or arbiter sends the money back. */
    refund: (id: Hex) => account.signTypedData(refundTypedData(id, address, deployment)),
  };
}
