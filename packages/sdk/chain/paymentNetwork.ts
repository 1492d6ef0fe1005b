import type { Address } from "tallystick-protocol/address";
import type { TokenDomain } from "tallystick-protocol/escrow/authorization";

/**
 * The chain and the token that pay for hires. `name` and `version` are the token's EIP-712 domain. A buyer signs only
 * in this domain, even if a seller names another.
 */
export type PaymentNetwork = { chainId: number; token: Address; name: string; version: string };

/** USDC on Base. */
export const base: PaymentNetwork = {
  chainId: 8453,
  token: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  name: "USD Coin",
  version: "2",
};

/** USDC on Base Sepolia, the test network. */
export const baseSepolia: PaymentNetwork = {
  chainId: 84_532,
  token: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  name: "USDC",
  version: "2",
};

/** The network's name in x402 v2 and in receipts (CAIP-2). */
export function networkId({ chainId }: Pick<PaymentNetwork, "chainId">): `eip155:${number}` {
  return `eip155:${chainId}`;
}

/** The short names that x402 v1 and SHP §7.1 use, for the chains that have a short name. */
const SHORT_NAMES: { [chainId: number]: string } = { 8453: "base", 84532: "base-sepolia" };

/** The network's name in x402 v1 and in `X-402-Network`. */
export function shortNetworkName(network: Pick<PaymentNetwork, "chainId">): string {
  return SHORT_NAMES[network.chainId] ?? networkId(network);
}

/** The EIP-712 domain of the network's token. */
export function tokenDomainOf({ chainId, token, name, version }: PaymentNetwork): TokenDomain {
  return { chainId, token, name, version };
}
