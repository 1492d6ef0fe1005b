import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { createPublicClient, type Hex, http } from "viem";
import type { CrashChain } from "./crashAtEveryWrite.ts";
import { failure } from "./settlementClient.ts";

/** Signs anchors, and has no money to send them. */
const WRITER_KEY = `0x${"77".repeat(32)}`;

/** A development chain with the contract on it, and a key that has money there. */
export type DevelopmentChain = {
  rpcUrl: string;
  contract: Address;
  request: (method: string, ...params: unknown[]) => Promise<unknown>;
};

/** Lets a service anchor to a chain that can go back in time. */
export function crashChain(
  { rpcUrl, contract, request }: DevelopmentChain,
  { relayerKey, origin }: { relayerKey: string; origin: string },
): CrashChain {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  /** A state that one has gone back to has another name from then on. */
  const kept = new Map<unknown, unknown>();
  return {
    settings: {
      LEDGER_ORIGIN: origin,
      ANCHOR_PRIVATE_KEY: WRITER_KEY,
      RELAYER_PRIVATE_KEY: relayerKey,
      ANCHORED_LEDGER: contract,
      RPC_URL: rpcUrl,
      CHAIN_ID: "31337",
      ANCHOR_INTERVAL_SECONDS: "0.1",
    },
    head: async (ledger) => {
      const { size, root } = await client
        .readContract({ address: contract, abi: anchoredLedgerAbi, functionName: "head", args: [ledger] })
        .catch(() => ({ size: 0n, root: "0x" as Hex }));
      return size === 0n ? undefined : { size: Number(size), root };
    },
    keep: () => request("evm_snapshot"),
    goBack: async (state) => {
      if ((await request("evm_revert", kept.get(state) ?? state)) !== true)
        throw failure("the chain does not go back");
      kept.set(state, await request("evm_snapshot"));
    },
  };
}
