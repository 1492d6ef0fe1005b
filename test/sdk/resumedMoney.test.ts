import { expect } from "chai";
import type { HireRequest } from "tallystick-protocol/hire/hireRequest";
import type { Listing } from "tallystick-protocol/records/listing";
import { signBody } from "tallystick-protocol/records/record";
import { createBackground } from "tallystick-sdk/buyer/background";
import type { BuyerContext, BuyerMode, Conclusion } from "tallystick-sdk/buyer/buyerContext";
import { book } from "tallystick-sdk/buyer/concludeHire";
import { askedOf, findByKey, hireByKey } from "tallystick-sdk/buyer/hireByKey";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { JournalEntry } from "tallystick-sdk/buyer/journal";
import { KEPT_MS, type KeptHire, keptHires } from "tallystick-sdk/buyer/keptHires";
import { resumeHire, resumeHires } from "tallystick-sdk/buyer/resumeHires";
import type { Verify } from "tallystick-sdk/buyer/verifyResult";
import { base } from "tallystick-sdk/chain/paymentNetwork";
import { NoSellerError } from "tallystick-sdk/errors";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { receiptBody } from "../settlement/support/records.ts";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const BEGUN = 1_800_000_000_000;
/** The buyer gave the hire more time than its listing promises. */
const PROMISED_MS = 1_000;
const LATENCY_MS = 2_000;
const DAY_MS = 86_400_000;
const { account } = newWallet();
const buyer_id = account.address.toLowerCase();
const listing = {
  ...{ agent_id: `0x${"5e".repeat(20)}`, capability: "custom.acme.echo", price_usdc: "1.00" },
  ...{ endpoint: "http://seller.test", payment_mode: "platform_escrow:acme", max_latency_ms: PROMISED_MS },
} as Listing;
const PAYLOAD = { accepted: { network: "eip155:8453" } };
const entry = {
  ...{ hireId: "0x01", jobId: "job_1", startedAt: BEGUN, listing, maxPrice: "1000000", judge: "caller" },
  ...{
    request: { buyer_id, params: {}, max_latency_ms: LATENCY_MS } as unknown as HireRequest,
    telemetry: false,
  },
  ...{ signsUntil: BEGUN + 100, signed: { amount: "700", payload: PAYLOAD, validUntil: 0 }, key: "order-17" },
} as unknown as JournalEntry;
const NOT_KNOWN = { status: 404, body: {} };
const FAILED = { status: 200, body: { status: "failed", error: { code: "oops" } } };
const DONE = { status: 200, body: { status: "completed", result: 1 } };
const passed = (all_passed: boolean) => () => ({ all_passed, checks: {}, details: {} });

