import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import { createEscrowCalls, type EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { type EscrowRelay, walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import type { Fetch } from "tallystick-sdk/requestService";
import { readConfig } from "../../../services/settlement/config.ts";
import { openService, type SettlementService } from "../../../services/settlement/service.ts";
import { newWallet, PROVIDER, type SdkChain, startSdkChain, type Wallet } from "./sdkChain.ts";

/** The capability that is sold in these runs. */
export const MEAN = "compute.statistics.mean";
export const ESCROW_MODE = `platform_escrow:${PROVIDER}`;
export const NODE_URL = "http://node.test";

export type App = { request: (input: string, init?: RequestInit) => Response | Promise<Response> };

/** A chain, a ledger, an escrow with its relay, and a network that only exists in this process. */
export type HireWorld = {
  chain: SdkChain;
  ledger: SettlementService;
  calls: EscrowCalls;
  relay: EscrowRelay;
  /** Receives the escrow's fees. */
  treasury: Wallet;
  /** The apps that answer, by host. */
  hosts: Map<string, App>;
  fetch: Fetch;
  folder: string;
  balanceOf: (of: { address: Address }) => Promise<bigint>;
  close: () => Promise<void>;
};

/** Opens a world of its own for a soak or a benchmark. */
export async function openHireWorld(): Promise<HireWorld> {
  const chain = await startSdkChain();
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-hires-"));
  const ledger = await openService({
    config: readConfig({
      LEDGER_DIR: path.join(folder, "ledger"),
      DEV_MODE: "1",
      SETTLEMENT_API_KEYS: "unused",
      RATE_LIMIT_PER_ADDRESS: "0",
    }),
    now: () => Date.now() / 1000,
    log: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
  const calls = createEscrowCalls({ sender: chain.sender, deployment });
  const hosts = new Map<string, App>([["node.test", ledger.app as unknown as App]]);
  return {
    chain,
    ledger,
    calls,
    relay: walletRelay(calls),
    treasury: newWallet(),
    hosts,
    folder,
    fetch: async (input, init) => {
      init?.signal?.throwIfAborted();
      const app = hosts.get(new URL(input).host);
      if (!app) throw new TypeError(`fetch failed: nobody listens at ${input}`);
      return await app.request(input, init);
    },
    balanceOf: chain.balanceOf,
    close: async () => {
      await ledger.close();
      await chain.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A handler for {@link MEAN}. */
export function mean({ data }: { [key: string]: unknown }): { result: number } {
  const numbers = data as number[];
  return { result: numbers.reduce((sum, value) => sum + value, 0) / numbers.length };
}
