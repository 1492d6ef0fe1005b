import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type SignedRecord, signBody } from "tallystick-protocol/records/record";
import { createReports, type Report } from "tallystick-sdk/buyer/reports";
import { base } from "tallystick-sdk/chain/paymentNetwork";
import { createReceiptOutbox } from "tallystick-sdk/seller/receiptOutbox";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { endAtEveryWrite } from "../support/endAtEveryWrite.ts";
import { newWallet } from "./support/sdkChain.ts";

const DAY_MS = 86_400_000;
const HASH = "ab".repeat(32);
const SELLER = "http://seller.test";
const NODE = "http://node.test";
/** After these answers a later attempt may succeed. The answers in FINAL do not change with a repetition. */
const PASSING = [404, 408, 429, 500, 502, 503];
const FINAL = [400, 401, 409, 422];

/** The ledger's answer when it has settled a record. */
const TAKEN = { status: 201, body: { hash: "ab".repeat(32) } };

type Asked = { path: string; body: unknown };

/** A node and a seller that give these answers. `null` means that there is no connection. */
const network = (answer: (it: Asked) => { status: number; body?: unknown } | null) => {
  const asked: Asked[] = [];
  const fetch = async (input: string, init?: RequestInit): Promise<Response> => {
    const body: unknown = init?.body === undefined ? undefined : JSON.parse(String(init.body));
    const it = { path: new URL(input).pathname, body };
    asked.push(it);
    const said = answer(it);
    if (said === null) throw new TypeError("fetch failed");
    return Response.json(said.body ?? {}, { status: said.status });
  };
  return { asked, fetch };
};

