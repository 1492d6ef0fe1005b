import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Listing } from "tallystick-protocol/records/listing";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import type { ListingSources } from "tallystick-sdk/buyer/listingSources";
import type { FoundAgent } from "tallystick-sdk/buyer/searchClient";
import { signedListing } from "tallystick-sdk/buyer/signedListing";
import { createSeller } from "tallystick-sdk/createSeller";
import { ListingError } from "tallystick-sdk/errors";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import type { LocalAccount } from "viem";
import { hostileWallet, MOODS } from "../../tools/bench/keeper/hostileWallet.ts";
import { directScene, LISTING, ORDER, PAID, UNTOUCHED } from "./support/directScene.ts";
import { MEAN, mean, PURSE } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

/** For each term, a value that is not the seller's. */
const LIES: { [field: string]: unknown } = {
  capability: "compute.statistics.median",
  payment_mode: "platform_escrow:acme",
  price_usdc: "0.06",
  max_latency_ms: 1_999,
  endpoint: "http://evil.test/v1",
  payee: newWallet().address,
  first_call_free: true,
  retired: true,
  verification_version: "v1",
  clarification_supported: true,
};

describe("the signed form of a listing", () => {
  const seller = newWallet();
  const other = newWallet();
  const shown = {
    ...{ agent_id: seller.address, capability: MEAN, price_usdc: "0.05", max_latency_ms: 2_000 },
    ...{ endpoint: "http://seller.test/v1", payment_mode: "direct", entry_hash: "ab".repeat(32) },
  } as unknown as Listing;
  const { entry_hash: _, ...body } = shown as unknown as RecordBody;
  const sign = async (changes: object = {}, by = seller) => {
    const signed = { ...body, ...changes } as RecordBody;
    return { body: signed, signature: await signBody(signed, by) };
  };
  /** Sources that have nothing except the given answers. */
  const sources = (
    some: { node?: unknown; own?: unknown; askWallet?: ListingSources["askWallet"] } = {},
  ) => ({
    fromNode: async () => some.node,
    sellerFetch: async () => Response.json({ listings: some.own ?? [] }),
    devMode: true,
    askWallet: some.askWallet,
  });
  const read = (some: Parameters<typeof sources>[0], given: object = {}) =>
    signedListing(sources(some), shown, given);

  it("comes from the market, the node or the seller, and keeps all other fields that the seller signed", async () => {
    const form = await sign({ audit: { operator: other.address }, issued_at: 7, note: "mine" });
    for (const found of [
      await read({}, { signed: form }),
      await read({ node: form }),
      await read({ own: [{ type: "listing", signer: seller.address, ...form }] }),
    ])
      expect(found).to.deep.include({
        ...body,
        audit: { operator: other.address },
        issued_at: 7,
        note: "mine",
      });
  });

  it("may write the price in another form, and name the agent as its own payee", async () => {
    const form = await sign({ price_usdc: "0.050000", payee: seller.address });
    expect(await read({ node: form })).to.include({ price_usdc: "0.050000" });
  });

  for (const [field, lie] of Object.entries(LIES)) {
    it(`is refused if it has another ${field} than the shown listing`, async () => {
      const error = await rejection(read({ node: await sign({ [field]: lie }) }));
      expect(error)
        .to.be.instanceOf(ListingError)
        .and.include({ code: "listing_differs", seller: seller.address });
      expect(error.message).to.contain(`another ${field} than`);
      expect(error.message).not.to.contain(String(lie));
    });
  }

  it("is refused if somebody else signed it, or if the signature is for something else", async () => {
    const { signature } = await sign({ price_usdc: "0.06" });
    const forms = {
      "another key": await sign({}, other),
      "another agent's listing": await sign({ agent_id: other.address }, other),
      "another listing's signature": { body, signature },
      "a malleable signature": { body, signature: `0x${"ff".repeat(65)}` },
      "a record of another type, which binds its ledger": await sign({ type: "auditor", ledger: "local" }),
    };
    for (const [what, form] of Object.entries(forms)) {
      for (const found of [read({ node: form }), read({}, { signed: form })])
        expect(await rejection(found), what).to.include({
          code: "listing_not_signed",
          seller: seller.address,
        });
    }
    for (const own of [[forms["another key"]], [forms["another listing's signature"]]])
      expect(await rejection(read({ own }))).to.include({ code: "listing_not_signed" });
    // A valid form from another source is still accepted.
    expect(await read({ node: forms["another key"], own: [await sign()] })).to.deep.include(body);
  });

  it("is refused if no source has it, or if all sources give something malformed", async () => {
    const { signature } = await sign();
    for (const form of [
      ...[undefined, null, 5, "x", [], {}, { body }, { body: [], signature }, { body: null, signature }],
      ...[
        { body, signature: 5 },
        { body, signature: "0x1" },
        { body, signature: `0x${"00".repeat(20_000)}` },
      ],
      { body: { ...body, price: 0.5 }, signature },
      { body: { ...body, note: "x".repeat(65_537) }, signature },
    ]) {
      const error = await rejection(read({ node: form, own: form }, { signed: form }));
      expect(error, JSON.stringify(form)?.slice(0, 99)).to.include({ code: "listing_unavailable" });
    }
    const away = { ...sources(), fromNode: async () => Promise.reject(new Error("away")) };
    expect(await rejection(signedListing(away, shown))).to.include({ code: "listing_unavailable" });
    const distant = { ...sources({ own: [await sign()] }), devMode: false };
    expect(await rejection(signedListing(distant, shown))).to.include({ code: "listing_unavailable" });
  });

  it("is found among a thousand of the seller's listings, of which at most four are checked", async () => {
    const [good, bad] = [await sign(), await sign({}, other)];
    const others = Array.from({ length: 998 }, () => ({
      ...bad,
      body: { ...bad.body, capability: "text.rewrite" },
    }));
    expect(await read({ own: [...others, bad, good] })).to.deep.include(body);
    expect(await rejection(read({ own: [...others, bad, bad, good] }))).to.have.property(
      "code",
      "listing_not_signed",
    );
    expect(await rejection(read({ own: [bad, bad, bad, bad, good] }))).to.have.property(
      "code",
      "listing_not_signed",
    );
  });

  it("of a contract wallet is accepted only if the wallet confirms it on the chain", async () => {
    const form = await sign({}, other);
    const answers = {
      yes: undefined,
      no: "Neither the seller's key nor",
      unknown: "the chain could not be asked",
    } as const;
    for (const [answer, says] of Object.entries(answers)) {
      const asked: unknown[] = [];
      const askWallet: ListingSources["askWallet"] = async ({ signer, signature }) => {
        asked.push(signer, signature);
        return answer as keyof typeof answers;
      };
      const found = read({ node: form, askWallet });
      if (says === undefined) expect(await found).to.deep.include(body);
      else expect((await rejection(found)).message).to.contain(says);
      expect(asked).to.deep.equal([seller.address, form.signature]);
    }
    expect((await rejection(read({ node: form }))).hint).to.contain("TALLYSTICK_RPC_URL");
  });
});

