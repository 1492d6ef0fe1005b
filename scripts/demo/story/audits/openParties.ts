import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { createSeller, type Seller } from "tallystick-sdk/createSeller";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import type { OfferTerms } from "tallystick-sdk/seller/offers";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createLocalFacilitator } from "tallystick-sdk/x402/localFacilitator";
import { freePort } from "../../../processes/freePort.ts";
import { waitUntil } from "../../../processes/waitUntil.ts";
import { type Actor, actors } from "../../actors.ts";
import { PROVIDER } from "../../startDemoNode.ts";
import type { Scene } from "../scene.ts";

/** How escrow hires of the demo are paid. */
export const ESCROW_MODE = `platform_escrow:${PROVIDER}`;

/**
 * A seller of the chapter: who it is, what it offers, and how it works. `host`: the name of this machine at
 * which it is reached.
 */
export type SellerTerms = {
  actor: Actor;
  listings: OfferTerms[];
  work: (params: { [key: string]: unknown }) => unknown;
  host?: "127.0.0.1" | "localhost";
  schemas?: Parameters<typeof createSeller>[0]["schemas"];
};

/** Agents that use the SDK: sellers that answer by HTTP on this machine, and buyers that hire them. */
export type Parties = ReturnType<typeof openParties>;

export function openParties({ node, chain }: Scene) {
  const { url: baseUrl, rpcUrl, deployment } = node;
  const { chainId, token, hireEscrow } = deployment;
  const network = { chainId, token, name: "USD Coin", version: "2" };
  const sender = createTransactionSender({
    account: actors.courier.account,
    chainId,
    rpc: rpcUrl,
    pollingMs: 25,
  });
  const { client } = sender;
  const relay = walletRelay(
    createEscrowCalls({ sender, deployment: { chainId, escrow: hireEscrow.address } }),
  );
  // The story lets time pass on the chain, whose clock is ahead of this machine's by then.
  let ahead = 0;
  const chainNow = () => Date.now() + ahead;
  let passed = 0;
  const now = () => Date.now() + passed;
  const servers: Server[] = [];
  const sellers: Seller[] = [];

  return {
    network,
    /** Sets the agents' clocks by the chain's. */
    setClocks: async (): Promise<void> => {
      ahead = Math.max(0, Number(await chain.now()) * 1000 - Date.now());
    },
    /** The clock of sellers and auditors in milliseconds, and a function that puts it forward. */
    now,
    passTime: (ms: number): void => {
      passed += ms;
    },
    /** Starts a seller that is reached by HTTP. Returns the seller and its URL. */
    sell: async ({ actor, listings, work, host = "127.0.0.1", schemas }: SellerTerms) => {
      const { account } = actor;
      const port = await freePort();
      const endpoint = `http://${host}:${port}`;
      const seller = await createSeller({
        account,
        endpoint,
        baseUrl,
        network,
        facilitator: createLocalFacilitator({ sender, chainId }),
        client,
        modes: {
          [ESCROW_MODE]: escrowMode({ account, network, escrow: hireEscrow.address, relay, now: chainNow }),
        },
        store: memoryStore(),
        listings,
        handlers: Object.fromEntries(listings.map(({ capability }) => [capability, work])) as never,
        ...(schemas !== undefined && { schemas }),
        devMode: true,
        now,
      });
      await seller.resume();
      sellers.push(seller);
      servers.push(serve({ fetch: seller.app.fetch, hostname: "127.0.0.1", port }) as Server);
      return { seller, endpoint };
    },
    buyer: ({ account }: Actor) =>
      createBuyer({
        account,
        baseUrl,
        network,
        escrows: { [ESCROW_MODE]: { escrow: hireEscrow.address, relay } },
        client,
        chainNow,
        devMode: true,
      }),
    /** Waits until the ledger has every receipt of these sellers. */
    untilReceipted: async (signal: AbortSignal): Promise<void> => {
      const look = async () =>
        (await Promise.all(sellers.map((it) => it.waitingReceipts()))).every((waiting) => waiting === 0);
      await waitUntil(look, { what: "the sellers' receipts", withinMs: 240_000, signal });
    },
    close: async (): Promise<void> => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      await Promise.all(sellers.map((it) => it.close()));
    },
  };
}