describe("a buyer's reports on their way to the ledger", () => {
  const { account } = newWallet();
  const report: Report = {
    ...{ jobId: "job_1", endpoint: SELLER as Report["endpoint"], receiptHash: HASH, since: 0 },
    telemetry: { latencyMs: 12, verification: { all_passed: true, checks: {} } },
  };
  let time: number;
  let store: KeyValueStore;
  beforeEach(() => {
    time = 0;
    store = memoryStore();
  });
  const open = (
    fetch: ReturnType<typeof network>["fetch"],
    onReceipt?: (key: string, jobId: string, receiptHash: string) => Promise<void>,
  ) =>
    createReports({
      ...{ account, baseUrl: NODE, fetch, sellerFetch: fetch, store, now: () => time, onReceipt },
      ledger: async () => "local",
    });

  it("wait after an answer that may change, and are given up after an answer that cannot change", async () => {
    for (const status of [...PASSING, ...FINAL, null]) {
      store = memoryStore();
      const { asked, fetch } = network(() =>
        status === null ? null : { status, body: { code: "why_not" } },
      );
      const reports = open(fetch);
      await reports.add(report);
      await reports.flush();
      const isKept = status === null || PASSING.includes(status);
      expect(await reports.waiting(), String(status)).to.equal(isKept ? 1 : 0);
      expect(asked, String(status)).to.have.length(1);
    }
  });

  it("are sent by the next round if the disk failed in this one", async () => {
    const { asked, fetch } = network(() => TAKEN);
    const { keys } = store;
    const reports = open(fetch);
    await reports.add(report);
    let fails = true;
    store.keys = async (folder) => {
      if (fails) throw new Error("EMFILE: too many open files");
      return await keys(folder);
    };
    const rounds = [reports.flush(), reports.flush()];
    for (const seen of await Promise.allSettled(rounds)) expect(seen.status).to.equal("rejected");
    fails = false;
    await reports.flush();
    expect([asked.length, await reports.waiting()]).to.deep.equal([1, 0]);
  });

  it("do not wait for one that was refused and cannot be deleted, and this one waits like others that failed", async () => {
    const refused = "cd".repeat(32);
    const { asked, fetch } = network(({ body }) =>
      Object(body).body?.receipt === refused ? { status: 400, body: { code: "why_not" } } : TAKEN,
    );
    const reports = open(fetch);
    await reports.add({ ...report, jobId: "job_0", receiptHash: refused });
    for (let n = 1; n < 20; n++) await reports.add({ ...report, jobId: `job_${n}` });
    const { delete: remove } = store;
    store.delete = async (key) => {
      if (key === "report/job_0") throw new Error("EROFS: read-only file system");
      await remove(key);
    };
    await reports.flush();
    expect([asked.length, await reports.waiting()]).to.deep.equal([20, 1]);
    await reports.flush();
    expect(asked, "not sent again at once").to.have.length(20);
    store.delete = remove;
    time += 2_000;
    await reports.flush();
    expect([asked.length, await reports.waiting()]).to.deep.equal([21, 0]);
  });

  it("are sent again with growing pauses of up to ten minutes, for a week", async () => {
    const { asked, fetch } = network(() => ({ status: 503 }));
    const reports = open(fetch);
    time = DAY_MS;
    await reports.add({ ...report, since: DAY_MS });
    const pauses: number[] = [];
    for (let last = time; pauses.length < 12; time += 500) {
      const before = asked.length;
      await reports.flush();
      if (asked.length === before) continue;
      if (before > 0) pauses.push(time - last);
      last = time;
    }
    expect(pauses.slice(0, 3)).to.deep.equal([2_000, 4_000, 8_000]);
    expect(pauses.slice(-2)).to.deep.equal([600_000, 600_000]);
    time = 8 * DAY_MS;
    await reports.flush();
    expect(await reports.waiting(), "after a week").to.equal(1);
    time = 8 * DAY_MS + 600_000;
    await reports.flush();
    expect(await reports.waiting(), "after more than a week").to.equal(0);
  });

  it("wait for the receipt that they are about, and are removed only when the ledger has them", async () => {
    let receipt: string | null = null;
    const { asked, fetch } = network(({ path }) =>
      path === "/telemetry" ? TAKEN : { status: 200, body: { receipt_hash: receipt } },
    );
    const reports = open(fetch);
    await reports.add({ ...report, receiptHash: null });
    await reports.flush();
    expect(asked.map(({ path }) => path)).to.deep.equal(["/jobs/job_1"]);
    expect(await reports.waiting()).to.equal(1);
    for (const wrong of ["ABC", HASH.toUpperCase(), `${HASH}0`]) {
      time += 700_000;
      receipt = wrong;
      await reports.flush();
      expect(await reports.waiting(), wrong).to.equal(1);
    }
    time += 700_000;
    receipt = HASH;
    await reports.flush();
    expect(asked.at(-1)).to.include({ path: "/telemetry" });
    const { body } = Object(asked.at(-1)?.body) as SignedRecord;
    expect(body).to.include({ receipt: HASH, latency_ms: 12 });
    expect(await reports.waiting()).to.equal(0);
  });

  it("with a receipt ask the ledger for its entry, which the hire's key gets, and tell only what was measured", async () => {
    const receipt = { body: { hire_id: "1" } as RecordBody, signer: "0x", signature: "0x" } as const;
    const telemetry = { latencyMs: 12, verification: { all_passed: true, checks: {} } };
    const bare: Report = { jobId: "job_1", endpoint: report.endpoint, since: 0 };
    const cases: [more: Partial<Report>, paths: string[], told: string[]][] = [
      [{ receipt, telemetry }, ["/v1/receipts", "/telemetry"], []],
      [{ receipt, key: "k" }, ["/v1/receipts"], [`k job_1 ${HASH}`]],
      [{ receipt, telemetry, key: "k" }, ["/v1/receipts", "/telemetry"], [`k job_1 ${HASH}`]],
      [{ receipt }, ["/v1/receipts"], []],
      [{ receiptHash: HASH, telemetry }, ["/telemetry"], []],
      [{}, ["/jobs/job_1"], []],
    ];
    for (const [more, paths, told] of cases) {
      const { asked, fetch } = network(({ path }) =>
        path === "/jobs/job_1" ? { status: 200, body: { receipt_hash: HASH } } : TAKEN,
      );
      const heard: string[] = [];
      const reports = open(fetch, async (...told) => void heard.push(told.join(" ")));
      await reports.add({ ...bare, ...more });
      await reports.flush();
      const at = JSON.stringify(more);
      expect([asked.map(({ path }) => path), heard, await reports.waiting()], at).to.deep.equal([
        paths,
        told,
        0,
      ]);
      if ("receipt" in more) expect(asked[0]?.body, at).to.deep.equal(receipt);
    }
    const { fetch } = network(() => TAKEN);
    const withoutListener = open(fetch);
    await withoutListener.add({ ...bare, receipt, key: "k" });
    await withoutListener.flush();
    expect(await withoutListener.waiting()).to.equal(0);
  });

  it("about a free hire give the seller the buyer's signature, and no verdict to the ledger", async () => {
    const freeReceipt: RecordBody = { hire_id: "1" };
    let receipt: string | null = null;
    const { asked, fetch } = network(() => ({ status: 200, body: { receipt_hash: receipt } }));
    const reports = open(fetch);
    await reports.add({ jobId: "job_1", endpoint: report.endpoint, freeReceipt, since: 0 });
    await reports.flush();
    expect(await reports.waiting(), "the ledger does not have the receipt").to.equal(1);
    await reports.flush();
    expect(asked, "not asked again at once").to.have.length(1);
    [time, receipt] = [2_000, HASH];
    await reports.flush();
    expect(await reports.waiting()).to.equal(0);
    const signature = await signBody(freeReceipt, { account });
    const path = "/jobs/job_1/countersignature";
    const one = { path, body: { buyer_signature: signature } };
    expect(asked).to.deep.equal([one, one]);
  });

  it("about a paid hire whose receipt the seller does not let the buyer sign ask the ledger after a minute", async () => {
    const freeReceipt: RecordBody = { hire_id: "1" };
    const receipt = { body: freeReceipt, signer: "0x", signature: "0x" } as const;
    const { asked, fetch } = network(({ path }) =>
      path.endsWith("/countersignature")
        ? { status: 409, body: { code: "no_countersignature_wanted" } }
        : TAKEN,
    );
    const reports = open(fetch);
    await reports.add({ jobId: "job_1", endpoint: report.endpoint, receipt, freeReceipt, since: 0 });
    await reports.flush();
    expect(asked.map(({ path }) => path)).to.deep.equal(["/jobs/job_1/countersignature"]);
    time = 61_000;
    await reports.flush();
    expect(asked.map(({ path }) => path).slice(1, 3)).to.deep.equal([
      "/jobs/job_1/countersignature",
      "/v1/receipts",
    ]);
    expect(await reports.waiting()).to.equal(0);
  });

  it("about a free hire ask only the seller, however long it does not take the buyer's signature", async () => {
    const freeReceipt: RecordBody = { hire_id: "1", amount_usdc_atomic: "0" };
    const receipt = { body: freeReceipt, signer: "0x", signature: "0x" } as const;
    const { asked, fetch } = network(({ path }) =>
      path.endsWith("/countersignature") ? { status: 503 } : TAKEN,
    );
    const reports = open(fetch);
    await reports.add({ jobId: "job_1", endpoint: report.endpoint, receipt, freeReceipt, since: 0 });
    for (const at of [0, 61_000, DAY_MS]) {
      time = at;
      await reports.flush();
    }
    // The receipt counts for nothing without the buyer's signature.
    expect(asked.map(({ path }) => path)).to.deep.equal(Array(3).fill("/jobs/job_1/countersignature"));
    expect(await reports.waiting()).to.equal(1);
  });

  it("of another wallet that shares the journal wait for that wallet", async () => {
    const { asked, fetch } = network(() => TAKEN);
    const reports = open(fetch);
    const receipt = {
      body: { buyer: newWallet().address } as RecordBody,
      signer: "0x",
      signature: "0x",
    } as const;
    const bare = { endpoint: report.endpoint, since: 0 };
    await reports.add({ ...bare, jobId: "job_1", receipt, telemetry: report.telemetry as never });
    await reports.add({ ...bare, jobId: "job_2", freeReceipt: receipt.body });
    await reports.flush();
    expect([asked, await reports.waiting()]).to.deep.equal([[], 2]);
    const mine = { ...receipt, body: { buyer: account.address.toLowerCase() } };
    await reports.add({ ...bare, jobId: "job_3", receipt: mine, telemetry: report.telemetry as never });
    await reports.flush();
    expect([asked.length, await reports.waiting()]).to.deep.equal([2, 2]);
  });

  it("forget earlier failures after a success", async () => {
    let status = 503;
    const { asked, fetch } = network(() => (status === 201 ? TAKEN : { status }));
    const reports = open(fetch);
    await reports.add(report);
    await reports.flush();
    [time, status] = [2_000, 201];
    await reports.flush();
    expect(await reports.waiting()).to.equal(0);
    // Another report about the same job begins with the shortest pause.
    status = 503;
    await reports.add(report);
    await reports.flush();
    expect(asked, "sent at once").to.have.length(3);
    time += 2_000;
    await reports.flush();
    expect(asked).to.have.length(4);
  });

  it("of hires on another chain wait for a buyer on that chain, because the ledger of this one refuses them", async () => {
    for (const isFree of [false, true])
      for (const [of, sent] of [
        ["eip155:84532", 0],
        ["base-sepolia", 0],
        ["eip155:8453", 1],
        ["base", 1],
        [undefined, 1],
      ] as const) {
        store = memoryStore();
        const taken = { status: 201, body: { hash: HASH, receipt_hash: HASH } };
        const { asked, fetch } = network(() => taken);
        const reports = createReports({
          ...{ account, baseUrl: NODE, fetch, sellerFetch: fetch, store, now: () => time, network: base },
          ledger: async () => "local",
        });
        const body = { hire_id: "1", ...(of && { network: of }) } as RecordBody;
        const receipt = { body, signer: "0x", signature: "0x" } as const;
        const { jobId, endpoint } = report;
        await reports.add({ jobId, endpoint, since: 0, ...(isFree ? { freeReceipt: body } : { receipt }) });
        await reports.flush();
        const isSent = asked.length > 0;
        expect([isSent, await reports.waiting()], `${isFree} ${of}`).to.deep.equal([
          sent === 1,
          sent ? 0 : 1,
        ]);
      }
  });

  it("wait after a success that names no entry, because a proxy may have answered", async () => {
    const { fetch } = network(() => ({ status: 200, body: {} }));
    const reports = open(fetch);
    await reports.add(report);
    await reports.flush();
    expect(await reports.waiting()).to.equal(1);
  });

  it("are sent at most a hundred in a round, eight at once, and failed reports wait behind the others", async () => {
    let [open_, most] = [0, 0];
    const { asked, fetch } = network(() => ({ status: 503 }));
    const reports = open(async (...given) => {
      most = Math.max(most, ++open_);
      await new Promise((resolve) => setImmediate(resolve));
      open_--;
      return await fetch(...given);
    });
    for (let n = 0; n < 105; n++) await reports.add({ ...report, jobId: `job_${n}`, receiptHash: null });
    await reports.flush();
    expect([asked.length, most]).to.deep.equal([100, 8]);
    await reports.flush();
    expect(asked).to.have.length(105);
    await reports.flush();
    expect(asked).to.have.length(105);
    expect(await reports.waiting()).to.equal(105);
  });

  it("that are added during a round are sent in the next round, which waits for the first", async () => {
    const ends: (() => void)[] = [];
    const { asked, fetch } = network(() => TAKEN);
    const reports = open(async (...given) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return await fetch(...given);
    });
    const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
    await reports.add(report);
    const first = reports.flush();
    await turn();
    await reports.add({ ...report, jobId: "job_2" });
    const [second, same] = [reports.flush(), reports.flush()];
    expect(second).to.equal(same);
    await turn();
    expect([ends.length, asked.length]).to.deep.equal([1, 0]);
    ends.shift()?.();
    await first;
    while (ends.length === 0) await turn();
    ends.shift()?.();
    await second;
    expect([asked.length, await reports.waiting()]).to.deep.equal([2, 0]);
  });

  it("reach the ledger even if their process ends at any write", async () => {
    await endAtEveryWrite<{ store: KeyValueStore; sent: number }>({
      open: async () => ({ store: memoryStore(), sent: 0 }),
      run: async (scene, process) => {
        store = process.store(scene.store);
        const { fetch } = network(() => {
          scene.sent++;
          return TAKEN;
        });
        const reports = open(process.cut(fetch));
        await reports.add(report);
        await reports.flush();
      },
      resume: async (scene) => {
        ({ store } = scene);
        const { fetch } = network(() => {
          scene.sent++;
          return TAKEN;
        });
        await open(fetch).flush();
      },
      check: async (scene, at) => {
        expect(await scene.store.keys("report"), at).to.deep.equal([]);
        if (at !== "at write 0") expect(scene.sent, at).to.be.at.least(1);
      },
    });
  });
});

