import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Hono } from "hono";
import type { FoundAgent, SearchClient } from "tallystick-sdk/buyer/searchClient";
import { type CreateBuyerParameters, createBuyer } from "tallystick-sdk/createBuyer";
import { type CreateSellerParameters, createSeller, type Seller } from "tallystick-sdk/createSeller";
import type { Fetch } from "tallystick-sdk/requestService";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { openTestService, type TestService } from "../../settlement/support/testService.ts";
import { newWallet, type SdkChain, type Wallet } from "./sdkChain.ts";

export const NODE = "http://node.test";
export const MEAN = "compute.statistics.mean";

/** A handler for {@link MEAN} that computes the real mean. */
export function mean({ data }: { [key: string]: unknown }): { result: number } {
  const numbers = data as number[];
  return { result: numbers.reduce((sum, value) => sum + value, 0) / numbers.length };
}

/** Sellers and buyers on one chain, with a real settlement service. The network exists only in this process. */
export type Market = {
  chain: SdkChain;
  ledger: TestService;
  /** The apps by the names of their hosts. A test replaces an entry to change the answers. */
  hosts: { [host: string]: { request: (input: string, init?: RequestInit) => Response | Promise<Response> } };
  fetch: Fetch;
  folder: string;
  search: SearchClient;
  /** The offers that the search finds: those of every seller that was opened. */
  offers: FoundAgent[];
  openSeller: (
    changes: Partial<CreateSellerParameters> & Pick<CreateSellerParameters, "listings" | "handlers">,
  ) => Promise<OpenSeller>;
  openBuyer: (changes?: Partial<CreateBuyerParameters>) => Promise<OpenBuyer>;
  close: () => Promise<void>;
};

export type OpenSeller = Seller & {
  wallet: Wallet;
  host: string;
  direct: Market["hosts"][string];
  parameters: CreateSellerParameters;
};
export type OpenBuyer = ReturnType<typeof createBuyer> & { wallet: Wallet };

/** The money of every buyer at the start: 10 USDC. */
export const PURSE = 10_000_000n;

export async function openMarket(chain: SdkChain): Promise<Market> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-sdk-"));
  const ledger = await openTestService(path.join(folder, "ledger"), { DEV_MODE: "1" });
  Object.defineProperty(ledger.clock, "now", { get: () => Math.floor(Date.now() / 1000) });
  const hosts: Market["hosts"] = { "node.test": ledger.app as unknown as Hono };
  const offers: FoundAgent[] = [];
  const sellers: Seller[] = [];

  const fetch: Fetch = async (input, init) => {
    const { host } = new URL(input);
    const app = hosts[host];
    if (!app) throw new TypeError(`fetch failed: nobody listens at ${host}`);
    init?.signal?.throwIfAborted();
    return await app.request(input, init);
  };
  const search: SearchClient = {
    search: async ({ capability, payment_mode: mode }) => ({
      agents: offers.filter(
        ({ listing }) =>
          listing.capability === capability && (mode === undefined || listing.payment_mode === mode),
      ),
      next_cursor: null,
    }),
  };

  return {
    chain,
    ledger,
    hosts,
    fetch,
    folder,
    search,
    offers,
    openSeller: async (changes) => {
      const wallet = newWallet();
      const host = `seller${sellers.length}.test`;
      const parameters: CreateSellerParameters = {
        account: wallet.account,
        endpoint: `http://${host}/v1`,
        baseUrl: NODE,
        network: chain.network,
        facilitator: chain.facilitator,
        store: fileStore(path.join(folder, host)),
        devMode: true,
        receiptWaitMs: 60_000,
        countersignMs: 120_000,
        fetch,
        ...changes,
      };
      const seller = await createSeller(parameters);
      sellers.push(seller);
      // Removes the path of the endpoint, like a reverse proxy.
      const direct: Market["hosts"][string] = {
        request: (input, init) =>
          seller.app.request(input.replace(`http://${host}/v1`, `http://${host}`), init),
      };
      hosts[host] = direct;
      await seller.publish();
      for (const signed of seller.listings) {
        const { body } = signed;
        offers.push({ agent_id: seller.address, listing: body, signed, reputation: { success_rate: null } });
      }
      return { ...seller, wallet, host, direct, parameters };
    },
    openBuyer: async (changes = {}) => {
      const wallet = newWallet();
      await chain.mint(wallet, PURSE);
      const buyer = createBuyer({
        account: wallet.account,
        baseUrl: NODE,
        network: chain.network,
        ledger: "local",
        client: chain.client as never,
        search,
        devMode: true,
        fetch,
        ...changes,
      });
      return { ...buyer, wallet };
    },
    close: async () => {
      // The close of a killed seller never ends.
      const closed = Promise.all(sellers.map((seller) => seller.close()));
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 500))]);
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
