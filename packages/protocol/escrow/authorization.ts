import type { Address } from "../address.ts";
import type { Hex } from "../hex.ts";

/**
 * The token in whose EIP-712 domain an authorization is signed. Circle's USDC has the name "USD Coin" and the version
 * "2".
 */
export type TokenDomain = { name: string; version: string; chainId: number; token: Address };

/**
 * An EIP-3009 authorization. `value` is in atomic units, and `nonce` has 32 bytes. The authorization is valid after
 * the second `validAfter` and before the second `validBefore`, both in unix time.
 */
export type Authorization = {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
};

/** The signed fields of both kinds of authorization (EIP-3009). */
export const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

/** The EIP-712 domain of an EIP-3009 token. */
export function tokenDomain({ name, version, chainId, token }: TokenDomain) {
  return { name, version, chainId, verifyingContract: token } as const;
}

/** What a buyer signs for a direct payment: anyone may submit it (x402 `exact`, SHP §7.3.2). */
export function transferWithAuthorizationTypedData(authorization: Authorization, domain: TokenDomain) {
  return {
    domain: tokenDomain(domain),
    types: { TransferWithAuthorization: authorizationFields },
    primaryType: "TransferWithAuthorization",
    message: authorization,
  } as const;
}

/** What a buyer signs to fund an escrow: only the payee (`to`, the escrow) may submit it; the nonce is the escrowId. */
export function receiveWithAuthorizationTypedData(authorization: Authorization, domain: TokenDomain) {
  return {
    domain: tokenDomain(domain),
    types: { ReceiveWithAuthorization: authorizationFields },
    primaryType: "ReceiveWithAuthorization",
    message: authorization,
  } as const;
}
