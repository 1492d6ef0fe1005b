import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { serve } from "@hono/node-server";
import { parseListing } from "tallystick-protocol/records/listing";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { createSeller } from "tallystick-sdk/createSeller";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { ESCROW_MODE, MEAN, mean, openHireWorld } from "./hireWorld.ts";
import { newWallet } from "./sdkChain.ts";

/** The times of one kind of hires, in milliseconds, without the seller's own work. */
export type HireTimes = { what: string; hires: number; median: number; p95: number };

/**
 * Measures what `hire()` adds to the seller's own time: signing, HTTP over the loopback interface, payment on a local
 * chain that mines at once, journals and receipts on disk, the ledger's entry, verification, telemetry.
 */
export async function benchHires({ hires }: { hires: number }): Promise<HireTimes[]> {
  const world = await openHireWorld();
  const { chain, relay, treasury } = world;
  const servers: Server[] = [];
  const listen = async (app: {
    fetch: (request: Request) => Response | Promise<Response>;
  }): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<AddressInfo>();
    servers.push(serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
    return `http://127.0.0.1:${(await promise).port}`;
  };
  try {
    const baseUrl = await listen(world.ledger.app);
    const sellerWallet = newWallet();
    let worked = 0;
    // The server's address is known only when it listens.
    const door = { fetch: (_: Request): Response | Promise<Response> => new Response(null, { status: 503 }) };
    const endpoint = await listen({ fetch: (request) => door.fetch(request) });
    const seller = await createSeller({
      account: sellerWallet.account,
      endpoint,
      baseUrl,
      network: chain.network,
      facilitator: chain.facilitator,
      store: fileStore(path.join(world.folder, "seller")),
      modes: {
        [ESCROW_MODE]: escrowMode({
          account: sellerWallet.account,
          network: chain.network,
          escrow: chain.escrow,
          relay,
          feeRecipient: treasury.address,
        }),
      },
      listings: ["direct", ESCROW_MODE].map((payment_mode) => ({
        capability: MEAN,
        price_usdc: "0.01",
        max_latency_ms: 10_000,
        payment_mode,
      })),
      handlers: {
        [MEAN]: (params) => {
          const began = performance.now();
          const result = mean(params);
          worked += performance.now() - began;
          return result;
        },
      },
      devMode: true,
    });
    door.fetch = (request) => seller.app.fetch(request);
    await seller.publish();
    const listings = seller.listings.map(({ body }) => parseListing(body));

    const buyerWallet = newWallet();
    await chain.mint(buyerWallet, 10n ** 12n);
    const buyer = createBuyer({
      account: buyerWallet.account,
      baseUrl,
      network: chain.network,
      ledger: "local",
      escrows: { [ESCROW_MODE]: { escrow: chain.escrow, relay, feeRecipient: treasury.address } },
      journal: fileStore(path.join(world.folder, "buyer")),
      client: world.chain.client as never,
      devMode: true,
    });
    const params = { data: [1, 2, 6] };
    const order = { capability: MEAN, params, maxPriceUsdc: "1.00", maxLatencyMs: 10_000 };
    const measure = async (what: string, mode: string, telemetry: boolean): Promise<HireTimes> => {
      const listing = listings.find((it) => it.payment_mode === mode);
      if (!listing) throw new Error(`nothing is offered as ${mode}`);
      const times: number[] = [];
      for (let at = -5; at < hires; at++) {
        worked = 0;
        const began = performance.now();
        const { money } = await buyer.hire({ ...order, listing, telemetry, idempotencyKey: "new" });
        if (money !== "paid" && money !== "released") throw new Error(`the money is ${money}`);
        // The first hires only warm up.
        if (at >= 0) times.push(performance.now() - began - worked);
      }
      times.sort((a, b) => a - b);
      return { what, hires, median: quantile(times, 0.5), p95: quantile(times, 0.95) };
    };
    return [
      await measure("direct", "direct", true),
      await measure("direct, without telemetry", "direct", false),
      await measure("escrow", ESCROW_MODE, true),
      await measure("escrow, without telemetry", ESCROW_MODE, false),
    ];
  } finally {
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
    await world.close();
  }
}

/** A quantile by nearest rank. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
