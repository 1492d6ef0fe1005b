import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { verifySettlementToken } from "tallystick-protocol/actions/settlementToken";
import { parseVerifierKey } from "tallystick-protocol/note/signedNote";
import { rules as actionRules, usdc, wallet } from "../../protocol/actions/support/bypasses.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, NOW, openTestService, type TestService } from "../support/testService.ts";

const RULES = {
  version: 3,
  action_rules: actionRules,
  actions: {
    payment: { budget: [{ field: "amount_usdc", max: "6", per_seconds: 3600 }] },
    // An action that the action rules allow is not an unknown action, so this rule does not deny it.
    "*": { allow: false },
  },
};
const bearer = { authorization: `Bearer ${API_KEY}` };
const removal = { type: "deletion", path: "/srv/project/build/app.js", recursive: false };
const payment = { type: "payment", to: wallet, amount_usdc: "4.00", network: "eip155:8453", token: usdc };

describe("POST /v1/actions", () => {
  const folder = temporaryFolder();
  let service: TestService;
  const open = async (environment: { [name: string]: string } = {}) => {
    const file = path.join(folder.path, "rules.json");
    writeFileSync(file, JSON.stringify(RULES));
    return openTestService(folder.path, { RULES_FILE: file, ...environment });
  };
  beforeEach(async () => {
    service = await open();
  });
  afterEach(() => service.close());

  const ask = async (action: unknown, changes: object = {}) => {
    const body = { action, context: { task: "clean up" }, parent_hash: service.ledger.head, ...changes };
    return (await service.post("/v1/actions", body, bearer)).json;
  };

  it("gives permission as an entry of the ledger and a token that the library accepts for this action only", async () => {
    const answer = await ask(removal);
    expect(answer.proceed).to.equal(true);
    expect(answer.reason).to.contain("clean-build");
    const entry = JSON.parse((await service.get("/v1/ledger/entries?from=0")).text);
    expect(entry.current_hash).to.equal(answer.hash);
    expect(entry.payload.data_update).to.deep.equal({
      action: "deletion",
      settled_action: { action_hash: answer.action_hash, rule: "clean-build" },
    });

    const { publicKey, name } = parseVerifierKey((await service.get("/v1/ledger/key")).text.trim());
    const check = (action: unknown, now: number) =>
      verifySettlementToken({ token: answer.settlement_token, action, publicKey, origin: name, now });
    const verdict = check(removal, NOW + 30);
    expect(verdict.valid && verdict.claims.entry_hash).to.equal(answer.hash);
    expect(check({ ...removal, recursive: true }, NOW + 30).valid).to.equal(false);
    expect(check(removal, answer.expires_at).valid).to.equal(false);
  });

  it("denies actions that no rule allows or that it does not understand, without writing anything", async () => {
    for (const action of [
      { ...removal, path: "/etc/passwd" },
      { ...removal, path: "/srv/project/build/../../../etc/passwd" },
      { type: "terminal", command: "rm -rf /" },
      "rm -rf /",
      null,
      [],
    ]) {
      const answer = await ask(action);
      expect(answer.proceed, JSON.stringify(action)).to.equal(false);
      expect(answer.settlement_token).to.equal(null);
      expect(answer.reason).to.be.a("string").and.not.equal("");
    }
    expect(service.ledger.size).to.equal(0);
  });

  it("denies an action with another head than the ledger's, and gives the right head", async () => {
    await ask(removal);
    const answer = await ask(removal, { parent_hash: "0".repeat(64) });
    expect(answer.proceed).to.equal(false);
    expect(answer.reason).to.equal("State drift detected. Re-base required.");
    expect(answer.head).to.equal(service.ledger.head);
  });

  it("counts payments against the budget of the institutional rules", async () => {
    expect((await ask(payment)).proceed).to.equal(true);
    const answer = await ask(payment);
    expect(answer.proceed).to.equal(false);
    expect(answer.reason).to.contain("budget");
    service.clock.now += 3601;
    expect((await ask(payment)).proceed).to.equal(true);
  });

  it("denies everything without rules, and gives no permission in a sandbox", async () => {
    await service.close();
    service = await openTestService(folder.path);
    expect((await ask(removal)).proceed).to.equal(false);
    await service.close();
    service = await open({ SETTLEMENT_MODE: "sandbox" });
    const answer = await ask(removal);
    expect(answer.proceed).to.equal(false);
    expect(answer.settlement_token).to.equal(null);
  });

  it("requires a key, an action and a parent", async () => {
    expect((await service.post("/v1/actions", {})).status).to.equal(401);
    const { status, json } = await service.post("/v1/actions", { context: "x" }, bearer);
    expect(status).to.equal(400);
    expect(json.errors.map(({ field }: { field: string }) => field)).to.deep.equal(["action", "parent_hash"]);
  });

  it("does not start with rules that allow too much", async () => {
    await service.close();
    const file = path.join(folder.path, "loose.json");
    const loose = {
      id: "any",
      allow: true,
      type: "terminal",
      program: "bash",
      args: ["-c", { text: { max_length: 9 } }],
    };
    writeFileSync(file, JSON.stringify({ version: 1, action_rules: { version: 1, rules: [loose] } }));
    const error = await openTestService(folder.path, { RULES_FILE: file }).catch((caught) => caught);
    expect(error.code).to.equal("invalid_rules");
    service = await open();
  });
});
