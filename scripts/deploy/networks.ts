import type { Address } from "tallystick-protocol/address";

/** A chain that `tallystick deploy` knows by name. */
export type KnownNetwork = {
  chainId: number;
  rpcUrl: string;
  /** Circle's USDC on it. A local chain has none, and gets a test token. */
  token?: Address;
};

/** The chains known by name. Others are reached by `--rpc-url` and `--token`. */
export const networks: Record<string, KnownNetwork> = {
  local: { chainId: 31_337, rpcUrl: "http://127.0.0.1:8545" },
  "base-sepolia": {
    chainId: 84_532,
    rpcUrl: "https://sepolia.base.org",
    token: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  },
  base: {
    chainId: 8_453,
    rpcUrl: "https://mainnet.base.org",
    token: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  },
};
