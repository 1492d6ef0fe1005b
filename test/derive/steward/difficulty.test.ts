import { expect } from "chai";
import { stewardParamsSchema } from "tallystick-protocol/records/stewardParams";
import { DAY, type EventLog, HOUR, wallet } from "../eventLog.ts";
import { AGENT, attest, OPERATOR, stewardLog, stewardOf } from "./stewardScene.ts";

const difficulty = { "custom.hard": "4", "custom.easy": "0.5" };
const log = (published: { [capability: string]: string } = difficulty): EventLog =>
  stewardLog({ steward: { difficulty: published } });
const sell = (to: EventLog, capability: string, passed: boolean, buyer: number): string =>
  to.hire(AGENT, wallet(300 + buyer), { capability, passed });
const derived = async (it: EventLog) => {
  const { difficultySuccess, successRate, algorithmScore } = await stewardOf(it.after(HOUR).tick());
  return { difficultySuccess, successRate, algorithmScore };
};

describe("success by difficulty", () => {
  it("weighs each hire by the published weight of its capability, and by 1 without a published weight", async () => {
    const it = log();
    sell(it, "custom.hard", true, 0);
    sell(it, "custom.easy", false, 1);
    sell(it, "text.translate", false, 2);
    // The successful hire weighs 4 of 4 + .5 + 1. Without difficulty one of three hires succeeded.
    const { difficultySuccess, successRate } = await derived(it);
    expect([difficultySuccess, successRate]).to.deep.equal([727_272_727, 333_333_333]);
  });

  it("is the plain success rate if no difficulty is published, is null without hires, and never enters the score", async () => {
    const [plain, weighed] = [log({}), log()];
    for (const it of [plain, weighed]) {
      sell(it, "custom.hard", true, 0);
      sell(it, "custom.hard", false, 1);
      sell(it, "custom.easy", false, 2);
    }
    const [a, b] = [await derived(plain), await derived(weighed)];
    expect(a.difficultySuccess).to.equal(a.successRate);
    expect(b.difficultySuccess).to.equal(470_588_235);
    expect([b.successRate, b.algorithmScore]).to.deep.equal([a.successRate, a.algorithmScore]);
    const neutral = log();
    attest(neutral);
    expect((await derived(neutral)).difficultySuccess).to.equal(null);
  });

  it("keeps the weight that a hire had when it was counted, also if the hire's outcome changes later", async () => {
    const it = log();
    const receipt = sell(it, "custom.hard", false, 0);
    sell(it, "text.translate", true, 1);
    it.record("params", OPERATOR, { version: 2, operator: OPERATOR, steward: { difficulty: {} } });
    sell(it, "custom.hard", true, 2);
    expect((await derived(it)).difficultySuccess).to.equal(333_333_333);
    it.record("telemetry", wallet(300), { receipt, failure: "client_error" });
    expect((await derived(it)).difficultySuccess).to.equal(1_000_000_000);
  });

  it("drops hires when they leave the window", async () => {
    const it = log();
    sell(it, "custom.hard", true, 0);
    it.after(30 * DAY);
    sell(it, "text.translate", false, 1);
    expect((await derived(it)).difficultySuccess).to.equal(0);
  });

  it("accepts only published weights within the limits", () => {
    const isGood = (published: unknown) => stewardParamsSchema.safeParse({ difficulty: published }).success;
    for (const good of ["0.000000001", "1", "100"]) expect(isGood({ "custom.x": good }), good).to.equal(true);
    for (const bad of ["0", "0.0", "100.000000001", "-1", "1e2", "", "x", 2])
      expect(isGood({ "custom.x": bad }), String(bad)).to.equal(false);
    expect(isGood({ "No Such": "1" })).to.equal(false);
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`custom.c${n}`, "2"]));
    expect([isGood(many(256)), isGood(many(257))]).to.deep.equal([true, false]);
  });
});
