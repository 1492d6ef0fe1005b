import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { parseOutcomes } from "tallystick-protocol/records/outcomes";
import { signRecord } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { addKey } from "../../../services/settlement/keys/keyFile.ts";
import { REJECTED_FILE } from "../../../services/settlement/outcomes/rejectedWork.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, NOW, openTestService, type TestAnswer, type TestService } from "../support/testService.ts";

const OPERATOR_KEY = `0x${"66".repeat(32)}` as const;
const operator = privateKeyToAccount(OPERATOR_KEY);
const AGENT = `0x${"a1".repeat(20)}` as const;
const OTHER = `0x${"b2".repeat(20)}` as const;
const HOUR = 3_600;

describe("the outcomes of an hour", () => {
  const folder = temporaryFolder();
  let service: TestService;
  let keys: { [name: string]: string };
  const open = async () => {
    service = await openTestService(folder.path, { OPERATOR_PRIVATE_KEY: OPERATOR_KEY });
  };
  beforeEach(async () => {
    const file = path.join(folder.path, "keys.json");
    const key = async (name: string, agent?: typeof AGENT) => (await addKey(file, name, NOW, agent)).key;
    keys = { agent: await key("a", AGENT), other: await key("o", OTHER as never), nobody: API_KEY };
    await open();
  });
  afterEach(() => service.close());

  type Said = {
    confidence?: number;
    complexity?: unknown;
    dispatch?: object;
    update?: object;
    shadow?: object;
    drifted?: boolean;
  };
  let task = 0;
  async function propose(by: string, said: Said = {}): Promise<TestAnswer["json"]> {
    const { confidence = 0.9, complexity, dispatch, update = { a: 100 }, shadow, drifted = false } = said;
    const parent = drifted ? "ab".repeat(32) : service.ledger.head;
    const answer = await service.post(
      "/v1/settle",
      {
        header: {
          task_id: `task-${task++}`,
          parent_hash: parent,
          agent_metadata: {
            ...(complexity !== undefined && { complexity }),
            ...(dispatch !== undefined && { dispatch }),
          },
        },
        payload: { data_update: update, confidence_score: confidence },
        ...(shadow && { shadow: { payload: { data_update: shadow } } }),
      },
      { authorization: `Bearer ${keys[by]}` },
    );
    expect(answer.status).to.equal(200);
    return answer.json;
  }
  async function review(proposal: string, decision: "release" | "reject"): Promise<void> {
    const fields = { proposal, decision, reason: "looked at it" };
    const record = await signRecord({ type: "review", ledger: "local", body: fields, account: operator });
    const { body, signature } = record;
    expect((await service.post(`/v1/reviews/${proposal}`, { body, signature })).status).to.be.oneOf([
      200, 201,
    ]);
  }
  async function told(): Promise<ReturnType<typeof parseOutcomes>[]> {
    const entries: LedgerEntry[] = [];
    for (let at = 0; at < service.ledger.size; at++) entries.push(await service.ledger.entry(at));
    return entries
      .filter(({ payload }) => payload.type === "outcomes")
      .map(({ payload }) =>
        parseOutcomes(
          JSON.parse(JSON.stringify(payload.body, (_, it) => (typeof it === "bigint" ? Number(it) : it))),
        ),
      );
  }
  const hoursLater = (hours: number) => {
    service.clock.now += hours * HOUR;
  };

  it("are counted for the agents that the operator named with their keys, and recorded once after the hour", async () => {
    await propose("agent", { complexity: 0.5 });
    await propose("agent", { complexity: { value: 0.25, version: "complexity/1" } });
    await propose("agent", { complexity: 1, shadow: { a: 95 } });
    await propose("agent", { confidence: 0.1, complexity: 0.2 });
    await propose("other");
    await propose("other", { confidence: 0.1 });
    await propose("nobody");
    await propose("nobody", { confidence: 0.1 });
    expect((await propose("agent", { drifted: true })).status, "no fault of the agent's").to.equal(
      "REJECTED",
    );
    await service.tellOutcomes?.();
    expect(await told(), "before the hour is over").to.deep.equal([]);
    hoursLater(1);
    await service.tellOutcomes?.();
    expect(await told(), "a minute later").to.deep.equal([]);
    service.clock.now += 60;
    await service.tellOutcomes?.();
    const expected = {
      hour: NOW / HOUR,
      part: 0,
      agents: {
        [AGENT]: { ok: 3, fail: 1, c: { ok: 1_750, fail: 200 }, divergence: { compared: 1, sum: 50_000 } },
        // An agent that does not give the difficulty gains nothing for successes, and loses in full for failures.
        [OTHER]: { ok: 1, fail: 1, c: { ok: 0, fail: 1_000 }, divergence: { compared: 0, sum: 0 } },
      },
    };
    expect(await told()).to.deep.equal([expected]);
    expect(service.logged).to.deep.equal([]);
    hoursLater(2);
    await service.tellOutcomes?.();
    await service.close();
    await open();
    hoursLater(4);
    await service.tellOutcomes?.();
    expect(await told(), "no hour is reported twice, and no report is made for an empty hour").to.deep.equal([
      expected,
    ]);
  });

  it("count a dispatcher's reports of its tasks, and not its closing entries, which settle nothing", async () => {
    const complexity = { value: 0.75, version: "complexity/1", features: {}, classifier: null };
    await propose("agent", { dispatch: { complexity } });
    await propose("agent", { dispatch: { complexity }, confidence: 0.1 });
    await propose("agent", { dispatch: { complexity, closing: { status: "REJECTED" } }, update: {} });
    hoursLater(2);
    await service.tellOutcomes?.();
    const [hour] = await told();
    expect(hour?.agents[AGENT]).to.deep.include({ ok: 1, fail: 1, c: { ok: 750, fail: 750 } });
  });

  it("include held proposals after the operator's decision: released as settled, rejected as rejected, with their divergence", async () => {
    const far = { update: { a: 100 }, shadow: { a: 60 }, complexity: 1 };
    const [one, two] = [await propose("agent", far), await propose("agent", { ...far, shadow: { a: 50 } })];
    hoursLater(2);
    await service.tellOutcomes?.();
    expect(await told(), "while they wait").to.deep.equal([]);
    await review(one.id, "release");
    await review(two.id, "reject");
    hoursLater(2);
    await service.tellOutcomes?.();
    const outcome = {
      ok: 1,
      fail: 1,
      c: { ok: 1_000, fail: 1_000 },
      divergence: { compared: 2, sum: 900_000 },
    };
    expect(await told()).to.deep.equal([{ hour: NOW / HOUR + 2, part: 0, agents: { [AGENT]: outcome } }]);
  });

  it("of hours in which the service was away are recorded when it is back, each hour in its own record", async () => {
    await propose("agent", { complexity: 1 });
    hoursLater(1);
    await propose("agent", { confidence: 0.1, complexity: 1 });
    await service.close();
    await open();
    hoursLater(30);
    await service.tellOutcomes?.();
    expect(
      (await told()).map(({ hour, agents }) => [hour, agents[AGENT]?.ok, agents[AGENT]?.fail]),
    ).to.deep.equal([
      [NOW / HOUR, 1, 0],
      [NOW / HOUR + 1, 0, 1],
    ]);
  });

  it("are recorded when the hour is over, also if the clock was a year ahead for a moment", async () => {
    await propose("agent", { complexity: 1 });
    hoursLater(2);
    await service.tellOutcomes?.();
    hoursLater(8_760);
    await service.tellOutcomes?.();
    hoursLater(-8_760);
    await propose("agent", { confidence: 0.1, complexity: 1 });
    await propose("agent", { complexity: 1 });
    hoursLater(2);
    await service.tellOutcomes?.();
    expect(
      (await told()).map(({ hour, agents }) => [hour, agents[AGENT]?.ok, agents[AGENT]?.fail]),
    ).to.deep.equal([
      [NOW / HOUR, 1, 0],
      [NOW / HOUR + 2, 1, 1],
    ]);
  });

  it("are the same after a crash before they were recorded, and the file of rejected work stays small", async () => {
    await propose("agent", { confidence: 0.1, complexity: 0.3 });
    const [{ path: ledger }, file] = [service.ledger, path.join(service.ledger.folder, REJECTED_FILE)];
    const [before, rejected] = [readFileSync(ledger), readFileSync(file)];
    expect(rejected.length).to.be.greaterThan(0);
    hoursLater(2);
    await service.tellOutcomes?.();
    const [first] = await told();
    await service.close();
    // The power failed, and the record was lost. So the test removes the index, too.
    writeFileSync(ledger, before);
    for (const name of ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"])
      rmSync(path.join(path.dirname(ledger), name), { force: true });
    appendFileSync(file, '{"agent":"0x');
    await open();
    hoursLater(2);
    await service.tellOutcomes?.();
    expect(await told()).to.deep.equal([first]);
    hoursLater(1);
    await propose("agent", { complexity: 1 });
    hoursLater(2);
    await service.tellOutcomes?.();
    await service.close();
    await open();
    expect(readFileSync(file).length, "all of it was told").to.equal(0);
  });

  it("use further parts for agents that do not fit into one record, and a later start completes the parts", async () => {
    const file = path.join(folder.path, "keys.json");
    const text = JSON.parse(readFileSync(file, "utf8"));
    const agents = Array.from({ length: 300 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, "0")}`);
    const line = (agent: string) => `${JSON.stringify({ agent, complexity: 1_000, hour: NOW / HOUR })}\n`;
    expect(text.version).to.equal(1);
    await service.close();
    const rejectedFile = path.join(path.dirname(service.ledger.path), REJECTED_FILE);
    writeFileSync(rejectedFile, agents.map(line).join(""));
    await open();
    hoursLater(2);
    await service.tellOutcomes?.();
    const all = await told();
    expect(all.map(({ part, agents }) => [part, Object.keys(agents).length])).to.deep.equal([
      [0, 256],
      [1, 44],
    ]);
    // A crash came between the two parts, and the second part is lost.
    const lines = readFileSync(service.ledger.path, "latin1").split("\n");
    await service.close();
    writeFileSync(service.ledger.path, `${lines.slice(0, -2).join("\n")}\n`, "latin1");
    for (const name of ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"])
      rmSync(path.join(path.dirname(service.ledger.path), name), { force: true });
    await open();
    hoursLater(3);
    await service.tellOutcomes?.();
    expect(await told()).to.deep.equal(all);
  });

  it("are not recorded without the operator's key, and a file with foreign lines is reported by line", async () => {
    await service.close();
    service = await openTestService(folder.path);
    expect(service.tellOutcomes).to.equal(undefined);
    expect((await propose("agent", { confidence: 0.1 })).status).to.equal("REJECTED");
    await service.close();
    writeFileSync(path.join(path.dirname(service.ledger.path), REJECTED_FILE), '{"agent":"nobody"}\n');
    const error = await open().catch((reason: Error) => reason);
    expect(error).to.have.property("code", "rejected_corrupt");
    expect(error).to.have.property("message").that.includes("line 1");
    rmSync(path.join(path.dirname(service.ledger.path), REJECTED_FILE));
    await open();
  });

  it("use only the agent's name in an entry, whatever the proposal claims", async () => {
    await propose("agent", { complexity: 2, shadow: { a: 100 } });
    const { payload } = await service.ledger.entry(0);
    expect(payload).to.deep.include({ agent: AGENT, divergence: 0 });
    await propose("nobody", { shadow: { a: 100 } });
    expect((await service.ledger.entry(1)).payload).not.to.have.any.keys("agent", "divergence");
  });
});