describe("a seller's receipts on their way to the ledger", () => {
  const record = { type: "receipt", body: { hire_id: "1" } as RecordBody, signer: "0x", signature: "0x" };
  const tokens = { buyer: "b", seller: "s" };
  const known = { status: 201, body: { hash: HASH, rating_tokens: tokens } };
  const open = (parameters: {
    store: KeyValueStore;
    fetch: ReturnType<typeof network>["fetch"];
    now?: () => number;
    onSettled?: (key: string) => Promise<void>;
    log?: (sentence: string, details?: object) => void;
    retryMs?: number;
  }) =>
    createReceiptOutbox({
      ...{ baseUrl: NODE, now: () => 0, onSettled: async () => {}, log: () => {}, retryMs: 60_000 },
      ...parameters,
    });

  it("wait after an answer that may change, and are put aside with the reason after an answer that cannot change", async () => {
    for (const status of [...PASSING, ...FINAL, null]) {
      const store = memoryStore();
      const problem = { code: "why_not", detail: "Because." };
      const { fetch } = network(() => (status === null ? null : { status, body: problem }));
      const said: unknown[] = [];
      const outbox = open({ store, fetch, log: (...line) => void said.push(line) });
      await outbox.add("job_1", record as SignedRecord);
      expect(await outbox.submit("job_1"), String(status)).to.equal(undefined);
      const isKept = status === null || PASSING.includes(status);
      expect(await outbox.waiting(), String(status)).to.equal(isKept ? 1 : 0);
      const aside = await store.get("refused/job_1");
      if (isKept) expect(aside, String(status)).to.equal(undefined);
      else expect(aside, String(status)).to.deep.include({ record, code: "why_not", message: "Because." });
      const details = { key: "job_1", code: "why_not", message: "Because." };
      expect(said).to.deep.equal(isKept ? [] : [["The ledger refuses a receipt.", details]]);
      expect(await outbox.submit("job_2"), "a job without a receipt").to.equal(undefined);
      await outbox.close();
    }
  });

  it("wait, like reports, after a refusal without a code, because a proxy blocks only for a while", async () => {
    for (const body of [{}, { code: 7 }, { error: "Forbidden" }]) {
      const store = memoryStore();
      const { fetch } = network(() => ({ status: 403, body }));
      const outbox = open({ store, fetch });
      await outbox.add("job_1", record as SignedRecord);
      expect(await outbox.submit("job_1")).to.equal(undefined);
      const reports = createReports({
        ...{ account: newWallet().account, baseUrl: NODE, fetch, sellerFetch: fetch, store, now: () => 0 },
        ledger: async () => "local",
      });
      await reports.add({
        ...{ jobId: "job_1", endpoint: SELLER as Report["endpoint"], receiptHash: HASH, since: 0 },
        telemetry: { latencyMs: 12, verification: { all_passed: true, checks: {} } },
      });
      await reports.flush();
      expect([await outbox.waiting(), await reports.waiting()]).to.deep.equal([1, 1]);
      await outbox.close();
    }
  });

  it("wait after a success that names no entry, because a proxy may have answered", async () => {
    for (const body of [
      {},
      null,
      [],
      { hash: HASH },
      { hash: HASH.toUpperCase(), rating_tokens: tokens },
      { hash: HASH, rating_tokens: { buyer: "b" } },
      { hash: HASH, rating_tokens: { seller: "s" } },
    ]) {
      const store = memoryStore();
      const told: string[] = [];
      const { fetch } = network(() => ({ status: 200, body }));
      const fetchOf = body === null ? async () => Response.json(null) : fetch;
      const outbox = open({ store, fetch: fetchOf, onSettled: async (key) => void told.push(key) });
      await outbox.add("job_1", record as SignedRecord);
      expect(await outbox.submit("job_1"), JSON.stringify(body)).to.equal(undefined);
      expect([told, await outbox.waiting()], JSON.stringify(body)).to.deep.equal([[], 1]);
      await outbox.close();
    }
  });

  it("are sent without a call if the disk was away when the seller started", async () => {
    const store = memoryStore();
    const { asked, fetch } = network(() => known);
    const said: string[] = [];
    const outbox = createReceiptOutbox({
      ...{ store, baseUrl: NODE, fetch, now: () => 0, retryMs: 1, onSettled: async () => {} },
      log: (sentence) => void said.push(sentence),
    });
    await outbox.add("job_1", record as SignedRecord);
    const { keys } = store;
    store.keys = async () => {
      store.keys = keys;
      throw new Error("the disk is away");
    };
    outbox.start();
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await outbox.close();
    expect([said, await outbox.waiting()]).to.deep.equal([["The outbox could not be read."], 0]);
  });

  it("are sent although one of them cannot be read", async () => {
    const store = memoryStore();
    const { asked, fetch } = network(() => known);
    const said: string[] = [];
    const settled = Promise.withResolvers<string>();
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === "outbox/job_1") throw new Error("damaged");
      return await store.get<T>(key);
    };
    const outbox = open({
      store: { ...store, get },
      fetch,
      onSettled: async (key) => settled.resolve(key),
      log: (sentence, details) => void said.push(`${sentence} ${JSON.stringify(details)}`),
    });
    for (const key of ["job_1", "job_2"]) await outbox.add(key, record as SignedRecord);
    outbox.start();
    expect(await settled.promise).to.equal("job_2");
    await outbox.close();
    expect(asked).to.have.length(1);
    expect(said).to.have.length(1);
    expect(said[0]).to.contain("job_1");
    expect(await store.keys("outbox")).to.deep.equal(["outbox/job_1"]);
  });

  it("are reported as settled, or put aside, even if their process ends at any write", async () => {
    for (const isRefused of [false, true]) {
      const answers = network(() =>
        isRefused ? { status: 400, body: { code: "no", detail: "No." } } : known,
      );
      const told = new Map<KeyValueStore, number>();
      await endAtEveryWrite<KeyValueStore>({
        open: async () => memoryStore(),
        run: async (scene, process) => {
          const store = process.store(scene);
          const onSettled = async () => await store.put("job/job_1", "settled");
          const outbox = open({ store, fetch: process.cut(answers.fetch), onSettled });
          await outbox.add("job_1", record as SignedRecord);
          told.set(scene, 1);
          await outbox.submit("job_1");
        },
        resume: async (store) => {
          const onSettled = async () => await store.put("job/job_1", "settled");
          await open({ store, fetch: answers.fetch, onSettled }).submit("job_1");
        },
        check: async (store, at) => {
          expect(await store.keys("outbox"), at).to.deep.equal([]);
          if (!told.has(store)) return;
          const end = isRefused ? await store.get("refused/job_1") : await store.get("job/job_1");
          expect(end, `${at}, ${isRefused}`).not.to.equal(undefined);
        },
      });
      expect(told.size).to.be.greaterThan(2);
    }
  });

  it("of free hires wait for the buyer's signature, and are sent without it when its time is over", async () => {
    const store = memoryStore();
    let time = 0;
    const { asked, fetch } = network(() => known);
    const first = open({ store, fetch, now: () => time });
    await first.add("job_1", record as SignedRecord, 1_000);
    await first.close();
    for (const [at, sent] of [
      [999, 0],
      [1_000, 1],
    ] as const) {
      time = at;
      const outbox = open({ store, fetch, now: () => time });
      outbox.start();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(asked, String(at)).to.have.length(sent);
      await outbox.close();
    }
    expect(await store.keys("outbox")).to.deep.equal([]);
  });

  it("of free hires are sent by the same process when their time is over, without a call", async () => {
    for (const isRestarted of [false, true]) {
      const store = memoryStore();
      let time = 0;
      const { asked, fetch } = network(() => known);
      const parameters = { store, fetch, now: () => time, retryMs: 1 };
      let outbox = open(parameters);
      await outbox.add("job_1", record as SignedRecord, 1_000);
      if (isRestarted) {
        await outbox.close();
        outbox = open(parameters);
        outbox.start();
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(asked).to.have.length(0);
      time = 1_000;
      while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      await outbox.close();
      expect(await outbox.waiting()).to.equal(0);
    }
  });

  it("are not sent after the seller has closed; a receipt that is under way is awaited", async () => {
    const store = memoryStore();
    const { asked, fetch } = network(() => known);
    const answer = Promise.withResolvers<void>();
    const outbox = open({
      store,
      fetch: async (...given) => {
        const said = fetch(...given);
        await answer.promise;
        return await said;
      },
    });
    for (const key of ["job_1", "job_2"]) await outbox.add(key, record as SignedRecord);
    outbox.start();
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    let isClosed = false;
    const closing = outbox.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isClosed).to.equal(false);
    answer.resolve();
    await closing;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(asked).to.have.length(1);
    expect(await store.keys("outbox")).to.deep.equal(["outbox/job_2"]);
  });

  it("are sent although another process sends and removes one of them meanwhile", async () => {
    const store = memoryStore();
    const { asked, fetch } = network(() => known);
    const said: string[] = [];
    const outbox = open({ store, fetch, log: (sentence) => void said.push(sentence) });
    await outbox.add("job_2", record as SignedRecord);
    const { keys } = store;
    store.keys = async (folder) => [`${folder}/job_1`, ...(await keys(folder))];
    outbox.start();
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await outbox.close();
    expect([said, await keys("outbox")]).to.deep.equal([[], []]);
  });

  it("are tried again with pauses that double up to a minute, and soon again after a success", async () => {
    const real = globalThis.setTimeout;
    const waits: number[] = [];
    const due: (() => void)[] = [];
    let references = 0;
    // Only the outbox's own waits are collected. A request to the service has a limit of 30 seconds.
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      if (ms === 30_000) return real(run, ms);
      waits.push(ms);
      due.push(run);
      references++;
      return { unref: () => references-- };
    }) as never;
    const turn = () => new Promise((resolve) => real(resolve, 5));
    try {
      let isAway = true;
      const { fetch } = network(() => (isAway ? null : known));
      const said: string[] = [];
      const store = memoryStore();
      const outbox = createReceiptOutbox({
        ...{ store, baseUrl: NODE, fetch, now: () => 0, onSettled: async () => {} },
        log: (sentence, details) => said.push(`${sentence} ${JSON.stringify(details)}`),
      });
      await outbox.add("job_1", record as SignedRecord);
      expect(waits, "nothing is planned before the first attempt").to.deep.equal([]);
      await outbox.submit("job_1");
      for (let n = 0; n < 7; n++) {
        due.shift()?.();
        await turn();
      }
      expect(waits).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
      isAway = false;
      due.shift()?.();
      await turn();
      expect([await outbox.waiting(), due.length]).to.deep.equal([0, 0]);
      isAway = true;
      await outbox.add("job_2", record as SignedRecord);
      await outbox.submit("job_2");
      expect(waits.at(-1)).to.equal(1_000);
      expect(references, "no wait keeps the process alive").to.equal(0);
      store.keys = async () => {
        throw new Error("the disk is away");
      };
      due.shift()?.();
      await turn();
      expect(waits.at(-1), "the outbox is read again later").to.equal(2_000);
      outbox.start();
      await turn();
      const sentence = 'The outbox could not be read. {"error":"Error: the disk is away"}';
      expect(said).to.deep.equal([sentence, sentence]);
      await outbox.close();
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it("are sent again without a call, one after the other, and not after the seller has closed", async () => {
    const store = memoryStore();
    let isAway = true;
    const { asked, fetch } = network(() => (isAway ? null : known));
    const told: unknown[] = [];
    const outbox = createReceiptOutbox({
      ...{ store, baseUrl: NODE, fetch, now: () => 0, log: () => {}, retryMs: 5 },
      onSettled: async (key, settled) => void told.push([key, settled]),
    });
    for (const key of ["job_1", "job_2"]) await outbox.add(key, record as SignedRecord);
    const [one, same] = [outbox.submit("job_1"), outbox.submit("job_1")];
    expect(await one).to.equal(await same);
    expect(asked).to.have.length(1);
    expect(asked[0]).to.deep.equal({
      path: "/v1/receipts",
      body: { body: record.body, signer: "0x", signature: "0x" },
    });
    while (asked.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    isAway = false;
    while ((await outbox.waiting()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(told).to.have.deep.members(
      ["job_1", "job_2"].map((key) => [key, { hash: HASH, ratingTokens: tokens }]),
    );
    isAway = true;
    await outbox.add("job_3", record as SignedRecord, 0);
    await outbox.submit("job_3");
    await outbox.close();
    const before = asked.length;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(asked.length).to.equal(before);
    expect(await outbox.waiting()).to.equal(1);
  });
});
