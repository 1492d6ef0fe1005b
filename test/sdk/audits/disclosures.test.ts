import { expect } from "chai";
import { readDisclosure } from "tallystick-protocol/audits/disclosure";
import { DISCLOSURE_HEADER, signDisclosureRequest } from "tallystick-protocol/audits/disclosureRequest";
import { signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { disclosedHireOf } from "tallystick-sdk/auditor/disclosedHireOf";
import { type Assignment, nameOf } from "tallystick-sdk/audits/assignment";
import { keptDisclosures } from "tallystick-sdk/audits/keptDisclosures";
import { sellersDisclosures } from "tallystick-sdk/audits/sellersDisclosures";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { Job } from "tallystick-sdk/seller/job";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MEAN, mean, type OpenBuyer, type OpenSeller } from "../support/market.ts";
import { newWallet } from "../support/sdkChain.ts";
import { between, withBody } from "../support/tamper.ts";
import { useMarket } from "../support/useMarket.ts";

const OPERATOR = newWallet().address;
const LISTING = {
  capability: MEAN,
  price_usdc: "0.05",
  max_latency_ms: 60_000,
  audit: { operator: OPERATOR },
};
const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const DAY_MS = 86_400_000;

describe("the work of a hire whose escrow is open for long", () => {
  it("is kept 17 days after the escrow's deadline, because a refund until then can be audited", async () => {
    let time = 1_800_000_000_000;
    const hireId = `0x${"11".repeat(32)}`;
    const deadline = time + 20 * DAY_MS;
    const payment = { payload: { payload: { hire: { deadline: String(deadline / 1_000) } } } };
    const store = memoryStore();
    const clock = () => time;
    const { disclose } = await sellersDisclosures({
      ...{ seller: newWallet().address, listings: [], store, baseUrl: "https://node.example" },
      ...{ now: clock, log: () => {} },
    });
    await disclose({ hireId, request: "{}", result: 1, payment } as unknown as Job);
    const kept = keptDisclosures({ store, now: clock });
    time = deadline + 17 * DAY_MS - 1;
    expect(await kept.find(hireId)).to.not.equal(undefined);
    time++;
    expect(await kept.find(hireId)).to.equal(undefined);
  });
});

