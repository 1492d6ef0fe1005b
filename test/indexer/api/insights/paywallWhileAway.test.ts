import type { FacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createApi } from "../../../../indexer/api/app.ts";
import type { Database } from "../../../../indexer/api/database.ts";
import { wallet } from "../../../derive/eventLog.ts";

const NETWORK = "eip155:31337";

describe("insights with a price, whose database goes away during a request", () => {
  const reader = privateKeyToAccount(generatePrivateKey());
  /** Every read waits for it. */
  let mayRead: Promise<void>;
  let unlock: () => void;

  beforeEach(() => {
    mayRead = Promise.resolve();
  });

  /** Stops all reads of the database. */
  const lock = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    [mayRead, unlock] = [promise, resolve];
  };

  /** Answers every read with no rows. */
  const db: Database = new Proxy(() => {}, {
    get: (_, name) =>
      name === "then"
        ? (resolve: (rows: unknown) => void) =>
            void mayRead.then(() => resolve(Object.assign([], { rows: [] })))
        : db,
    apply: () => db,
  }) as unknown as Database;

  /** A paid question. `given` is called before its parts. `ended` waits until the node has ended all work for it. */
  function ask(given: {
    beforePaid?: () => Promise<unknown>;
    verify?: () => Promise<unknown>;
    settle?: () => Promise<unknown>;
  }) {
    const away = Promise.withResolvers<true>();
    const work: Promise<unknown>[] = [];
    const paid: string[] = [];
    const facilitator: FacilitatorClient = {
      getSupported: async () => ({
        kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK }],
        extensions: [],
        signers: {},
      }),
      verify: async () => {
        paid.push("verify");
        await given.verify?.();
        return { isValid: true, payer: reader.address };
      },
      settle: async () => {
        paid.push("settle");
        await given.settle?.();
        return { success: true, transaction: "0x01", network: NETWORK, payer: reader.address };
      },
    };
    const app = createApi({
      db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node: { chainId: 31_337, token: wallet(0x70) },
      settlementUrl: null,
      insightsPrice: {
        ...{ amount: 10_000n, payTo: wallet(1), chainId: 31_337, facilitator },
        token: { address: wallet(0x70), name: "USDC", version: "2" },
      },
      watch: {
        isAway: false,
        goesAwayDuring: (it) => {
          work.push(it);
          return Promise.race([away.promise, it.then(() => false)]);
        },
      },
    });
    const client = x402Client.fromConfig({
      schemes: [{ network: NETWORK, client: new ExactEvmScheme(reader) }],
      spendControls: { allowedAssets: true },
    });
    const pay = wrapFetchWithPayment(async (input, init) => {
      const request = new Request(input, init);
      if (request.headers.has("payment-signature")) await given.beforePaid?.();
      return await app.request(request);
    }, client);
    return {
      answer: pay("http://node.example/v1/insights/capabilities"),
      goAway: () => away.resolve(true),
      paid,
      ended: () => Promise.allSettled(work),
    };
  }

  it("are answered if the payment settles meanwhile", async () => {
    const settling = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    const { answer, goAway, paid } = ask({
      settle: async () => {
        settling.resolve();
        await settled.promise;
      },
    });
    await settling.promise;
    goAway();
    const early = await Promise.race([answer, new Promise((resolve) => setImmediate(resolve, "waits"))]);
    expect(early).to.equal("waits");
    settled.resolve();
    expect(await (await answer).json()).to.deep.equal({ capabilities: [], next_cursor: null });
    expect(paid).to.deep.equal(["verify", "settle"]);
  });

  it("cost nothing if the database goes away before they are answered", async () => {
    const { answer, goAway, paid, ended } = ask({
      verify: async () => {
        lock();
        goAway();
      },
    });
    try {
      const { status, headers } = await answer;
      expect(status).to.equal(503);
      expect(Number(headers.get("retry-after"))).to.be.above(0);
    } finally {
      unlock();
    }
    await ended();
    expect(paid).to.deep.equal(["verify"]);
  });

  it("begin no payment after the request was refused", async () => {
    const { answer, goAway, paid, ended } = ask({
      beforePaid: async () => {
        lock();
        goAway();
      },
    });
    try {
      expect((await answer).status).to.equal(503);
    } finally {
      unlock();
    }
    await ended();
    expect(paid).to.deep.equal([]);
  });
});
