import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { createPublicClient, type Hex } from "viem";
import { localTransport } from "../../../scripts/processes/localTransport.ts";
import type { CrashChain } from "./crashAtEveryWrite.ts";
import { failure } from "./settlementClient.ts";

/** The key that signs the anchors. Its account has no ether, so a relayer sends them. */
const WRITER_KEY = `0x${"77".repeat(32)}`;

/** A development chain on which the contract is deployed. */
export type DevelopmentChain = {
  rpcUrl: string;
  contract: Address;
  request: (method: string, ...params: unknown[]) => Promise<unknown>;
};

/**
 * Gives a service the settings to anchor to a chain, and lets the bench set that chain back to an earlier
 * state.
 */
export function crashChain(
  { rpcUrl, contract, request }: DevelopmentChain,
  { relayerKey, origin }: { relayerKey: string; origin: string },
): CrashChain {
  const client = createPublicClient({ transport: localTransport(rpcUrl), cacheTime: 0 });
  /** `evm_revert` uses up a snapshot's id. This map has the new id of each snapshot that was used. */
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