describe("the money of a hire that is resumed", () => {
  type Parameters = {
    entry?: Partial<JournalEntry>;
    seller?: { status: number; body: unknown };
    atMs?: number;
    verify?: () => { all_passed: boolean; checks: object; details: object };
    mode?: Partial<BuyerMode>;
    modeOf?: () => never;
    isUnderWay?: boolean;
  };
  /** A process that comes after the process that wrote the entry. `did` has everything that it does. */
  const openNext = async (parameters: Parameters) => {
    const { seller = NOT_KNOWN, atMs = 0, mode = {}, isUnderWay = false } = parameters;
    const did: string[] = [];
    const journal = memoryStore();
    const now = () => BEGUN + atMs;
    const kept = keptHires(journal, account, now);
    const startedAt = BEGUN;
    const of = { hireId: "0x01", jobId: "job_1", seller: listing.agent_id } as const;
    await kept.put({ key: "order-17", asked: "", startedAt, attempts: 1, state: "signed", ...of });
    await journal.put("hire/job_1", { ...entry, ...parameters.entry });
    const noted = (what: string) => async (_: string, amount?: bigint) =>
      void did.push(`${what}${amount ?? ""}`);
    const fake: Partial<BuyerMode> = {
      whenSent: "authorized",
      abandon: async () => {
        did.push("abandon");
        return "refunded";
      },
      isOver: async () => false,
      conclude: async (_, { all_passed }) => {
        did.push(all_passed ? "release" : "refund");
        return { money: "released", book: "spend" };
      },
      ...mode,
    };
    const context = {
      ...{ account, address: account.address.toLowerCase(), network: base, journal, now, kept },
      budget: { recall: noted("recall "), spend: noted("spend"), giveBack: noted("giveBack") },
      keyed: new Map(),
      ...{ underWay: new Set(isUnderWay ? ["job_1"] : []), verifiers: new Map() },
      background: { add: () => {} },
      reports: { flush: async () => {}, add: async () => void did.push("report") },
      modeOf: parameters.modeOf ?? (() => fake),
      sellerFetch: async () => Response.json(seller.body, { status: seller.status }),
    } as unknown as BuyerContext;
    return { did, context, journal, kept };
  };
  const resume = async (parameters: Parameters) => {
    const { did, context, journal, kept } = await openNext(parameters);
    const outcomes = await resumeHires(context, parameters.verify as Verify | undefined);
    const state = (await kept.get("order-17"))?.state;
    return { did, outcomes, state, isOpen: (await journal.get("hire/job_1")) !== undefined };
  };

  it("is taken back when the buyer's time is over, not before, and at once if the seller gave up", async () => {
    const verify = passed(true);
    const cases = [
      { seller: NOT_KNOWN, atMs: PROMISED_MS, isTaken: false },
      { seller: NOT_KNOWN, atMs: LATENCY_MS - 1, isTaken: false },
      { seller: NOT_KNOWN, atMs: LATENCY_MS, isTaken: true },
      { seller: FAILED, atMs: 0, isTaken: true },
    ];
    for (const { seller, atMs, isTaken } of cases) {
      const { did, outcomes, isOpen } = await resume({ verify, seller, atMs });
      expect(did, String(atMs)).to.deep.equal(["recall 700", ...(isTaken ? ["abandon"] : [])]);
      expect(outcomes[0], String(atMs)).to.include({
        isOver: false,
        money: isTaken ? "refunded" : "authorized",
      });
      expect(isOpen, "the next start looks again").to.equal(true);
    }
  });

  it("is not taken back and not released while only the caller can judge, however late it is", async () => {
    for (const seller of [DONE, FAILED, NOT_KNOWN]) {
      const { did, outcomes, isOpen } = await resume({ seller, atMs: 10 * LATENCY_MS });
      expect(did).to.deep.equal(["recall 700"]);
      expect(outcomes[0]).to.have.property("error").with.property("code", "verify_needed");
      expect(isOpen).to.equal(true);
    }
  });

  it("follows the caller's judgement", async () => {
    for (const isGood of [true, false]) {
      const { did, isOpen, state } = await resume({ verify: passed(isGood), seller: DONE });
      expect(did).to.deep.equal(["recall 700", isGood ? "release" : "refund", "spend"]);
      expect([isOpen, state]).to.deep.equal([false, "done"]);
    }
  });

  it("is released if the result had passed before, whatever the seller answers now and whoever can judge", async () => {
    const escrowOf = () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }) as const;
    const isOver = async () => ({ money: "paid", book: "spend" }) as const;
    for (const [seller, verify, atMs] of [
      [NOT_KNOWN, passed(true), LATENCY_MS],
      [NOT_KNOWN, passed(true), 0],
      [FAILED, passed(true), 0],
      [NOT_KNOWN, undefined, 10 * LATENCY_MS],
    ] as const) {
      const mode: Partial<BuyerMode> = { escrowOf, isOver };
      const resumed = await resume({
        entry: { isGood: true },
        seller,
        atMs,
        mode,
        ...(verify && { verify }),
      });
      expect(resumed.did, String(atMs)).to.deep.equal(["recall 700", "release", "spend"]);
      expect(resumed.outcomes[0], String(atMs)).to.include({ isOver: true, money: "paid" });
      // The earlier result is not stored under the hire's key, so it is asked for again while it may still come.
      expect(resumed.isOpen, String(atMs)).to.equal(seller !== FAILED);
    }
    const mode: Partial<BuyerMode> = { escrowOf, isOver };
    const worse = await resume({ entry: { isGood: true }, seller: DONE, verify: passed(false), mode });
    expect(worse.did, "another result").to.deep.equal(["recall 700", "release", "spend"]);
  });

  it("is paid for the result that passed before, which stays under the hire's key if the seller now answers a bad one", async () => {
    const mode: Partial<BuyerMode> = {
      escrowOf: () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }),
      isOver: async () => ({ money: "paid", book: "spend" }),
    };
    const { context, kept } = await openNext({ entry: { isGood: true }, seller: DONE, mode });
    const hire = { hireId: "0x01", jobId: "job_1", listing, amount: 700n, result: "good", money: "held" };
    await kept.done("order-17", { ...hire, receiptHash: null } as unknown as HireResult);
    const [outcome] = await resumeHires(context, passed(false) as unknown as Verify);
    expect(outcome).to.have.property("error").with.property("code", "garbage_answer");
    expect(await kept.get("order-17"))
      .to.have.property("hire")
      .that.includes({ result: "good", money: "paid" });
  });

  it("is noted as the seller's if the result passes and its release does not get through, and only then", async () => {
    for (const isGood of [true, false])
      for (const mode of ["escrow", "direct"]) {
        const conclude = async () => ({ money: "held", book: "open" }) as const;
        const escrowOf = () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }) as const;
        const fake: Partial<BuyerMode> = mode === "escrow" ? { conclude, escrowOf } : { conclude };
        const { context, journal } = await openNext({ seller: DONE, mode: fake });
        await resumeHires(context, passed(isGood) as unknown as Verify);
        const left = await journal.get<JournalEntry>("hire/job_1");
        expect(left, mode).to.include({ isReported: true, isGood: isGood && mode === "escrow" });
      }
  });

  it("is noted as the seller's while the release takes longer than the call waits", async () => {
    const real = globalThis.setTimeout;
    globalThis.setTimeout = ((run: () => void, ms: number) => real(run, ms === 10_000 ? 1 : ms)) as never;
    try {
      const escrowOf = () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }) as const;
      const conclude = () => new Promise<never>(() => {});
      const { context, journal } = await openNext({ seller: DONE, mode: { escrowOf, conclude } });
      const [outcome] = await resumeHires(context, goodOf);
      expect(outcome).to.have.nested.property("hire.money", "held");
      expect(await journal.get("hire/job_1")).to.include({ isGood: true });
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it("does not return to the journal if it is settled while the hire is noted as the seller's", async () => {
    const real = globalThis.setTimeout;
    globalThis.setTimeout = ((run: () => void, ms: number) => real(run, ms === 10_000 ? 1 : ms)) as never;
    try {
      const released = Promise.withResolvers<Conclusion>();
      const mode: Partial<BuyerMode> = {
        escrowOf: () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }),
        conclude: () => released.promise,
      };
      const { context, journal } = await openNext({ seller: DONE, mode });
      context.background = createBackground();
      const [deleted, put] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { get, put: write, delete: remove } = journal;
      journal.delete = async (key) => {
        await remove(key);
        deleted.resolve();
      };
      journal.put = async (key, value) => {
        await write(key, value);
        if (key === "hire/job_1") put.resolve();
      };
      let reads = 0;
      journal.get = async <T>(key: string) => {
        const entry = await get<T>(key);
        // The first read begins the resume, and the second is that of the note.
        if (key !== "hire/job_1" || ++reads !== 2) return entry;
        released.resolve({ money: "released", book: "spend" });
        await deleted.promise;
        return entry;
      };
      await resumeHires(context, goodOf);
      await put.promise;
      await context.background.idle();
      expect(await get("hire/job_1")).to.equal(undefined);
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it("stays in the journal if the release fails after the call has stopped waiting for it", async () => {
    const real = globalThis.setTimeout;
    globalThis.setTimeout = ((run: () => void, ms: number) => real(run, ms === 10_000 ? 1 : ms)) as never;
    try {
      const ended = Promise.withResolvers<Conclusion>();
      const mode: Partial<BuyerMode> = {
        escrowOf: () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }),
        conclude: () => ended.promise,
      };
      const { did, context, journal } = await openNext({ seller: DONE, mode });
      context.background = createBackground();
      const [outcome] = await resumeHires(context, goodOf);
      expect(outcome).to.have.nested.property("hire.money", "held");
      ended.resolve({ money: "held", book: "open" });
      await context.background.idle();
      expect(await journal.get("hire/job_1")).to.include({ isReported: true, isGood: true });
      expect(did).to.deep.equal(["recall 700"]);
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it("is not said to be held if the release of a result that had passed before does not get through", async () => {
    const resumed = await resume({
      ...{ entry: { isGood: true }, verify: passed(true), atMs: 10 * LATENCY_MS },
      mode: {
        escrowOf: () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }),
        conclude: async () => ({ money: "held", book: "open" }),
      },
    });
    expect(resumed.outcomes[0]).to.include({ isOver: false, money: "authorized" });
    expect([resumed.did, resumed.isOpen]).to.deep.equal([["recall 700"], true]);
  });

  it("is left alone if it is of another wallet that shares the journal, also before anything was signed", async () => {
    const request = { ...entry.request, buyer_id: newWallet().address };
    for (const more of [{}, { signed: undefined } as never]) {
      const resumed = await resume({
        entry: { request, ...more },
        verify: passed(true),
        seller: DONE,
        atMs: 101,
      });
      expect([resumed.did, resumed.outcomes, resumed.isOpen]).to.deep.equal([[], [], true]);
    }
  });

  it("is left alone if it was paid on another chain, which would say that nobody took the payment", async () => {
    const payload = { accepted: { network: "eip155:84532" } } as never;
    const signed = { amount: "700", payload, validUntil: 0 };
    const resumed = await resume({ entry: { signed }, verify: passed(true), atMs: 10 * LATENCY_MS });
    expect([resumed.did, resumed.outcomes, resumed.isOpen]).to.deep.equal([[], [], true]);
  });

  it("is booked when the chain shows its end, and only if it came back the hire's key has the failure at once", async () => {
    const endings: [Awaited<ReturnType<BuyerMode["isOver"]>>, string, string][] = [
      [{ money: "none", book: "giveBack" }, "giveBack", "failed"],
      [{ money: "refunded", book: "giveBack" }, "giveBack", "failed"],
      [{ money: "paid", book: "spend" }, "spend", "signed"],
      // Without a client, a payment that has expired counts as spent.
      [{ money: "authorized", book: "spend" }, "spend", "signed"],
      [false, "", "signed"],
    ];
    for (const [ending, booking, wanted] of endings) {
      const mode = { isOver: async () => ending };
      const { did, outcomes, isOpen, state } = await resume({ verify: passed(true), mode });
      const money = ending ? ending.money : "authorized";
      expect(did, money).to.deep.equal(["recall 700", ...(ending ? [booking] : [])]);
      expect(outcomes[0], money).to.include({ isOver: ending !== false, money });
      expect([isOpen, state], money).to.deep.equal([wanted === "signed", wanted]);
    }
  });

  it("is asked for its result again until a day after this was due, if the look that books it does not get the result", async () => {
    const mode = { isOver: async () => ({ money: "paid", book: "spend" }) as const };
    for (const latencyMs of [LATENCY_MS, 3 * DAY_MS])
      for (const [verify, code] of [
        [passed(true), "seller_timeout"],
        [undefined, "verify_needed"],
      ] as const) {
        const request = { ...entry.request, max_latency_ms: latencyMs };
        const { did, context, journal, kept } = await openNext({ entry: { request }, mode });
        const look = async (atMs: number) => {
          context.now = () => BEGUN + atMs;
          const [outcome] = await resumeHires(context, verify as Verify | undefined);
          expect(outcome, code).to.include({ isOver: true, money: "paid" });
          expect(outcome, code).to.have.nested.property("error.code", code);
          return [(await kept.get("order-17"))?.state, (await journal.get("hire/job_1")) !== undefined];
        };
        for (const atMs of [0, latencyMs + DAY_MS - 1])
          expect(await look(atMs), code).to.deep.equal(["signed", true]);
        expect(await look(latencyMs + DAY_MS), code).to.deep.equal(["failed", false]);
        expect(
          did.filter((what) => what.startsWith("recall")),
          "its amount is reserved once",
        ).to.have.length(1);
      }
  });

  it("gives its result to the next look, if the look that books it lacks the check", async () => {
    const mode = { isOver: async () => ({ money: "paid", book: "spend" }) as const };
    const { context, journal } = await openNext({ seller: DONE, mode });
    const [outcome] = await resumeHires(context);
    expect(outcome).to.have.nested.property("error.code", "verify_needed");
    expect((await resumeHires(context, goodOf))[0]).to.have.nested.property("hire.result.result", 1);
    expect(await journal.get("hire/job_1")).to.equal(undefined);
  });

  it("stays open if relay and chain do not answer", async () => {
    const away = () => Promise.reject(new Error("away"));
    const mode = { isOver: away, abandon: away };
    const { did, outcomes, isOpen } = await resume({ verify: passed(true), mode, atMs: LATENCY_MS });
    expect(did).to.deep.equal(["recall 700"]);
    expect(outcomes[0]).to.include({ isOver: false, money: "authorized" });
    expect(isOpen).to.equal(true);
  });

  it("waits if its escrow is no longer on the list", async () => {
    const modeOf = () => {
      throw new NoSellerError({ code: "no_recovery", message: "not on the list" });
    };
    const { did, outcomes, isOpen, state } = await resume({
      ...{ modeOf, verify: passed(true), atMs: 10 * LATENCY_MS },
    });
    expect(outcomes[0]).to.include({ isOver: false, money: "authorized", escrow: null });
    expect(outcomes[0])
      .to.have.property("error")
      .that.is.instanceOf(NoSellerError)
      .and.includes({ code: "no_recovery" });
    // The seller is not asked.
    expect(did).to.deep.equal(["recall 700"]);
    expect([isOpen, state]).to.deep.equal([true, "signed"]);
  });

  it("is reported once, before it is settled, however often the hire is resumed while the money is held", async () => {
    const seller = newWallet();
    const buyer = account.address.toLowerCase();
    const body = receiptBody({
      ...{ agent_id: seller.address, buyer, hire_id: "0x01" },
      ...{ capability: listing.capability, amount_usdc_atomic: "700" },
    });
    const receipt = {
      ...{ receipt_id: "1", buyer_id: buyer, seller_id: seller.address, tx_hash: "" },
      ...{ capability: listing.capability, price_paid_usdc: "0.0007", escrow_provider: null },
      ...{ payment_mode: "platform_escrow:acme", completed_at: 1 },
    };
    const answer = {
      ...{ status: "completed", protocol: "swarmwage/v0.3", receipt, result: 1, rating_token: null },
      verification: { checks: [], all_passed: true },
      signed_receipt: { body, signer: seller.address, signature: await signBody(body, seller) },
    };
    const mode: Partial<BuyerMode> = {
      escrowOf: () => ({ contract: listing.agent_id, escrowId: "0x02", deadline: 0 }),
      conclude: async () => {
        did.push("release");
        return { money: "held", book: "open" };
      },
    };
    const { did, context, journal } = await openNext({
      entry: { telemetry: true, listing: { ...listing, agent_id: seller.address } },
      ...{ seller: { status: 200, body: answer }, mode },
    });
    for (let n = 0; n < 3; n++) {
      const [outcome] = await resumeHires(context, passed(true) as unknown as Verify);
      expect(outcome).to.have.nested.property("hire.receiptIssues").that.deep.equals([]);
    }
    const again = ["recall 700", "release"];
    expect(did).to.deep.equal(["recall 700", "report", "release", ...again, ...again]);
    expect(await journal.get("hire/job_1")).to.include({ isReported: true });
  });

  it("returns to the budget if it was only reserved and no process can still sign for it", async () => {
    const unsigned = { ...entry };
    delete unsigned.signed;
    const early = await resume({ entry: { ...unsigned, signed: undefined } as never, atMs: 100 });
    expect([early.did, early.isOpen]).to.deep.equal([[], true]);
    const late = await resume({ entry: { ...unsigned, signed: undefined } as never, atMs: 101 });
    expect([late.did, late.isOpen]).to.deep.equal([["giveBack"], false]);
  });

  it("does not wait for other hires with slow sellers: eight hires are looked up at once", async () => {
    const { context, journal } = await openNext({});
    for (let n = 2; n <= 20; n++)
      await journal.put(`hire/job_${n}`, { ...entry, jobId: `job_${n}`, key: undefined });
    let [open, most] = [0, 0];
    context.sellerFetch = async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return Response.json(NOT_KNOWN.body, { status: 404 });
    };
    const outcomes = await resumeHires(context, passed(true) as unknown as Verify);
    expect([outcomes.length, most]).to.deep.equal([20, 8]);
    expect(context.underWay.size, "no hire counts as running now").to.equal(0);
  });

  it("does not wait for other hires that cannot be resumed, which are reported and stay in the journal", async () => {
    const { did, context, journal } = await openNext({ seller: DONE });
    let flushes = 0;
    context.reports.flush = async () => void flushes++;
    const away = new Error("the budget is away");
    const recall = async (hireId: string) => {
      if (hireId !== "0x01") throw away;
    };
    Object.assign(context.budget as object, { recall });
    // An entry that an older version wrote may lack a field.
    await journal.put("hire/job_0", { ...entry, jobId: "job_0", maxPrice: undefined });
    for (let n = 2; n <= 9; n++)
      await journal.put(`hire/job_${n}`, { ...entry, jobId: `job_${n}`, hireId: "0x02", key: undefined });
    const outcomes = await resumeHires(context, passed(true) as unknown as Verify);
    expect(did).to.deep.equal(["release", "spend"]);
    expect(flushes, "once by the hire that ended, once by the resume").to.equal(2);
    expect(context.underWay.size).to.equal(0);
    const broken = outcomes.filter((one) => "error" in one);
    expect([outcomes.length, broken.length]).to.deep.equal([10, 9]);
    for (const one of broken) {
      expect(one).to.include({ escrow: null, isOver: false, money: "authorized" });
      expect(one.error).to.include({
        code: "not_resumed",
        hint: "It stays in the journal. Resume it again.",
      });
      expect(await journal.get(`hire/${one.jobId}`)).not.to.equal(undefined);
    }
    const [of2] = broken.filter(({ jobId }) => jobId === "job_2");
    expect(of2).to.have.property("hireId", "0x02");
    expect(of2?.error).to.include({
      message: "The hire could not be resumed: the budget is away",
      cause: away,
    });
  });

  it("does not wait for a journal entry that cannot be read", async () => {
    const { did, context, journal } = await openNext({ seller: DONE });
    await journal.put("hire/job_0", { ...entry, jobId: "job_0" });
    const get = journal.get.bind(journal);
    journal.get = async <T>(key: string) => {
      if (key === "hire/job_0") throw new SyntaxError("Unexpected end of JSON input");
      return await get<T>(key);
    };
    const outcomes = await resumeHires(context, passed(true) as unknown as Verify);
    expect(outcomes.map(({ jobId }) => jobId)).to.deep.equal([entry.jobId]);
    expect(did).to.deep.equal(["recall 700", "release", "spend"]);
  });

  it("is judged by the schemas in the journal, whatever check the next process has", async () => {
    const judge = { input: {}, output: { type: "object", required: ["word"] } };
    for (const verify of [undefined, passed(true), passed(false)])
      for (const [result, did] of [
        [{ word: 1 }, "release"],
        [{ other: 1 }, "refund"],
      ] as const) {
        const seller = { status: 200, body: { status: "completed", ...result } };
        const resumed = await resume({ entry: { judge }, seller, ...(verify && { verify }) });
        expect(resumed.did).to.deep.equal(["recall 700", did, "spend"]);
      }
  });

  it("is settled by one of two resumes at the same time, and reports are sent after it", async () => {
    const { did, context } = await openNext({ seller: DONE });
    let flushes = 0;
    context.reports.flush = async () => void flushes++;
    const verify = passed(true) as unknown as Verify;
    const outcomes = await Promise.all([resumeHires(context, verify), resumeHires(context, verify)]);
    expect(outcomes.flat()).to.have.length(1);
    expect(did).to.deep.equal(["recall 700", "release", "spend"]);
    const before = flushes;
    expect(await resumeHires(context), "nothing is left").to.deep.equal([]);
    expect(flushes).to.equal(before + 1);
  });

  it("can be resumed without a budget, and with a budget that cannot recall", async () => {
    for (const budget of [undefined, { spend: async () => {}, giveBack: async () => {} }]) {
      const { context, journal } = await openNext({ seller: DONE });
      Object.assign(context, { budget });
      const [outcome] = await resumeHires(context, passed(true) as unknown as Verify);
      expect(outcome).to.include({ jobId: "job_1", hireId: "0x01", escrow: null });
      expect(await journal.keys("hire")).to.deep.equal([]);
    }
  });

  it("has the same error here and under the hire's key, with everything that identifies the hire", async () => {
    const escrow = { contract: listing.agent_id, escrowId: "0x02", deadline: 5 } as const;
    const ending = { money: "paid", book: "spend" } as const;
    const mode: Partial<BuyerMode> = { escrowOf: () => escrow, isOver: async () => ending };
    const { context, kept } = await openNext({ mode, seller: FAILED });
    const [outcome] = await resumeHires(context, passed(true) as unknown as Verify);
    expect(outcome).to.deep.include({ jobId: "job_1", hireId: "0x01", escrow, isOver: true, money: "paid" });
    expect(outcome).to.have.nested.property("error.money", "paid");
    const failed = await kept.get("order-17");
    expect(failed)
      .to.have.property("error")
      .that.deep.includes({
        ...{ code: "seller_refused", message: "The seller could not do the work.", seller: listing.agent_id },
        ...{ money: "paid", hireId: "0x01", jobId: "job_1" },
      });
    const [asked] = (await resume({ seller: DONE })).outcomes;
    expect(asked).to.have.property("error").that.includes({
      message: "The caller of this hire gave its own check.",
      hint: "Give `resume` the same `verify`.",
    });
  });

  it("has a progress: how many hires are left, and the outcome of each", async () => {
    const { context, journal } = await openNext({ seller: DONE });
    await journal.put("hire/job_2", { ...entry, jobId: "job_2", key: undefined });
    // Nothing was signed for this hire.
    await journal.put("hire/job_3", { ...entry, jobId: "job_3", key: undefined, signed: undefined });
    const told: [outcome: string | undefined, left: number][] = [];
    const outcomes = await resumeHires(
      context,
      goodOf,
      (outcome, left) => void told.push([outcome?.jobId, left]),
    );
    expect(told.map(([, left]) => left)).to.deep.equal([3, 2, 1, 0]);
    expect(told[0]).to.deep.equal([undefined, 3]);
    expect(told.slice(1).map(([jobId]) => jobId)).to.have.members(["job_1", "job_2", undefined]);
    expect(outcomes.map(({ jobId }) => jobId)).to.deep.equal(["job_1", "job_2"]);
    for (const outcome of outcomes) expect(outcome).to.have.nested.property("hire.money", "released");
  });

  it("stays as it is when a hire is resumed that is not in the journal", async () => {
    const { did, context } = await openNext({});
    expect(await resumeHire(context, "job_2", goodOf)).to.equal(undefined);
    expect(did).to.deep.equal([]);
  });

  it("is judged by the check that this process still has of its caller, and not by one for the standard's hires", async () => {
    const { did, context } = await openNext({ seller: DONE });
    context.verifiers.set("job_1", goodOf);
    await resumeHires(context);
    expect(did).to.deep.equal(["recall 700", "release", "spend"]);
    // Nothing else can judge this custom capability.
    const standard = await resume({ entry: { judge: "standard" }, seller: DONE, verify: passed(true) });
    expect(standard.did).to.deep.equal(["recall 700", "refund", "spend"]);
  });

  it("is asked for during five seconds, and then left to the next resume, also if the seller is away", async () => {
    const { now } = performance;
    for (const [answer, code] of [
      [() => Response.json({ status: "working" }), "seller_timeout"],
      [() => Promise.reject(new TypeError("fetch failed")), "seller_unreachable"],
    ] as const) {
      const { did, context } = await openNext({});
      let [asked, passedMs] = [0, 0];
      context.sellerFetch = async () => {
        asked++;
        // The first answer comes almost at once, the second one at the end of the time.
        passedMs = asked === 1 ? 4_000 : 5_000;
        return await answer();
      };
      performance.now = () => passedMs;
      try {
        const [outcome] = await resumeHires(context, goodOf);
        expect(outcome).to.deep.include({ isOver: false, money: "authorized" });
        expect(outcome).to.have.property("error").that.includes({ code });
      } finally {
        performance.now = now;
      }
      expect(asked, code).to.equal(2);
      expect(did, code).to.deep.equal(["recall 700"]);
    }
  });

  it("stays open if the caller's check does not end", async () => {
    const real = globalThis.setTimeout;
    // The limit of a resumed hire: 5 s for the look-up, and 20 s to judge and settle.
    globalThis.setTimeout = ((run: () => void, ms: number) => real(run, ms === 25_000 ? 20 : ms)) as never;
    try {
      const { did, context, journal } = await openNext({ seller: DONE });
      const [outcome] = await resumeHires(context, () => new Promise(() => {}));
      expect(outcome).to.include({ isOver: false, money: "authorized" });
      expect(outcome).to.have.property("error").that.includes({ code: "seller_timeout" });
      expect(did).to.deep.equal(["recall 700"]);
      expect(await journal.get("hire/job_1")).not.to.equal(undefined);
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it("is reported as not resumed with the reason, whatever prevented it", async () => {
    const refused = new NoSellerError({ code: "no_seller", message: "The budget is closed." });
    for (const [reason, error] of [
      ["away", { code: "not_resumed", message: "The hire could not be resumed: away" }],
      [refused, { code: "no_seller", message: "The budget is closed." }],
    ] as const) {
      const { context } = await openNext({ seller: DONE });
      Object.assign(context.budget as object, { recall: () => Promise.reject(reason) });
      const [outcome] = await resumeHires(context, goodOf);
      expect(outcome).to.deep.include({ jobId: "job_1", isOver: false, money: "authorized", escrow: null });
      expect(outcome).to.have.property("error").that.includes(error);
    }
    const modeOf = () => {
      throw new Error("the list of escrows is broken");
    };
    const { outcomes } = await resume({ modeOf, verify: passed(true), atMs: 10 * LATENCY_MS });
    expect(outcomes[0]).to.have.property("error").that.includes({ code: "not_resumed" });
    const unsigned = await openNext({ entry: { signed: undefined } as never, atMs: 101 });
    Object.assign(unsigned.context.budget as object, { giveBack: () => Promise.reject(new Error("away")) });
    const [outcome] = await resumeHires(unsigned.context, goodOf);
    expect(outcome, "no payment can be taken").to.include({ isOver: false, money: "none" });
  });

  it("is left alone while the hire runs in this process", async () => {
    const { did, outcomes, isOpen } = await resume({ isUnderWay: true, atMs: 10 * LATENCY_MS });
    expect([did, outcomes, isOpen]).to.deep.equal([[], [], true]);
  });

  const WANTED = { capability: listing.capability, params: {}, maxPriceUsdc: "1.00", maxLatencyMs: 1_000 };
  const KEY = "order-17";
  const again = (context: BuyerContext, verify: Verify) =>
    hireByKey(context, { ...WANTED, verify }, KEY, 1_000, () => expect.fail("it was hired again"));
  const about = { key: KEY, asked: askedOf(WANTED), startedAt: BEGUN, attempts: 1 };
  const signed = {
    ...about,
    state: "signed",
    hireId: "0x01",
    jobId: "job_1",
    seller: listing.agent_id,
  } as const;
  const result = { hireId: "0x01", jobId: "job_1", amount: "700", listing, result: 5 };
  const doneWith = (money: string) =>
    ({ ...about, state: "done", hire: { ...result, money } }) as unknown as KeptHire;
  const goodOf = passed(true) as unknown as Verify;

  it("is settled by the next call with the hire's key, which makes no second hire", async () => {
    const { did, context, kept } = await openNext({ seller: DONE });
    await kept.put(signed);
    expect(await again(context, goodOf)).to.include({ money: "released", isRepeated: true });
    expect(did).to.deep.equal(["recall 700", "release", "spend"]);
    expect(await kept.get(KEY)).to.include({ state: "done" });
    expect(await again(context, goodOf), "and from then on is only read").to.include({ money: "released" });
    expect(did).to.have.length(3);
  });

  it("is named in the error of a call with the hire's key while the seller does not answer", async () => {
    const { did, context, kept } = await openNext({ atMs: LATENCY_MS });
    await kept.put(signed);
    expect(await rejection(again(context, goodOf))).to.include({
      code: "seller_timeout",
      money: "authorized",
    });
    expect(did).to.deep.equal(["recall 700", "abandon"]);
    const other = { ...WANTED, maxPriceUsdc: "2.00" };
    expect(
      await rejection(hireByKey(context, other, KEY, 1_000, () => expect.fail("it was hired"))),
    ).to.include({ code: "idempotency_key_reused", field: "idempotencyKey" });
  });

  it("is not paid again by a call with the hire's key if the journal has no entry of the hire", async () => {
    const { context, kept, journal } = await openNext({ seller: DONE });
    await kept.put(signed);
    await journal.delete("hire/job_1");
    const error = await rejection(again(context, goodOf));
    expect(error).to.include({ code: "result_lost", money: "authorized", seller: listing.agent_id });
    expect(error).to.include({ hireId: "0x01", jobId: "job_1" });
  });

  it("is with the wallet and the chain that paid, if another wallet or chain uses the hire's key", async () => {
    const request = { ...entry.request, buyer_id: newWallet().address };
    const payload = { accepted: { network: "eip155:84532" } } as never;
    for (const other of [{ request }, { signed: { amount: "700", payload, validUntil: 0 } }]) {
      const { did, context, kept } = await openNext({ entry: other, seller: DONE });
      await kept.put(signed);
      const error = await rejection(again(context, goodOf));
      expect(error).to.include({ code: "hire_elsewhere", money: "authorized", jobId: "job_1" });
      expect(error).to.include({
        message: "This hire was paid by another wallet that shares the journal, or on another chain.",
        hint: "Resume it with the settings that paid for it. For a new hire give another key.",
      });
      expect(did).to.deep.equal([]);
    }
  });

  it("is left alone by calls with the hire's key while the hire runs in this process", async () => {
    const { did, context, kept } = await openNext({ isUnderWay: true });
    await kept.put(signed);
    expect(await rejection(again(context, goodOf))).to.include({ code: "hire_under_way" });
    await kept.put(doneWith("held"));
    expect(await again(context, goodOf)).to.include({ money: "held", result: 5 });
    context.keyed.set(KEY, {} as never);
    expect(await findByKey(context, KEY)).to.deep.equal({ kept: doneWith("held") });
    expect(did).to.deep.equal([]);
  });

  it("is looked up again after a result while it is open, and not after it is settled", async () => {
    for (const money of ["held", "authorized"]) {
      const ended = await openNext({ seller: DONE });
      await ended.kept.put(doneWith(money));
      expect(await again(ended.context, goodOf), money).to.include({ money: "released" });
      const late = await openNext({ atMs: LATENCY_MS });
      await late.kept.put(doneWith(money));
      expect(await again(late.context, goodOf), money).to.include({ money: "refunded", result: 5 });
    }
    for (const money of ["paid", "released", "refunded", "none"]) {
      const { did, context, kept } = await openNext({ seller: DONE });
      await kept.put(doneWith(money));
      expect(await again(context, goodOf), money).to.deep.include({ money, result: 5, amount: 700n });
      expect(did, money).to.deep.equal([]);
    }
  });

  it("stays in the journal while its result is not stored, and counts once in the budget", async () => {
    for (const by of ["resume", "call"]) {
      const { did, context, journal, kept } = await openNext({ seller: DONE, entry: { key: KEY } });
      await kept.put(signed);
      await book({ context, hireId: "0x01", jobId: "job_1", key: KEY }, { money: "paid", book: "spend" });
      expect(did.splice(0)).to.deep.equal(["spend"]);
      expect(await journal.get("hire/job_1"), "the process was killed here").not.to.equal(undefined);
      if (by === "resume")
        expect((await resumeHires(context, goodOf))[0]).to.have.nested.property("hire.result");
      expect(await again(context, goodOf), by).to.have.property("result");
      expect(did, by).not.to.include("recall 700");
      expect(await journal.get("hire/job_1"), by).to.equal(undefined);
    }
  });

  it("keeps its result within reach if it is booked and one resume cannot get or judge the result", async () => {
    const spent = { money: "paid", book: "spend" } as const;
    const unheard = { seller: NOT_KNOWN, verify: goodOf, code: "seller_timeout" };
    const unjudged = { seller: DONE, verify: undefined, code: "verify_needed" };
    for (const { seller, verify, code } of [unheard, unjudged]) {
      const { context, journal, kept } = await openNext({
        ...{ seller, atMs: LATENCY_MS, entry: { key: KEY } },
        mode: { isOver: async () => spent, abandon: async () => "paid" },
      });
      await kept.put(signed);
      await book({ context, hireId: "0x01", jobId: "job_1", key: KEY }, spent);
      const [outcome] = await resumeHires(context, verify);
      expect(outcome).to.have.nested.property("error.code", code);
      expect(await kept.get(KEY), code).to.include({ state: "signed", money: "paid" });
      expect(await journal.get("hire/job_1"), code).not.to.equal(undefined);
      const error = await rejection(again(context, verify as Verify));
      expect(error, code).to.include({ code, money: "paid" });
      expect(error.hint, code).to.match(verify ? /^The seller has the money\. / : /the same `verify`/);
      context.sellerFetch = async () => Response.json(DONE.body);
      expect(await again(context, goodOf), code).to.have.nested.property("result.result", 1);
      expect(await journal.get("hire/job_1"), code).to.equal(undefined);
    }
  });

  it("ends with a failure if it is booked and the seller says that no result comes, or got nothing", async () => {
    const cases = [
      { seller: FAILED, ending: { money: "paid", book: "spend" } },
      { seller: NOT_KNOWN, ending: { money: "none", book: "giveBack" } },
      { seller: NOT_KNOWN, ending: { money: "refunded", book: "giveBack" } },
    ] as const;
    for (const { seller, ending } of cases) {
      const mode = { isOver: async () => ending };
      const { context, journal, kept } = await openNext({ seller, mode, entry: { key: KEY } });
      await kept.put(signed);
      await book({ context, hireId: "0x01", jobId: "job_1", key: KEY }, ending);
      await resumeHires(context, goodOf);
      expect(await kept.get(KEY), ending.money).to.include({ state: "failed" });
      expect(await journal.get("hire/job_1"), ending.money).to.equal(undefined);
    }
  });

  it("leaves the journal when it settles, also if its result was deleted meanwhile to make room", async () => {
    const { context, journal, kept } = await openNext({});
    await kept.put(signed);
    context.kept = keptHires(journal, account, () => BEGUN, 0);
    await context.kept.done(KEY, { ...result, amount: 700n, money: "held", receiptHash: "" } as never);
    expect(await kept.get(KEY)).to.include({ state: "signed", isNote: true });
    await book({ context, hireId: "0x01", jobId: "job_1", key: KEY }, { money: "released", book: "spend" });
    expect(await journal.get("hire/job_1")).to.equal(undefined);
    expect(await kept.get(KEY)).to.include({ state: "signed", money: "paid" });
  });

  it("leaves the journal without its result when its key is forgotten", async () => {
    const spent = { money: "paid", book: "spend" } as const;
    const { context, journal, kept } = await openNext({ mode: { isOver: async () => spent } });
    await kept.put(signed);
    await book({ context, hireId: "0x01", jobId: "job_1", key: KEY }, spent);
    context.kept = keptHires(journal, account, () => BEGUN + KEPT_MS);
    expect(await resumeHires(context, goodOf)).to.deep.equal([]);
    expect(await journal.get("hire/job_1")).to.equal(undefined);
  });

  it("is not settled again if only its entry in the journal is left", async () => {
    const { did, context, journal, kept } = await openNext({ seller: DONE, entry: { key: KEY } });
    await kept.put(signed);
    await kept.settled(KEY, "job_1", { money: "released" });
    await kept.done(KEY, { ...result, amount: 700n, money: "released", receiptHash: "" } as never);
    expect(await resumeHires(context, goodOf)).to.deep.equal([]);
    expect(did).to.deep.equal([]);
    expect(await journal.get("hire/job_1")).to.equal(undefined);
  });

  it("does not remove an earlier result, even if the seller has forgotten the job", async () => {
    for (const money of ["paid", "none"] as const) {
      const ending = { money, book: money === "paid" ? "spend" : "giveBack" } as const;
      const { context, kept } = await openNext({ mode: { isOver: async () => ending } });
      await kept.put(doneWith("authorized"));
      const [outcome] = await resumeHires(context, goodOf);
      expect(outcome).to.include({ isOver: true, money });
      expect(await again(context, goodOf)).to.deep.include({ money, result: 5 });
      expect((await findByKey(context, KEY))?.hire).to.deep.include({ money, result: 5 });
    }
  });

  it("changes nothing under a key that does not know the hire, because its signature was undone", async () => {
    const later = { ...result, jobId: "job_2", money: "paid" };
    const states = [
      { ...about, state: "open" },
      { ...about, state: "running", until: 0 },
      { ...signed, jobId: "job_2" },
      { ...about, state: "done", hire: later },
    ] as unknown as KeptHire[];
    const mode = { isOver: async () => ({ money: "none", book: "giveBack" }) as const };
    for (const state of states) {
      // The payment was never sent, so a seller that has a result lies.
      for (const seller of [NOT_KNOWN, DONE]) {
        const { context, journal, kept } = await openNext({ mode, seller });
        await kept.put(state);
        expect(await resumeHires(context, goodOf)).to.have.length(1);
        expect(await kept.get(KEY), state.state).to.deep.equal(state);
        expect(await journal.get("hire/job_1"), state.state).to.equal(undefined);
      }
    }
  });

  it("is known under the hire's key if it is settled after the result, or just before the result is stored", async () => {
    const tx = `0x${"7a".repeat(32)}` as const;
    const of = { hireId: "0x01", jobId: "job_1", key: KEY } as const;
    const end = { money: "released", tx, book: "spend" } as const;
    const after = await openNext({});
    await after.kept.put(doneWith("held"));
    await book({ context: after.context, ...of }, end);
    const before = await openNext({});
    await before.kept.put(signed);
    await book({ context: before.context, ...of }, end);
    await before.kept.done(KEY, { ...result, amount: 700n, money: "held", receiptHash: "" } as never);
    for (const { context } of [after, before])
      expect(await again(context, goodOf)).to.deep.include({
        money: "released",
        settlementTx: tx,
        result: 5,
      });
  });

  it("has a receipt that is asked for again by a call with the hire's key while its report waits", async () => {
    const hash = "ab".repeat(32);
    const without = {
      ...about,
      state: "done",
      hire: { ...result, money: "paid", receiptHash: null, ratingToken: null },
    } as unknown as KeptHire;
    const cases = [
      { isWaiting: true, flush: "finds", receiptHash: hash, flushes: 1 },
      { isWaiting: true, flush: "finds nothing", receiptHash: null, flushes: 1 },
      { isWaiting: true, flush: "fails", receiptHash: null, flushes: 1 },
      { isWaiting: true, flush: "forgets", receiptHash: null, flushes: 1 },
      { isWaiting: false, flush: "finds", receiptHash: null, flushes: 0 },
    ];
    for (const { isWaiting, flush, receiptHash, flushes } of cases) {
      const { context, journal, kept } = await openNext({});
      await kept.put(without);
      if (isWaiting) await journal.put("report/job_1", {});
      let flushed = 0;
      context.reports.flush = async () => {
        flushed++;
        if (flush === "finds") await kept.receipt(KEY, "job_1", hash);
        if (flush === "fails") throw new Error("away");
        if (flush === "forgets") for (const key of await journal.keys("call")) await journal.delete(key);
      };
      expect(await again(context, goodOf), flush).to.deep.include({ receiptHash, result: 5 });
      expect(flushed, flush).to.equal(flushes);
    }
    const { context, journal, kept } = await openNext({});
    await kept.put({ ...without, hire: { ...result, money: "paid", receiptHash: hash } } as never);
    await journal.put("report/job_1", {});
    context.reports.flush = () => expect.fail("the receipt is known");
    expect(await again(context, goodOf)).to.include({ receiptHash: hash });
  });

  it("is not said to be unknown when the journal cannot be read", async () => {
    const { context, journal, kept } = await openNext({ seller: DONE });
    await kept.put(signed);
    const get = journal.get.bind(journal);
    journal.get = async <T>(key: string) => {
      if (key === "hire/job_1") throw new SyntaxError("Unexpected end of JSON input");
      return await get<T>(key);
    };
    expect(await rejection(findByKey(context, KEY, goodOf))).to.be.instanceOf(SyntaxError);
  });

  it("can be found by the hire's key in every state, and an unknown key gives nothing", async () => {
    const { context, kept } = await openNext({ seller: DONE });
    expect(await findByKey(context, "unknown")).to.equal(undefined);
    for (const open of [
      { ...about, state: "running", until: 0 },
      { ...about, state: "open" },
    ] as KeptHire[]) {
      await kept.put(open);
      expect(await findByKey(context, KEY)).to.deep.equal({ kept: open });
    }
    await kept.put(signed);
    expect((await findByKey(context, KEY, goodOf))?.hire).to.include({ money: "released" });
    await kept.put(signed);
    expect((await findByKey(context, KEY, goodOf))?.error).to.include({ code: "result_lost" });
  });
});