describe("a node that lies about an honest seller's listing", () => {
  const world = useMarket();
  const { chain, market } = world;

  /** A scene in which the node shows the only offer with these changes. */
  const sceneWith = async (show: (offer: FoundAgent) => Partial<FoundAgent>) => {
    const scene = await directScene(world);
    const [offer] = market.offers.splice(0) as [FoundAgent];
    market.offers.push({ ...offer, ...show(offer) });
    const asked: string[] = [];
    market.hosts["evil.test"] = {
      request: (input, init) => {
        asked.push(`${init?.method ?? "GET"} ${new URL(input).pathname}`);
        return scene.seller.app.request(input.replace("http://evil.test/v1", "http://seller0.test"), init);
      },
    };
    return { ...scene, asked };
  };

  for (const field of ["endpoint", "payee", "price_usdc", "first_call_free"]) {
    it(`gets no payment for another ${field}, and the next seller is hired`, async () => {
      const { buyer, balances, asked } = await sceneWith(({ listing }) => ({
        listing: { ...listing, [field]: LIES[field] },
      }));
      expect(await rejection(buyer.hire(ORDER))).to.include({ code: "listing_differs" });
      expect(await balances()).to.deep.equal(UNTOUCHED);
      expect(asked.filter((it) => it.startsWith("POST"))).to.deep.equal([]);
      const honest = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
      const hired = await buyer.hire({ ...ORDER, maxAttempts: 1 });
      expect(hired.listing).to.include({ agent_id: honest.address, price_usdc: "0.05" });
      expect(await balances()).to.deep.equal([PAID[0], 0n]);
    });
  }

  it("gets no payment with a listing that it signed itself, or that has no signed form", async () => {
    const thief = newWallet();
    const lie = async ({ listing }: FoundAgent) => {
      const body = { ...listing, payee: thief.address, endpoint: LIES.endpoint } as RecordBody;
      return { listing: body, signed: { body, signature: await signBody(body, thief) } };
    };
    const { buyer, balances } = await sceneWith(() => ({}));
    const [offer] = market.offers as [FoundAgent];
    market.offers[0] = { ...offer, ...(await lie(offer)) };
    delete market.hosts["evil.test"];
    expect(await rejection(buyer.hire(ORDER))).to.include({ code: "listing_not_signed" });
    market.offers[0] = {
      ...offer,
      listing: { ...offer.listing, capability: ORDER.capability },
      signed: undefined,
    };
    delete market.hosts["seller0.test"];
    expect(await rejection(buyer.hire(ORDER))).to.include({ code: "listing_unavailable" });
    expect(await balances()).to.deep.equal(UNTOUCHED);
  });

  it("is not the only source of lies: a listing that the caller gives is checked too, except if the caller trusts it", async () => {
    const { buyer, seller, balances } = await sceneWith(() => ({}));
    const listing = { ...seller.listings[0]?.body, price_usdc: "0.10" } as unknown as Listing;
    expect(await rejection(buyer.hire({ ...ORDER, listing }))).to.include({ code: "listing_differs" });
    expect(await rejection(buyer.signedListing(listing))).to.include({ code: "listing_differs" });
    expect(await balances()).to.deep.equal(UNTOUCHED);
    const hired = await buyer.hire({ ...ORDER, listing, trustListing: true });
    expect(hired.listing.price_usdc).to.equal("0.10");
    expect(await balances()).to.deep.equal(PAID);
  });

  it("may show an old listing, but the buyer pays only terms of today that fit this listing", async () => {
    // A listing's signature does not show whether the listing was replaced, or for which ledger it is.
    const { buyer, seller, balances } = await sceneWith(() => ({}));
    for (const [changes, code] of [
      [{ price_usdc: "0.04" }, "overcharged"],
      [{ payee: newWallet().address }, "payee_changed"],
      [{ price_usdc: "0.10" }, undefined],
    ] as const) {
      const body = { ...seller.listings[0]?.body, issued_at: 5, ...changes } as RecordBody;
      const signed = await signRecord({ type: "listing", body, account: seller.wallet.account });
      market.offers.splice(0, 1, { agent_id: seller.address, listing: body, signed, reputation: {} });
      if (code === undefined) await buyer.hire(ORDER);
      else expect(await rejection(buyer.hire({ ...ORDER, idempotencyKey: code }))).to.include({ code });
      expect(await balances()).to.deep.equal(code === undefined ? PAID : UNTOUCHED);
    }
  });

  it("is not believed about a contract wallet: the wallet must confirm its listing on the chain", async () => {
    const { buyer, seller } = await sceneWith(() => ({}));
    const hash = await chain.client.sendTransaction({ chain: null, data: hostileWallet(chain.token) });
    const deployed = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    const address = deployed.contractAddress?.toLowerCase() as `0x${string}`;
    const account = { ...newWallet().account, address } as LocalAccount;
    market.offers.length = 0;
    // This market's ledger has no chain, so it takes no record of a contract wallet.
    const { parameters } = seller;
    const own = { account, endpoint: "http://wallet.test", store: memoryStore(), listings: [LISTING] };
    const { app, listings, close } = await createSeller({ ...parameters, ...own });
    market.hosts["wallet.test"] = { request: (input, init) => app.request(input, init) };
    const [signed] = listings;
    market.offers.push({ agent_id: address, listing: signed?.body ?? {}, signed, reputation: {} });
    const blind = await market.openBuyer({ client: undefined as never });
    expect(await rejection(blind.hire(ORDER))).to.include({ code: "listing_not_signed" });
    const feel = async (mood: number) => {
      const data = `0x${mood.toString(16).padStart(64, "0")}` as const;
      const sent = await chain.client.sendTransaction({ chain: null, to: address, data });
      await chain.client.waitForTransactionReceipt({ hash: sent, pollingInterval: 10 });
    };
    for (const mood of ["saysNo", "reverts", "hitsInvalidOpcode", "answersMegabytes"] as const) {
      await feel(MOODS[mood]);
      expect(await rejection(buyer.hire(ORDER)), mood).to.include({ code: "listing_not_signed" });
    }
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
    await feel(MOODS.saysYes);
    expect((await buyer.hire(ORDER)).money).to.equal("paid");
    expect(await chain.balanceOf({ address })).to.equal(PURSE - (await chain.balanceOf(buyer.wallet)));
    await close();
  });
});
