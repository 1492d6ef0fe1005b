import { expect } from "chai";
import { privateKeyToAccount } from "viem/accounts";
import { GENESIS_HASH } from "../../../protocol/ledger/entry.ts";
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

  it("are listed for holders of a key, with both versions", async () => {
    const id = await hold();
    expect((await service.get("/v1/reviews")).status).to.equal(401);
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

  it("release a proposal behind the review, on the head of the moment", async () => {
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

  it("reject a proposal for good", async () => {
    const id = await hold();
    expect((await review(id, "reject")).status).to.equal(201);
    expect((await service.get("/v1/status/task-1")).json.status).to.equal("REJECTED");
    const answer = await review(id, "release");
    expect([answer.status, answer.json.code]).to.deep.equal([409, "conflicting_record"]);
    expect(service.ledger.size).to.equal(1);
    expect((await service.get("/health")).json.held).to.equal(0);
  });

  it("refuse everybody but the operator, and what is not held", async () => {
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

  it("settle at the next start what a crash kept from being settled behind its review", async () => {
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

  it("hold several of a task, each decided by itself, over restarts", async () => {
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
