import type { Address } from "../address.ts";
import { type TokenDomain, tokenDomain } from "./authorization.ts";

/** An ERC-2612 permit: `value` in atomic units, `deadline` in unix seconds. `nonce` is the token's `nonces(owner)`. */
export type Permit = { owner: Address; spender: Address; value: bigint; nonce: bigint; deadline: bigint };

/** The signed fields of a permit (ERC-2612). */
export const permitFields = [
  { name: "owner", type: "address" },
  { name: "spender", type: "address" },
  { name: "value", type: "uint256" },
  { name: "nonce", type: "uint256" },
  { name: "deadline", type: "uint256" },
] as const;

/** What an owner signs to let `spender` take `value` of a token. */
export function permitTypedData(permit: Permit, domain: TokenDomain) {
  return {
    domain: tokenDomain(domain),
    types: { Permit: permitFields },
    primaryType: "Permit",
    message: permit,
  } as const;
}