describe("the work of a hire that may be audited", () => {
  const { market } = useMarket();
  const auditor = newWallet();
  let open: Assignment[];
  let asked: number;
  let ahead: number;
  /** The time at which a test stopped the clock. */
  let stopped: number | undefined;
  beforeEach(() => {
    open = [];
    asked = 0;
    ahead = 0;
    stopped = undefined;
    Object.defineProperty(market.ledger.clock, "now", { get: () => Math.floor(now() / 1000) });
  });
  const now = () => stopped ?? Date.now() + ahead;
  const auditNode = {
    openOfSeller: async (seller: string) => {
      asked++;
      return open.filter((one) => one.seller === seller);
    },
    openOfHire: async (hire: string) => open.filter((one) => one.hire === hire),
  };
  const openSeller = (changes: Partial<Parameters<typeof market.openSeller>[0]> = {}): Promise<OpenSeller> =>
    market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean }, auditNode, now, ...changes });

  /** Adds the assignment that a node gives after a draw of this hire. */
  const assign = async (hire: HireResult, buyer: OpenBuyer): Promise<Assignment> => {
    const entries = await market.ledger.get("/v1/ledger/entries?from=0&to=2");
    const lines = entries.text.split("\n").filter((line) => line.includes(hire.hireId));
    const { body } = JSON.parse(lines[0] ?? "{}").payload;
    const assignment: Assignment = {
      hire: `${hire.tx}-0`,
      round: 1,
      attempt: 1,
      operator: OPERATOR,
      auditor: auditor.address,
      seller: hire.listing.agent_id,
      buyer: buyer.address,
      capability: MEAN,
      hireId: body.hire_id,
      paramsHash: body.params_hash,
      resultHash: body.result_hash,
      verificationVersion: "v0",
      amount: "50000",
      block: 1,
      time: Math.floor(now() / 1000),
      tickHash: null,
      due: 0,
    };
    open.push(assignment);
    return assignment;
  };
  const ask = async (
    { app }: Pick<OpenSeller, "app">,
    assignment: Assignment,
    changes: { by?: typeof auditor; time?: number; header?: string; hire?: string; seller?: string } = {},
  ) => {
    const { hire, seller } = assignment;
    const time = changes.time ?? Math.floor(now() / 1000);
    const request = {
      assignment: nameOf(assignment),
      hire,
      seller: (changes.seller ?? seller) as `0x${string}`,
      time,
    };
    const header = changes.header ?? (await signDisclosureRequest(request, changes.by ?? auditor));
    const response = await app.request(`http://seller.test/audits/${changes.hire ?? hire}`, {
      headers: { [DISCLOSURE_HEADER]: header },
    });
    return { status: response.status, body: await response.json() };
  };
  const hired = async (changes: Partial<Parameters<typeof market.openSeller>[0]> = {}) => {
    const seller = await openSeller(changes);
    const journal = memoryStore();
    const buyer = await market.openBuyer({ journal, now });
    const hire = await buyer.hire(ORDER);
    await buyer.idle();
    return { seller, buyer, journal, hire, assignment: await assign(hire, buyer) };
  };

  it("is shown to its auditor with a proof, and to nobody else", async () => {
    const { seller, assignment } = await hired();
    const { status, body } = await ask(seller, assignment);
    expect(status).to.equal(200);
    const { params, result } = readDisclosure(body, disclosedHireOf(assignment));
    expect([params, result]).to.deep.equal([{ data: [1, 2, 6] }, { result: 3 }]);

    const stranger = newWallet();
    const seconds = Math.floor(now() / 1000);
    const header = await signDisclosureRequest(
      { assignment: nameOf(assignment), hire: assignment.hire, seller: assignment.seller, time: seconds },
      auditor,
    );
    const moved = JSON.stringify({ ...JSON.parse(header), time: seconds - 1 });
    const other = { ...assignment, round: 2 };
    for (const [expected, given] of [
      [403, await ask(seller, assignment, { by: stranger })],
      [403, await ask(seller, assignment, { by: seller.wallet })],
      [403, await ask(seller, assignment, { seller: stranger.address })],
      [403, await ask(seller, assignment, { header: moved })],
      [400, await ask(seller, assignment, { time: seconds - 62 })],
      [400, await ask(seller, assignment, { time: seconds + 180 })],
      [400, await ask(seller, assignment, { hire: `${assignment.hire}0` })],
      [400, await ask(seller, assignment, { header: "{}" })],
      [400, await ask(seller, assignment, { header: `{"a":"${"x".repeat(2_000)}"}` })],
      [404, await ask(seller, other)],
    ] as const)
      expect(given.status, JSON.stringify(given.body)).to.equal(expected);
    expect((await seller.app.request(`http://seller.test/audits/${assignment.hire}`)).status).to.equal(401);
    // The assignment is no longer open: a verdict was given, or another auditor is assigned now.
    open.pop();
    ahead += 61_000;
    expect((await ask(seller, assignment)).status).to.equal(404);
  });

  it("costs the seller one request to its node in five seconds, however often strangers ask for it", async () => {
    const { seller, assignment } = await hired();
    stopped = now() + 10_000;
    asked = 0;
    const strangers = Array.from({ length: 30 }, (_, at) => ({ ...assignment, round: 2 + (at % 15) }));
    await Promise.all(strangers.map((made) => ask(seller, made)));
    expect(asked).to.equal(1);
    expect((await ask(seller, assignment)).status).to.equal(200);
  });

  it("is shown even if the seller has more open audits than the node's list contains", async () => {
    const { seller, assignment } = await hired({
      auditNode: {
        ...auditNode,
        openOfSeller: async (seller) =>
          Array.from({ length: 500 }, (_, at) => ({
            ...(open[0] as Assignment),
            hire: `0x${"ab".repeat(32)}-${at}`,
            seller,
          })),
      },
    });
    expect((await ask(seller, assignment)).status).to.equal(200);
    expect((await ask(seller, { ...assignment, round: 2 })).status).to.equal(404);
  });

  it("is not shown while the node does not answer, and the auditor may try again", async () => {
    const { assignment, seller } = await hired({
      auditNode: {
        ...auditNode,
        openOfSeller: async () => {
          throw new Error("the node is away");
        },
      },
    });
    const { status, body } = await ask(seller, assignment);
    expect([status, body.code]).to.deep.equal([503, "node_unreachable"]);
    expect(JSON.stringify(body)).not.to.contain("is away");
  });

  it("is kept for 17 days, so that the last auditor after a late draw can ask for it, and then deleted", async () => {
    const store = memoryStore();
    const { seller, assignment } = await hired({ store });
    ahead += 17 * DAY_MS - 600_000;
    expect((await ask(seller, assignment)).status).to.equal(200);
    ahead += 1_200_000;
    expect((await ask(seller, assignment)).body.code).to.equal("not_kept");
    const kept = async (store: KeyValueStore) => [
      ...(await store.keys("disclosure")),
      ...(await store.keys("expiry")),
    ];
    expect(await kept(store)).to.have.length(2);
    ahead += DAY_MS;
    // The next hire deletes the old work.
    await (await market.openBuyer({ now })).hire(ORDER);
    expect(await kept(store)).to.have.length(2);
    expect(await store.get((await kept(store))[0] ?? "")).to.have.property("result");
  });

  it("is kept by the buyer too, who can show it if the buyer also runs a seller", async () => {
    const { buyer, journal, assignment } = await hired();
    const shop = await openSeller({ account: buyer.wallet.account, bought: journal });
    const { status, body } = await ask(shop, assignment);
    expect(status).to.equal(200);
    expect(readDisclosure(body, disclosedHireOf(assignment)).result).to.deep.equal({ result: 3 });
    expect((await ask(shop, assignment, { by: newWallet() })).status).to.equal(403);
    const elsewhere = await openSeller({ bought: journal });
    expect((await ask(elsewhere, assignment)).status).to.equal(404);
  });

  it("costs an agent that buys and sells at most 60 look-ups of single hires in a minute, half of them for its auditors, whatever strangers ask", async () => {
    const { buyer, journal, assignment } = await hired();
    let looked = 0;
    const settings: Parameters<typeof openSeller>[0] = {
      ...{ account: buyer.wallet.account, bought: journal, store: memoryStore() },
      auditNode: {
        ...auditNode,
        openOfHire: async (hire) => {
          looked++;
          return await auditNode.openOfHire(hire);
        },
      },
    };
    let shop = await openSeller(settings);
    stopped = Math.ceil(now() / 60_000) * 60_000;
    const askMany = async (by: typeof auditor) => {
      for (let n = 0; n < 70; n++)
        await ask(shop, { ...assignment, hire: `0x${"ab".repeat(32)}-${n}` }, { by });
    };
    const stranger = newWallet();
    await askMany(stranger);
    expect(looked).to.equal(30);
    expect((await ask(shop, assignment)).body.code).to.equal("node_unreachable");
    stopped += 60_000;
    expect((await ask(shop, assignment)).status).to.equal(200);
    await askMany(stranger);
    expect(looked).to.equal(60);
    expect((await ask(shop, assignment)).status, "an auditor that was found before").to.equal(200);
    await askMany(auditor);
    expect(looked).to.equal(90);
    expect((await ask(shop, assignment)).body.code).to.equal("node_unreachable");
    shop = await openSeller(settings);
    await askMany(stranger);
    expect(looked).to.equal(120);
    expect((await ask(shop, assignment)).status, "after a restart").to.equal(200);
  });

  it("is not kept by the seller or the buyer if the listing does not agree to audits", async () => {
    const store = memoryStore();
    const { audit: _, ...listing } = LISTING;
    const { journal } = await hired({ store, listings: [listing] });
    for (const one of [store, journal]) expect(await one.keys("disclosure")).to.deep.equal([]);
  });

  it("is kept for some days after the listing stopped agreeing to audits, because recent hires may still be drawn", async () => {
    const store = memoryStore();
    const account = newWallet().account;
    await openSeller({ store, account });
    const { audit: _, ...listing } = LISTING;
    const hireFrom = async () => {
      market.offers.length = 0;
      await openSeller({ store, account, listings: [listing] });
      await (await market.openBuyer({ now })).hire(ORDER);
      return (await store.keys("disclosure")).length;
    };
    expect(await hireFrom()).to.equal(1);
    ahead += 4 * DAY_MS;
    expect(await hireFrom()).to.equal(1);
  });

  it("is refused before the payment if nobody could show it later: the request is unsigned, or names no seller", async () => {
    const seller = await openSeller();
    const buyer = newWallet();
    const terms = { buyer_id: buyer.address, capability: MEAN, params: { data: [1] } };
    const post = async (body: unknown) => {
      const response = await seller.app.request("http://seller.test/hire", {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
      return [response.status, Reflect.get(Object(await response.json()), "code")];
    };
    const nonce = `0x${"ab".repeat(16)}`;
    expect(await post({ ...terms, protocol: "swarmwage/v0.2" })).to.deep.equal([400, "signature_required"]);
    const forAnyone = await signHireRequest({ ...terms, protocol: "swarmwage/v0.3", nonce }, buyer);
    expect(await post(forAnyone)).to.deep.equal([400, "signature_required"]);
    const forIt = { ...terms, protocol: "swarmwage/v0.3", nonce, seller_id: seller.address };
    expect((await post(await signHireRequest(forIt, buyer)))[0]).to.equal(402);
  });

  it("fails the buyer's verification if the receipt is for another result", async () => {
    const seller = await openSeller();
    between(market, seller, async (honest, input, init) => {
      const response = await honest(input, init);
      if (response.status !== 200 || !input.endsWith("/hire")) return response;
      return await withBody(response, (body) => ({ ...body, result: { result: 4 } }));
    });
    const buyer = await market.openBuyer({ now });
    const hire = await buyer.hire({
      ...ORDER,
      verify: () => ({ all_passed: true, checks: {}, details: {} }),
    });
    expect(hire.verification.checks).to.deep.equal({ receipt_hashes: false });
    expect(hire.verification.all_passed).to.equal(false);
  });

  it("is kept as the buyer signed it, even if the seller's handler changes the params", async () => {
    const { seller, assignment } = await hired({
      handlers: {
        [MEAN]: (params) => {
          const { data } = params as { data: number[] };
          const result = { result: data.reduce((sum, one) => sum + one, 0) / data.length };
          data.reverse();
          return result;
        },
      },
    });
    const { body } = await ask(seller, assignment);
    expect(readDisclosure(body, disclosedHireOf(assignment)).params).to.deep.equal({ data: [1, 2, 6] });
  });
});
