import type { Hex } from "tallystick-protocol/hex";

/** A chain that a wallet can add, and Circle's USDC on it; null if Circle has none there. */
export type KnownChain = { chainId: number; name: string; rpcUrl: string; coin: string; usdc: Hex | null };

const CHAINS: readonly KnownChain[] = [
  {
    chainId: 8_453,
    name: "Base",
    rpcUrl: "https://mainnet.base.org",
    coin: "ETH",
    usdc: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  },
  {
    chainId: 84_532,
    name: "Base Sepolia",
    rpcUrl: "https://sepolia.base.org",
    coin: "ETH",
    usdc: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  },
  { chainId: 31_337, name: "a local chain", rpcUrl: "http://127.0.0.1:8545", coin: "ETH", usdc: null },
];

/** The data of a known chain; undefined for others. */
export function knownChain(chainId: number): KnownChain | undefined {
  return CHAINS.find((it) => it.chainId === chainId);
}

/** The name of a chain for people. */
export function chainName(chainId: number): string {
  return knownChain(chainId)?.name ?? `chain ${chainId}`;
}

/** Whether a token is Circle's USDC. For any other token the page warns that it does not know it. */
export function isCirclesUsdc(chainId: number, token: string): boolean {
  return knownChain(chainId)?.usdc === token;
}
