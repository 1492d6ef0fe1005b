import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Listing } from "tallystick-protocol/records/listing";
import { signBody } from "tallystick-protocol/records/record";
import { base, networkId } from "tallystick-sdk/chain/paymentNetwork";
import { createBuyer } from "tallystick-sdk/createBuyer";
import type { HireParameters } from "tallystick-sdk/hireParameters";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type PaymentRequired, requiredHeaders } from "tallystick-sdk/x402/paymentHeaders";
import { newWallet, type Wallet } from "./support/sdkChain.ts";
import { isPaid, rejection } from "./support/tamper.ts";

const MEAN = "compute.statistics.mean";
const ORDER = {
  capability: MEAN,
  params: { data: [1] },
  maxPriceUsdc: "1.00",
  maxLatencyMs: 60_000,
} as const;
const MODE = "platform_escrow:acme";

type Answer = (signal: AbortSignal | null | undefined, init?: RequestInit) => Promise<Response>;
const dead: Answer = async () => {
  throw new TypeError("fetch failed");
};
const refuses: Answer = async () => Response.json({ code: "closed" }, { status: 403 });
/** Does not answer until the caller gives up. */
const hangs: Answer = (signal) =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

/** Gives the first seller's terms, and does not answer a payment. */
const hangsWhenPaid: Answer = async (signal, init) => {
  if (isPaid(init)) return await hangs(signal);
  const terms = {
    ...{ scheme: "exact", network: networkId(base), asset: base.token, amount: "50000" },
    ...{
      payTo: wallets[0]?.address,
      maxTimeoutSeconds: 60,
      extra: { name: base.name, version: base.version },
    },
  };
  const required = { x402Version: 2, resource: { url: "" }, accepts: [terms] } as unknown as PaymentRequired;
  return Response.json({}, { status: 402, headers: requiredHeaders(required) });
};
const wallets = Array.from({ length: 5 }, newWallet);

describe("the sellers that are asked for one hire, before anything is signed", () => {
  /** A buyer that finds these sellers in this order. `asked` has the sellers that it asked. */
  const buyerOf = (answers: Answer[], journal = memoryStore(), { account } = newWallet()) => {
    const asked: number[] = [];
    const listings = answers.map(
      (_, n) =>
        ({
          ...{ agent_id: wallets[n]?.address, capability: MEAN, price_usdc: "0.05" },
          ...{ max_latency_ms: 1_000, endpoint: `http://seller${n}.test`, payment_mode: "direct" },
        }) as Listing,
    );
    const found = async (listing: Listing, n: number) => {
      const body = listing as unknown as RecordBody;
      const signed = { body, signature: await signBody(body, wallets[n] as Wallet) };
      return { agent_id: listing.agent_id, listing, signed, reputation: {} };
    };
    const buyer = createBuyer({
      ...{ account, journal, network: base, baseUrl: "http://node.test", ledger: "local", devMode: true },
      search: {
        search: async () => ({
          agents: await Promise.all(listings.map(found)),
        }),
        sla: async () => ({ sla_status: null }),
      },
      fetch: async (input, init) => {
        const number = Number(/seller(\d+)/.exec(input)?.[1]);
        // The buyer also asks whether the sellers know an earlier hire. This is not counted.
        if (init?.method !== "POST") return Response.json({}, { status: 404 });
        asked.push(number);
        return await (answers[number] as Answer)(init?.signal, init);
      },
    });
    const hire = (more: Partial<HireParameters> = {}) =>
      rejection(buyer.hire({ ...ORDER, ...more } as HireParameters));
    return { hire, asked, listings };
  };

  it("use up no attempt if they do not answer, and one attempt if they refuse", async () => {
    const { hire, asked } = buyerOf([dead, refuses, dead, refuses, refuses]);
    expect(await hire({ maxAttempts: 2 })).to.include({ code: "seller_refused" });
    expect(asked).to.deep.equal([0, 1, 2, 3]);
  });

  it("come last the next time if they failed, but not if the caller gave up, before or after the payment", async () => {
    const journal = memoryStore();
    const wallet = newWallet();
    for (const answer of [hangs, hangsWhenPaid]) {
      const gaveUp = new AbortController();
      const { hire, asked } = buyerOf([answer, refuses], journal, wallet);
      const ended = hire({ signal: gaveUp.signal });
      while (asked.length < (answer === hangs ? 1 : 2))
        await new Promise((resolve) => setTimeout(resolve, 5));
      gaveUp.abort(new Error("enough"));
      expect(await ended).to.include(answer === hangs ? { message: "enough" } : { code: "aborted" });
    }
    const second = buyerOf([refuses, refuses], journal, wallet);
    await second.hire({ maxAttempts: 1, maxLatencyMs: 60_001 });
    expect(second.asked, "the caller gave up, not the first seller").to.deep.equal([0]);
    const third = buyerOf([refuses, refuses], journal, wallet);
    await third.hire({ maxLatencyMs: 60_002 });
    expect(third.asked, "the first one has refused").to.deep.equal([1, 0]);
  });

  it("are not asked if the buyer requires recovery and the given offer cannot give it", async () => {
    const { hire, asked, listings } = buyerOf([refuses]);
    const [direct] = listings as [Listing];
    const escrowed = { ...direct, payment_mode: MODE } as Listing;
    for (const [listing, more, code] of [
      [direct, { requireRecovery: true }, "no_recovery"],
      [escrowed, {}, "no_recovery"],
      [direct, { mode: "escrow" }, "no_seller"],
      [
        { ...direct, payment_mode: `custom_escrow:https://e.example` },
        { requireRecovery: true },
        "no_recovery",
      ],
    ] as [Listing, Partial<HireParameters>, string][]) {
      const error = await hire({ listing, ...more });
      expect(error, `${listing.payment_mode} ${code}`).to.include({ code });
      expect(error).to.have.deep.property("paymentModes", [listing.payment_mode]);
      // A seller chooses the names in its mode, and a message is read as our own words.
      if (listing !== direct) expect(error.message).not.to.contain(listing.payment_mode);
    }
    expect(asked).to.deep.equal([]);
    expect(await hire({ listing: direct, trustListing: true })).to.include({ code: "seller_refused" });
  });
});
