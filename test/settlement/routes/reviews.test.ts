import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { privateKeyToAccount } from "viem/accounts";
import { HeldProposals } from "../../../services/settlement/engine/heldProposals.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { bound, buyer } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "../support/testService.ts";

const operator = privateKeyToAccount(`0x${"55".repeat(32)}`);
const KEY = { authorization: `Bearer ${API_KEY}` };

describe("reviews of held proposals", () => {
  const folder = temporaryFolder();
  let service: TestService;
  const open = async (environment = {}) => {
    service = await openTestService(folder.path, { OPERATOR: operator.address, ...environment });
  };
  beforeEach(() => open());
  afterEach(() => service.close());

  const settle = async (parent_hash: string, more: object = {}) => {
    const header = { task_id: "task-1", parent_hash };
    const payload = { data_update: { budget: 100 }, confidence_score: 0.9 };
    return (await service.post("/v1/settle", { header, payload, ...more }, KEY)).json;
  };
  const hold = async (budget = 1): Promise<string> => {
    const { status, id } = await settle(service.ledger.head, {
      shadow: { payload: { data_update: { budget } } },
    });
    expect(status).to.equal("ESCROWED");
    return id;
  };
  const review = async (
    id: string,
    decision: string,
    { account = operator, path = id, reason = "looked at it" } = {},
  ) => {
    const body = { proposal: id, decision, reason };
    return service.post(`/v1/reviews/${path}`, await bound("review", body, account));
  };

  it("are listed for holders of a key, with proposal and shadow", async () => {
    const id = await hold();
    expect((await service.get("/v1/reviews")).status).to.equal(401);
    const closed = await service.get(`/v1/reviews/${id}`);
    expect([closed.status, closed.text.includes("budget")]).to.deep.equal([401, false]);
    const list = await service.app.request("/v1/reviews", { headers: KEY });
    expect(await list.json()).to.deep.include({ waiting: 1 });
    const one = (await (await service.app.request(`/v1/reviews/${id}`, { headers: KEY })).json()) as object;
    expect(one).to.deep.include({
      id,
      task_id: "task-1",
      parent_hash: GENESIS_HASH,
      shadow: { budget: 1 },
      review: null,
    });
    expect(one).to.have.nested.property("proposal.data_update.budget", 100);
  });

  it("release a proposal after the review entry, on the present head", async () => {
    const id = await hold();
    await settle(service.ledger.head);
    const answer = await review(id, "release");
    expect(answer.status, answer.text).to.equal(201);
    expect(answer.json).to.include({ type: "review", status: "SETTLED", index: 1 });
    expect(answer.json.released.index).to.equal(2);
    const released = await service.ledger.entry(2);
    expect(released.parentHash).to.equal(answer.json.hash);
    expect(released.payload).to.deep.include({
      type: "settlement",
      data_update: { budget: 100n },
      review: answer.json.hash,
    });
    expect((await service.get("/v1/status/task-1")).json).to.include({ status: "SETTLED", index: 2 });
    const again = await review(id, "release");
    expect([again.status, again.json.released.index, service.ledger.size]).to.deep.equal([200, 2, 3]);
  });

  it("give a task the status of the last event, also when the clock was set back in between", async () => {
    await settle(service.ledger.head);
    service.clock.now -= 100;
    await hold();
    expect((await service.get("/v1/status/task-1")).json.status).to.equal("ESCROWED");
    await settle(service.ledger.head);
    expect((await service.get("/v1/status/task-1")).json).to.include({ status: "SETTLED", index: 1 });
  });

  it("reject a proposal for good", async () => {
    const id = await hold();
    expect((await review(id, "reject")).status).to.equal(201);
    expect((await service.get("/v1/status/task-1")).json.status).to.equal("REJECTED");
    const answer = await review(id, "release");
    expect([answer.status, answer.json.code]).to.deep.equal([409, "conflicting_record"]);
    expect(service.ledger.size).to.equal(1);
    expect((await service.get("/health")).json.held).to.equal(0);
  });

  it("refuse everybody except the operator, and proposals that are not held", async () => {
    const id = await hold();
    const cases: [Awaited<ReturnType<typeof review>>, number, string, string?][] = [
      [await review(id, "release", { account: buyer }), 400, "invalid_input", "signer"],
      [await review(id, "maybe"), 400, "invalid_input", "body.decision"],
      [await review(id, "reject", { reason: "" }), 400, "invalid_input", "body.reason"],
      [await review(id, "reject", { path: "ab".repeat(32) }), 400, "invalid_input", "body.proposal"],
      [await review("ab".repeat(32), "release"), 404, "unknown_held"],
    ];
    for (const [{ status, json, text }, wanted, code, field] of cases) {
      expect([status, json.code, json.errors?.[0].field], text).to.deep.equal([wanted, code, field]);
    }
    expect(service.ledger.size).to.equal(0);
  });

  it("need a reason, also if the field is absent", async () => {
    const id = await hold();
    const unreasoned = await bound("review", { proposal: id, decision: "release" }, operator);
    const answer = await service.post(`/v1/reviews/${id}`, unreasoned);
    expect([answer.status, answer.json.errors?.[0].field], answer.text).to.deep.equal([400, "body.reason"]);
    expect(service.ledger.size).to.equal(0);
  });

  it("are not made for a proposal that the rules refuse, and cannot release one that the rules refuse later", async () => {
    const file = path.join(folder.path, "rules.json");
    const spend = { field: "usd", max: "100", per_seconds: 3600 };
    const rules = { version: 1, actions: { pay: { budget: [spend] }, "*": { allow: false } } };
    writeFileSync(file, JSON.stringify(rules));
    await service.close();
    await open({ RULES_FILE: file });
    const pay = async (usd: number, shadow?: number) => {
      const header = { task_id: "task-1", parent_hash: service.ledger.head };
      const payload = { data_update: { action: "pay", usd }, confidence_score: 0.9 };
      const beside = shadow !== undefined && { shadow: { payload: { data_update: { usd: shadow } } } };
      return (await service.post("/v1/settle", { header, payload, ...beside }, KEY)).json;
    };
    expect((await pay(101, 1)).status).to.equal("REJECTED");
    const waiting = async () =>
      (await (await service.app.request("/v1/reviews", { headers: KEY })).json()) as { waiting: number };
    expect(await waiting()).to.include({ waiting: 0 });
    const { id, status } = await pay(60, 1);
    expect(status).to.equal("ESCROWED");
    // Meanwhile another payment uses a part of the budget.
    expect((await pay(50)).status).to.equal("SETTLED");
    const late = await review(id, "release");
    expect([late.status, late.json.code], late.text).to.deep.equal([409, "rules_refuse"]);
    expect(late.json.detail).to.contain("has 50 of 100 left");
    expect([service.ledger.size, await waiting()]).to.deep.equal([1, { ...(await waiting()), waiting: 1 }]);
    service.clock.now += 3_600;
    expect((await review(id, "release")).status).to.equal(201);
    expect(await waiting()).to.include({ waiting: 0 });
    // A released payment counts as spent, also after a restart.
    expect((await pay(41)).status).to.equal("REJECTED");
    await service.close();
    await open({ RULES_FILE: file });
    service.clock.now += 3_600;
    expect((await pay(41)).status).to.equal("REJECTED");
    expect((await pay(40)).status).to.equal("SETTLED");
  });

  it("do not exist in a sandbox, which answers ESCROWED and stores nothing", async () => {
    await service.close();
    await open({ SETTLEMENT_MODE: "sandbox" });
    const id = await hold();
    const list = await service.app.request("/v1/reviews", { headers: KEY });
    expect(await list.json()).to.deep.equal({ waiting: 0, items: [] });
    expect(readFileSync(path.join(folder.path, "local", "held.jsonl"), "latin1")).to.equal("");
    expect((await review(id, "release")).json.code).to.equal("unknown_held");
  });

  it("find held proposals by an index that the next start rebuilds if it is lost or damaged", async () => {
    const [one, two] = [await hold(1), await hold(2)];
    await review(one, "reject");
    const at = path.join(folder.path, "local", "held.sqlite");
    for (const spoil of [() => rmSync(at), () => writeFileSync(at, "hello".repeat(2_000))]) {
      await service.close();
      spoil();
      await open();
      const list = await service.app.request("/v1/reviews", { headers: KEY });
      const { waiting, items } = (await list.json()) as { waiting: number; items: { id: string }[] };
      expect([waiting, items.map(({ id }) => id)]).to.deep.equal([1, [two]]);
      expect((await service.get("/v1/status/task-1")).json.held).to.have.length(2);
    }
    // A proposal that somebody changed in the file is not released.
    const held = path.join(folder.path, "local", "held.jsonl");
    writeFileSync(held, readFileSync(held, "latin1").replaceAll('"budget": 100', '"budget": 900'));
    expect((await review(two, "release")).status).to.equal(500);
    expect(service.ledger.size).to.equal(1);
  });

  it("wait again if the ledger is restored to a state without them, also if it has grown differently since", async () => {
    const [one, two] = [await hold(1), await hold(2)];
    await review(one, "reject");
    const files = ["ledger.jsonl", "last-signed.json"].map((name) => path.join(folder.path, "local", name));
    await service.close();
    const copy = files.map((file) => [file, readFileSync(file)] as const);
    await open();
    await review(two, "release");
    expect(service.ledger.size).to.equal(3);
    for (const grows of [false, true]) {
      await service.close();
      for (const [file, bytes] of copy) writeFileSync(file, bytes);
      if (grows) {
        const other = await DiskLedger.open({ folder: path.join(folder.path, "local") });
        for (let n = 0; n < 3; n++)
          await other.append({ timestamp: n, taskId: "other", payload: {} }).durable;
        await other.close();
      }
      await open();
      const list = await service.app.request("/v1/reviews", { headers: KEY });
      const { waiting, items } = (await list.json()) as { waiting: number; items: { id: string }[] };
      expect([waiting, items.map(({ id }) => id)]).to.deep.equal([1, [two]]);
      expect((await service.get("/health")).json.held).to.equal(1);
      const answer = await review(two, "release");
      expect(answer.json.released?.index, answer.text).to.equal(service.ledger.size - 1);
      expect((await service.get("/health")).json.held).to.equal(0);
    }
  });

  it("release a proposal at the next start if the process was killed after the review was settled", async () => {
    const id = await hold();
    const append = service.ledger.append.bind(service.ledger);
    service.ledger.append = (entry) => {
      if (entry.payload.type === "settlement") throw new Error("the process is killed here");
      return append(entry);
    };
    expect((await review(id, "release")).status).to.equal(500);
    expect(service.ledger.size).to.equal(1);
    await service.close();
    await open();
    expect(service.ledger.size).to.equal(2);
    expect((await service.ledger.entry(1)).payload).to.deep.include({ data_update: { budget: 100n } });
    await service.close();
    await open();
    expect(service.ledger.size).to.equal(2);
  });

  it("keep their part of a budget from a start on, also if the ledger may be written only later", async () => {
    const file = path.join(folder.path, "rules.json");
    const spend = { field: "usd", max: "100", per_seconds: 3600 };
    const rules = { version: 1, actions: { pay: { budget: [spend] }, "*": { allow: false } } };
    writeFileSync(file, JSON.stringify(rules));
    await service.close();
    await open({ RULES_FILE: file });
    const pay = (usd: number, more: object = {}) =>
      settle(service.ledger.head, {
        payload: { data_update: { action: "pay", usd }, confidence_score: 0.9 },
        ...more,
      });
    const { id } = await pay(60, { shadow: { payload: { data_update: { usd: 1 } } } });
    const append = service.ledger.append.bind(service.ledger);
    service.ledger.append = (entry) => {
      if (entry.payload.type === "settlement") throw new Error("the process is killed here");
      return append(entry);
    };
    // The next start has an earlier clock than this entry, so it accepts no writes.
    service.clock.now += 301;
    expect((await review(id, "release")).status).to.equal(500);
    await service.close();
    await open({ RULES_FILE: file });
    expect([service.ledger.size, (await service.get("/health")).json.code]).to.deep.equal([1, "clock"]);
    const { content } = HeldProposals.prototype;
    const disk = Promise.withResolvers<void>();
    // The disk gives the released proposal only after another proposal was judged.
    HeldProposals.prototype.content = async function (of) {
      await disk.promise;
      return content.call(this, of);
    };
    try {
      service.clock.now += 301;
      const refused = await pay(41);
      expect([refused.status, refused.reason]).to.deep.equal([
        "REJECTED",
        "payload.data_update.usd: the budget of 3600 s has 40 of 100 left (rules version 1, action pay).",
      ]);
    } finally {
      HeldProposals.prototype.content = content;
      disk.resolve();
    }
    while (service.ledger.size < 2) await new Promise((resolve) => setImmediate(resolve));
    expect([(await pay(41)).status, (await pay(40)).status]).to.deep.equal(["REJECTED", "SETTLED"]);
  });

  it("do not prevent the next start if the content of one released proposal is missing: the start settles the others", async () => {
    const [lost, good] = [await hold(1), await hold(2)];
    const append = service.ledger.append.bind(service.ledger);
    service.ledger.append = (entry) => {
      if (entry.payload.type === "settlement") throw new Error("the process is killed here");
      return append(entry);
    };
    for (const id of [lost, good]) expect((await review(id, "release")).status).to.equal(500);
    expect((await service.get("/v1/status/task-1")).json).to.include({ status: "ESCROWED" });
    await service.close();
    // A ledger that was restored from a mirror has both reviews. The file of held proposals has lost its first line, and
    // with it the content of one proposal.
    const file = path.join(folder.path, "local", "held.jsonl");
    const [, line] = readFileSync(file, "latin1").split("\n");
    writeFileSync(file, `${line}\n`);
    await open();
    expect(service.logged).to.include("A released proposal cannot be settled here.");
    expect(service.ledger.size).to.equal(3);
    const next = await hold(3);
    expect((await review(next, "release")).json.released.index).to.equal(4);
    expect((await review(lost, "release")).json.code).to.equal("unknown_held");
  });

  it("are impossible for a proposal whose entry would be too long, so such a proposal is not held", async () => {
    const shadow = { payload: { data_update: { budget: 1 } } };
    // 0x7f is one byte in the request and six in the ledger.
    const answer = await settle(service.ledger.head, { shadow, proof: "\x7f".repeat(11_000) });
    expect([answer.status, answer.code]).to.deep.equal([413, "payload_too_large"]);
    const list = await service.app.request("/v1/reviews", { headers: KEY });
    expect(await list.json()).to.deep.equal({ waiting: 0, items: [] });
  });

  it("decide several proposals of one task separately, also after restarts", async () => {
    const [one, two] = [await hold(1), await hold(2)];
    await review(two, "release");
    await service.close();
    await open();
    const { held } = (await service.get("/v1/status/task-1")).json;
    expect(
      held.map((it: { id: string; review?: { decision: string } }) => [it.id, it.review?.decision]),
    ).to.deep.equal([
      [one, undefined],
      [two, "release"],
    ]);
    expect((await review(one, "release")).json.released.index).to.equal(3);
  });
});
