import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { parseRules, readRules } from "../../../services/settlement/engine/institutionalRules.ts";
import { RuleBook } from "../../../services/settlement/engine/ruleBook.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "../support/testService.ts";

const RULES = {
  version: 3,
  min_confidence: 0.5,
  core_logic: "be kind",
  brand_voice: { tone: "plain" },
  types: {
    article: {
      type: "object",
      required: ["title"],
      properties: { title: { type: "string", maxLength: 10 } },
    },
  },
  actions: {
    delete_files: { allow: false },
    payment: {
      max: { amount_usdc: "100" },
      budget: [{ field: "amount_usdc", max: "150.5", per_seconds: 3600 }],
    },
    "*": { allow: false },
  },
};

describe("institutional rules", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    const file = path.join(folder.path, "rules.json");
    writeFileSync(file, JSON.stringify(RULES));
    service = await openTestService(folder.path, { RULES_FILE: file });
  });
  afterEach(() => service.close());

  const settle = async (data_update: object, confidence_score = 0.9) => {
    const header = { task_id: "t", parent_hash: service.ledger.head };
    const body = { header, payload: { data_update, confidence_score } };
    return (await service.post("/v1/settle", body, { authorization: `Bearer ${API_KEY}` })).json;
  };

  it("are read by agents as slices that no settlement can overwrite", async () => {
    await settle({ core_logic: "be rude", budget: 7, min_confidence: 0 });
    const { json } = await service.get("/v1/context?keywords=brand_voice,budget,min_confidence,nothing");
    expect(json).to.deep.equal({
      core_logic: "be kind",
      brand_voice: { tone: "plain" },
      budget: 7,
      min_confidence: 0.5,
    });
    const authorization = `Bearer ${API_KEY}`;
    const whole = await service.app.request("/v1/rules", { headers: { authorization } });
    expect(whole.headers.get("x-rules-version")).to.equal("3");
    expect(await whole.json()).to.deep.equal({ ...RULES, max_drift_allowed: 0.15 });
  });

  it("show the limits of actions only to clients with a key", async () => {
    const { actions, ...shown } = RULES;
    await settle({ actions: "anything" });
    for (const authorization of ["", "Bearer no-key"]) {
      const ask = async (at: string) =>
        (await service.app.request(at, { headers: { authorization } })).json();
      expect(await ask("/v1/rules")).to.deep.equal({ ...shown, max_drift_allowed: 0.15 });
      expect(await ask("/v1/context?keywords=actions,action_rules")).to.deep.equal({ core_logic: "be kind" });
    }
    const headers = { authorization: `Bearer ${API_KEY}` };
    const known = await service.app.request("/v1/context?keywords=actions", { headers });
    expect(await known.json()).to.deep.equal({ core_logic: "be kind", actions });
  });

  it("recognise an action in every spelling that looks the same, and refuse all other names", async () => {
    for (const action of [
      "Delete_Files",
      " delete_files",
      "delete-files",
      "delete files",
      "delete_f\u0456les",
      "d\u00e9lete_files",
      "\uff44elete_files",
      "delete\u200b_files",
      "unknown",
      "*",
      "",
      "__proto__",
      ["delete_files"],
      null,
      7,
    ]) {
      const answer = await settle({ action });
      expect(answer.status, JSON.stringify(action)).to.equal("REJECTED");
    }
    expect((await settle({ action: "PAYMENT", amount_usdc: "101" })).status).to.equal("REJECTED");
    expect((await settle({ action: "PAYMENT", amount_usdc: "100" })).status).to.equal("SETTLED");
    expect((await settle({ action: "payment", amount_usdc: "51" })).status).to.equal("REJECTED");
  });

  it("deny every action without rules; rules of actions need a rule for all other actions, and no name twice", async () => {
    await service.close();
    service = await openTestService(folder.path);
    expect((await settle({ action: "anything" })).reason).to.contain("not allowed");
    expect((await settle({ thought: "anything" })).status).to.equal("SETTLED");
    const defaults = { minConfidence: 0.85, maxDriftAllowed: 0.15 };
    for (const [actions, field] of [
      [{ pay: { allow: true } }, "rules.actions.*"],
      [{ pay: {}, PAY: { allow: false }, "*": { allow: false } }, "rules.actions.PAY"],
    ] as const) {
      const text = JSON.stringify({ version: 1, actions });
      expect(() => parseRules(parsePythonJson(text), defaults), text)
        .to.throw(InvalidInputError)
        .with.nested.property("issues[0].field", field);
    }
  });

  it("keep a budget when the clock is set back, and for entries on their way to disk", async () => {
    const pay = (amount_usdc: string) => settle({ action: "payment", amount_usdc });
    expect((await pay("100")).status).to.equal("SETTLED");
    service.clock.now -= 250;
    expect((await pay("51")).status).to.equal("REJECTED");
    expect((await pay("50")).status).to.equal("SETTLED");
    const [first, second] = (await service.get("/v1/ledger/entries")).text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).timestamp);
    expect(second).to.be.at.least(first);

    const rules = {
      version: 1,
      actions: { pay: { budget: [{ field: "n", max: "5", per_seconds: 60 }] }, "*": { allow: false } },
    };
    const book = new RuleBook(
      parseRules(parsePythonJson(JSON.stringify(rules)), { minConfidence: 0.85, maxDriftAllowed: 0.15 }),
    );
    const spends = (n: bigint) => book.refusal({ action: "Pay", n }, 1) === undefined;
    const end = book.reserve({ action: "pay", n: 3n });
    expect([spends(2n), spends(3n)]).to.deep.equal([true, false]);
    end();
    expect(spends(3n)).to.equal(true);
  });

  it("set the required confidence", async () => {
    expect((await settle({}, 0.5)).status).to.equal("SETTLED");
    expect(await settle({}, 0.49)).to.include({ status: "REJECTED" });
  });

  it("check a type against its schema, and name the faults", async () => {
    const { status, reason } = await settle({ type: "article", title: "far too long a title" });
    expect(status).to.equal("REJECTED");
    expect(reason).to.match(/^payload\.data_update\.title: .*\(rules version 3, type article\)\.$/);
    expect((await settle({ type: "article" })).status).to.equal("REJECTED");
    expect((await settle({ type: "article", title: "short" })).status).to.equal("SETTLED");
    expect((await settle({ type: "poem" })).status).to.equal("SETTLED");
  });

  it("deny an action, limit an amount, and keep a budget over its window and after restarts", async () => {
    expect((await settle({ action: "delete_files" })).reason).to.contain("not allowed");
    const pay = async (amount_usdc: unknown) => (await settle({ action: "payment", amount_usdc })).status;
    expect(await pay("100.000001")).to.equal("REJECTED");
    expect(await pay(undefined)).to.equal("REJECTED");
    expect(await pay("-1")).to.equal("REJECTED");
    expect(await pay("100")).to.equal("SETTLED");
    expect(await pay(51)).to.equal("REJECTED");
    expect(await pay("50.5")).to.equal("SETTLED");
    expect(await pay("0.000001")).to.equal("REJECTED");
    await service.close();
    service = await openTestService(folder.path, { RULES_FILE: path.join(folder.path, "rules.json") });
    expect((await settle({ action: "payment", amount_usdc: 1 })).reason).to.contain("0 of 150.5 left");
    service.clock.now += 3600;
    expect(await pay(1)).to.equal("SETTLED");
  });

  it("count a payment once for each budget, and count all actions of one rule together", () => {
    const budget = (max: string, per_seconds: number) => ({ field: "amount", max, per_seconds });
    const rules = {
      version: 1,
      actions: {
        pay: { budget: [budget("10", 60), budget("15", 3600)] },
        "*": { budget: [budget("2", 60)] },
      },
    };
    const text = JSON.stringify(rules);
    const book = new RuleBook(
      parseRules(parsePythonJson(text), { minConfidence: 0.85, maxDriftAllowed: 0.15 }),
    );
    const spend = (action: string, amount: bigint, timestamp: number): boolean => {
      const data_update = { action, amount };
      if (book.refusal(data_update, timestamp) !== undefined) return false;
      const entry = { taskId: "t", parentHash: GENESIS_HASH, currentHash: GENESIS_HASH };
      book.add({ ...entry, timestamp, payload: { data_update } });
      return true;
    };
    expect([spend("pay", 6n, 0), spend("pay", 4n, 1), spend("pay", 1n, 2)]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect([spend("pay", 5n, 100), spend("pay", 1n, 101)]).to.deep.equal([true, false]);
    expect([spend("a", 1n, 0), spend("b", 1n, 0), spend("c", 1n, 0)]).to.deep.equal([true, true, false]);
    // A long time later, and with more payments than the book stores.
    let settled = 0;
    for (let time = 10_000; time < 110_000; time += 10) if (spend("d", 1n, time)) settled++;
    expect(settled).to.equal(3_334);
  });

  it("add up the payments of a budget exactly, at any time and after any number of them", () => {
    const budget = (per_seconds: number, max: string) => ({ field: "amount", max, per_seconds });
    const rules = {
      version: 1,
      actions: { "*": { budget: [budget(500, "1400"), budget(86_400, "900000")] } },
    };
    const defaults = { minConfidence: 0.85, maxDriftAllowed: 0.15 };
    const book = new RuleBook(parseRules(parsePythonJson(JSON.stringify(rules)), defaults));
    const hashes = { parentHash: GENESIS_HASH, currentHash: GENESIS_HASH };
    let [settled, refused] = [0, 0];
    const kept: { time: number; amount: number }[] = [];
    for (let n = 0; n < 6_000; n++) {
      const [timestamp, amount] = [Math.floor(n / 2), (n * 7) % 4];
      const data_update = { action: "pay", amount: BigInt(amount) };
      const isRefused = book.refusal(data_update, timestamp) !== undefined;
      if (n < 2_500) {
        const sum = kept.reduce((total, it) => total + (it.time > timestamp - 500 ? it.amount : 0), 0);
        expect(isRefused, `${n}`).to.equal(amount > 1_400 - sum);
      }
      if (isRefused) refused++;
      else {
        settled++;
        if (n < 2_500) kept.push({ time: timestamp, amount });
        book.add({ ...hashes, taskId: "t", timestamp, payload: { data_update } });
      }
    }
    expect(settled).to.be.above(4_000);
    expect(refused).to.be.above(100);
  });

  it("are refused with the wrong field in their file", () => {
    const defaults = { minConfidence: 0.85, maxDriftAllowed: 0.15 };
    for (const [text, field] of [
      ["{}", "rules.version"],
      ['{"version": 1, "min_confidence": 2}', "rules.min_confidence"],
      ['{"version": 1, "actions": {"a": {"alow": false}}}', "rules.actions.a"],
      ['{"version": 1, "actions": {"a": {"max": {"x": "-1"}}}}', "rules.actions.a.max.x"],
      ['{"version": 1, "types": {"a": 1}}', "rules.types.a"],
    ]) {
      try {
        parseRules(parsePythonJson(text as string), defaults);
        expect.fail(`it was taken: ${text}`);
      } catch (error) {
        expect(error, text).to.be.instanceOf(InvalidInputError);
        expect((error as InvalidInputError).issues.map((issue) => issue.field)).to.include(field);
      }
    }
  });

  it("are refused if their file has a rule twice, because the first one would have no effect", () => {
    const file = path.join(folder.path, "twice.json");
    writeFileSync(file, '{"version": 1, "actions": {"pay": {"allow": false}}, "actions": {}}');
    expect(() => readRules(file, { minConfidence: 0.85, maxDriftAllowed: 0.15 })).to.throw(
      InvalidInputError,
      /has already/,
    );
  });
});
