import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { expectProblem, ledgerText } from "../support/expectProblem.ts";
import { KEY, proposal } from "../support/proposals.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "../support/testService.ts";

describe("POST /v1/settle", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  it("requires a key before it reads anything", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: `Basic ${API_KEY}` },
      { authorization: "Bearer " },
    ]) {
      const answer = await service.post("/v1/settle", "not even JSON", headers as { [name: string]: string });
      expectProblem(service, answer, 401, "unauthorized");
    }
    const response = await service.app.request("/v1/settle", { method: "POST" });
    expect(response.headers.get("www-authenticate")).to.match(/^Bearer/);
  });

  it("accepts any key that the operator created", async () => {
    const answer = await service.post("/v1/settle", proposal(GENESIS_HASH), {
      authorization: "bearer other",
    });
    expect(answer.json.status).to.equal("SETTLED");
  });

  it("is closed if the operator created no key", async () => {
    await service.close();
    service = await openTestService(folder.path, { SETTLEMENT_API_KEYS: "" });
    expectProblem(
      service,
      await service.post("/v1/settle", proposal(GENESIS_HASH), { authorization: "Bearer " }),
      401,
      "unauthorized",
    );
  });

  it("keeps ints and floats as they were sent", async () => {
    const text = JSON.stringify(proposal(GENESIS_HASH)).replace(
      '"budget":100',
      '"budget":100.0,"big":123456789012345678901234567890',
    );
    await service.post("/v1/settle", text, KEY);
    expect(ledgerText(service)).to.contain('"big": 123456789012345678901234567890, "budget": 100.0');
  });

  it("has no status of a task while a proposal of it is on its way to the disk", async () => {
    const disk = Promise.withResolvers<void>();
    service.ledger.commitBy(() => disk.promise);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const sent = service.post("/v1/settle", proposal(GENESIS_HASH), KEY);
    while (service.ledger.nextParent === GENESIS_HASH) await turn();
    let isAnswered = false;
    const asked = service.get("/v1/status/task-1").finally(() => {
      isAnswered = true;
    });
    for (let turns = 0; turns < 100; turns++) await turn();
    expect(isAnswered).to.equal(false);
    disk.resolve();
    expect((await asked).json).to.include({ status: "SETTLED", hash: (await sent).json.hash });
  });

  it("answers 200 with REJECTED and ESCROWED, because they are outcomes and not errors", async () => {
    const drifted = await service.post("/v1/settle", proposal("ab".repeat(32)), KEY);
    const reason = "State drift detected. Re-base required.";
    expect([drifted.status, drifted.json]).to.deep.equal([
      200,
      { status: "REJECTED", reason, head: GENESIS_HASH },
    ]);
    const shadow = { payload: { data_update: { core_logic: "be rude", budget: 1 } } };
    const escrowed = await service.post("/v1/settle", proposal(GENESIS_HASH, { shadow }), KEY);
    expect(escrowed.status).to.equal(200);
    expect(escrowed.json).to.include({ status: "ESCROWED", reason: "High model divergence." });
    expect((await service.get("/v1/status/task-1")).json).to.include({
      task_id: "task-1",
      status: "ESCROWED",
    });
  });

  const header = proposal(GENESIS_HASH).header;
  const payload = proposal(GENESIS_HASH).payload;
  const wrong: [string, { [key: string]: unknown }, string[]][] = [
    ["no header", { header: undefined }, ["header"]],
    ["no payload", { payload: null }, ["payload"]],
    ["no header and no payload", { header: 1, payload: [] }, ["header", "payload"]],
    ["no task_id", { header: { ...header, task_id: undefined } }, ["header.task_id"]],
    ["a task_id that is a number", { header: { ...header, task_id: 1 } }, ["header.task_id"]],
    ["an empty task_id", { header: { ...header, task_id: "" } }, ["header.task_id"]],
    ["a task_id with a NUL", { header: { ...header, task_id: "a\u0000" } }, ["header.task_id"]],
    ["a task_id of 129 characters", { header: { ...header, task_id: "a".repeat(129) } }, ["header.task_id"]],
    ["a short parent_hash", { header: { ...header, parent_hash: "00" } }, ["header.parent_hash"]],
    [
      "a parent_hash in capitals",
      { header: { ...header, parent_hash: "AB".repeat(32) } },
      ["header.parent_hash"],
    ],
    ["metadata that is text", { header: { ...header, agent_metadata: "m" } }, ["header.agent_metadata"]],
    ["an invalid context_hash", { header: { ...header, context_hash: "x" } }, ["header.context_hash"]],
    ["a data_update that is an array", { payload: { ...payload, data_update: [] } }, ["payload.data_update"]],
    [
      "a confidence that is text",
      { payload: { ...payload, confidence_score: "0.9" } },
      ["payload.confidence_score"],
    ],
    [
      "a confidence above 1",
      { payload: { ...payload, confidence_score: 1.1 } },
      ["payload.confidence_score"],
    ],
    ["a confidence below 0", { payload: { ...payload, confidence_score: -1 } }, ["payload.confidence_score"]],
    ["a proof that is an object", { proof: {} }, ["proof"]],
    ["a shadow that is text", { shadow: "x" }, ["shadow"]],
    ["a shadow without data", { shadow: { payload: {} } }, ["shadow.payload.data_update"]],
  ];
  for (const [what, changes, fields] of wrong) {
    it(`answers 400 to ${what}`, async () => {
      const answer = await service.post("/v1/settle", proposal(GENESIS_HASH, changes), KEY);
      expectProblem(service, answer, 400, "invalid_input", fields);
    });
  }
});
