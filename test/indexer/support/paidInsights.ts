import type { FacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import type { Hono } from "hono";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type ApiDependencies, createApi } from "../../../indexer/api/app.ts";
import type { Database } from "../../../indexer/api/database.ts";
import type { KeptPayment, PaymentStore } from "../../../indexer/api/insights/paymentStore.ts";
import { wallet } from "../../derive/eventLog.ts";

const NETWORK = "eip155:31337";

/** A database that answers every read with no rows. `wait` is awaited before each answer. */
export function emptyDatabase(wait: () => Promise<void> = async () => {}): Database {
  const db: Database = new Proxy(() => {}, {
    get: (_, name) =>
      name === "then"
        ? (resolve: (rows: unknown) => void) =>
            void wait().then(() => resolve(Object.assign([], { rows: [] })))
        : db,
    apply: () => db,
  }) as unknown as Database;
  return db;
}

/** A facilitator without a chain. `asked` has the names of its calls. */
export function facilitatorWith({
  verify = async () => {},
  settle = async () => {},
}: {
  verify?: () => Promise<unknown>;
  settle?: () => Promise<unknown>;
}): FacilitatorClient & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    getSupported: async () => ({
      kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK }],
      extensions: [],
      signers: {},
    }),
    verify: async () => {
      asked.push("verify");
      await verify();
      return { isValid: true };
    },
    settle: async () => {
      asked.push("settle");
      await settle();
      return { success: true, transaction: "0x01", network: NETWORK };
    },
  };
}

/** A store of payments that one process keeps in memory. */
export function paymentsInMemory(): PaymentStore {
  const kept = new Map<string, KeptPayment>();
  return {
    read: async (key) => kept.get(key),
    begin: async (key, payment) => {
      const known = kept.get(key) ?? { ...payment, attempts: 0, answers: 0 };
      kept.set(key, { ...known, attempts: known.attempts + 1 });
      return kept.get(key) as KeptPayment;
    },
    settle: async (key, payment, settled) => {
      kept.set(key, { settled, ...(kept.get(key) ?? payment) });
    },
    countAnswer: async (key, most) => {
      const payment = kept.get(key);
      if (payment === undefined || payment.answers >= most) return false;
      kept.set(key, { ...payment, answers: payment.answers + 1 });
      return true;
    },
    forget: async (key) => void kept.delete(key),
  };
}

/** The API of a node that sells insights. */
export function sellInsights(
  facilitator: FacilitatorClient,
  more: Partial<ApiDependencies> & { price?: Partial<ApiDependencies["insightsPrice"]> } = {},
): Hono {
  const { price, ...rest } = more;
  return createApi({
    db: emptyDatabase(),
    operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
    node: { chainId: 31_337, token: wallet(0x70) },
    settlementUrl: null,
    insightsPrice: {
      ...{ amount: 10_000n, payTo: wallet(1), chainId: 31_337, facilitator },
      token: { address: wallet(0x70), name: "USDC", version: "2" },
      store: paymentsInMemory(),
      ...price,
    },
    ...rest,
  });
}

/** A `fetch` of a new wallet that pays what it is asked for. `beforePaid` is called before each paid request. */
export function payingFetch(
  app: Hono,
  beforePaid: (request: Request) => Promise<unknown> = async () => {},
  account = privateKeyToAccount(generatePrivateKey()),
) {
  const client = x402Client.fromConfig({
    schemes: [{ network: NETWORK, client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: true },
  });
  return wrapFetchWithPayment(async (input, init) => {
    const request = new Request(input, init);
    if (request.headers.has("payment-signature")) await beforePaid(request);
    return await app.request(request);
  }, client);
}
