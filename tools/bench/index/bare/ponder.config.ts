import { createConfig } from "ponder";
import { parseAbi } from "viem";

// A minimal indexer of the same chain, for comparison. It only stores Transfers.

const env = (name: string) => process.env[name] ?? "";

export default createConfig({
  database: { kind: "postgres", connectionString: env("DATABASE_URL") },
  chains: {
    main: {
      id: Number(env("CHAIN_ID")),
      rpc: env("RPC_URL"),
      pollingInterval: Number(env("POLLING_INTERVAL_MS")),
      ethGetLogsBlockRange: Number(env("LOGS_BLOCK_RANGE")),
    },
  },
  contracts: {
    Token: {
      chain: "main",
      abi: parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]),
      address: env("TOKEN_ADDRESS") as `0x${string}`,
      startBlock: 0,
    },
  },
});
