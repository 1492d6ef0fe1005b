import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { EventLog, wallet } from "./eventLog.ts";

const [SELLER, PAYEE] = [1, 2].map(wallet) as [`0x${string}`, `0x${string}`];

async function listingOf(log: EventLog, id = `${SELLER}/text.translate/direct`) {
  return (await log.derive()).store.rows("listing").get(id);
}

describe("the row of a listing", () => {
  it("has everything that the listing says, and the search rank of its seller", async () => {
    const log = new EventLog();
    log.after(60);
    const mode = "custom_escrow:https://escrow.example";
    const hash = log.listing(SELLER, "text.translate", {
      ...{ payment_mode: mode, endpoint: "https://seller.example/v1", first_call_free: true, issued_at: 7 },
      ...{ private_metrics: true, clarification_supported: true, verification_version: "v3", payee: PAYEE },
    });
    const event = log.events.at(-1);
    const [block, seq] = event?.kind === "record" ? [event.block, event.seq] : [];
    const full = await listingOf(log, `${SELLER}/text.translate/${mode}`);
    const { agents, store } = await log.derive();
    const { rank, successPercent, starTenths } = store.rows("agent").get(SELLER) ?? {};
    expect(full).to.deep.equal({
      ...{ id: `${SELLER}/text.translate/${mode}`, agent: SELLER, auditOperator: null, auditFrom: null },
      ...{ capability: "text.translate", paymentMode: mode, priceUsdc: "0.50", price: 500_000n },
      ...{ maxLatencyMs: 1_000, endpoint: "https://seller.example/v1", firstCallFree: true },
      ...{ privateMetrics: true, clarificationSupported: true, verificationVersion: "v3" },
      ...{ verificationRank: 3, payee: PAYEE, live: true, issuedAt: 7, hash, block, log: 0, seq },
      ...{ rank, trustTier: agents[SELLER]?.trust_tier, successPercent, starTenths },
    });
    log.listing(SELLER, "text.translate");
    expect(await listingOf(log)).to.include({
      ...{ firstCallFree: false, privateMetrics: false, clarificationSupported: false, issuedAt: 0 },
      ...{ verificationVersion: null, verificationRank: 0, payee: null, live: true },
    });
  });

  it("is the same on every platform: no Unicode tables decide which host is valid, nor how it is compared", async () => {
    const log = new EventLog();
    log.listing(SELLER, "text.translate", { endpoint: "https://A.xn--p8s.Example:443/v1" });
    log.listing(PAYEE, "text.translate", { endpoint: "https://a\u3164b.example/v1" });
    log.after(60).tick();
    const real = globalThis.URL;
    // A platform whose `URL` takes nothing.
    globalThis.URL = class {
      constructor() {
        throw new TypeError("Invalid URL");
      }
    } as never;
    const { agents, store } = await log.derive().finally(() => {
      globalThis.URL = real;
    });
    expect(Object.keys(agents)).to.deep.equal([SELLER]);
    expect([...store.rows("record").values()].map((it) => it.status)).to.deep.equal(["valid", "invalid"]);
    expect([...store.rows("fingerprint").values()].map((it) => it.tokens).join()).to.include(
      "h|a.xn--p8s.example",
    );
  });

  it("has the rank of its verification version, if the version has one", async () => {
    const rows: [version: string, rank: number | null][] = [
      ...([
        ["v0", 0],
        ["v9", 9],
        ["v10", 10],
        ["v123456789", 123_456_789],
      ] as [string, number][]),
      ...["v1234567890", "v01", "v", "V1", "1", "v1 ", "xv1", "v1x", "v-1"].map(
        (it) => [it, null] as [string, null],
      ),
    ];
    for (const [verification_version, rank] of rows) {
      const log = new EventLog();
      log.listing(SELLER, "text.translate", { verification_version });
      expect((await listingOf(log))?.verificationRank, verification_version).to.equal(rank);
    }
  });

  it("is replaced by a listing that is not older, and by no body that was seen before", async () => {
    const log = new EventLog();
    const say = (price_usdc: string, issued_at: number, more: RecordBody = {}) =>
      log.after(1).listing(SELLER, "text.translate", { price_usdc, issued_at, ...more });
    const priceAfter = async (...said: Parameters<typeof say>) => {
      say(...said);
      return (await listingOf(log))?.priceUsdc;
    };
    expect(await priceAfter("1", 5)).to.equal("1");
    expect(await priceAfter("2", 5)).to.equal("2");
    expect(await priceAfter("3", 4)).to.equal("2");
    expect(await priceAfter("1", 5), "the first body again").to.equal("2");
    expect(await priceAfter("4", 6)).to.equal("4");
    const { store } = await log.derive();
    expect(store.rows("agent").get(SELLER)?.liveListings).to.equal(1);
  });

  it("counts among its seller's live listings while it is not retired, and among the private ones while it asks for this", async () => {
    const log = new EventLog();
    const countsWith = async (capability: string, more: RecordBody) => {
      log.after(1).listing(SELLER, capability, { ...more, max_latency_ms: log.block });
      const agent = (await log.derive()).store.rows("agent").get(SELLER);
      return [agent?.liveListings, agent?.privateListings];
    };
    expect(await countsWith("text.one", {})).to.deep.equal([1, 0]);
    expect(await countsWith("text.one", { private_metrics: true })).to.deep.equal([1, 1]);
    expect(await countsWith("text.two", { private_metrics: true })).to.deep.equal([2, 2]);
    expect(await countsWith("text.one", { private_metrics: true, retired: true })).to.deep.equal([1, 1]);
    expect(await countsWith("text.one", { retired: true })).to.deep.equal([1, 1]);
    expect(await countsWith("text.one", {})).to.deep.equal([2, 1]);
  });

  it("gives its payee's consent once, at the place of the first such listing", async () => {
    const log = new EventLog();
    const consent = { payee: PAYEE, payee_signature: "0x02" };
    log.after(60).listing(SELLER, "text.one", { payee: PAYEE });
    expect((await log.derive()).store.rows("payee").size, "without a signature").to.equal(0);
    log.after(60).listing(SELLER, "text.two", consent);
    const { block } = log;
    log.after(60).listing(SELLER, "text.three", consent);
    const { store } = await log.derive();
    expect([...store.rows("payee").values()]).to.deep.equal([{ id: `${SELLER}/${PAYEE}`, block, log: 0 }]);
  });
});
