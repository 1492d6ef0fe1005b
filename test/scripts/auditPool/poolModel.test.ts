import { createHash } from "node:crypto";
import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import { drawNumber } from "tallystick-derive/audits/drawnPlaces";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { auditParamsSchema } from "tallystick-protocol/records/auditParams";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import type { Chance, Market, PoolAudit, Word } from "../../../scripts/auditPool/market.ts";
import { PoolModel } from "../../../scripts/auditPool/poolModel.ts";
import { AUDITED, offer, SELLER, scene } from "../../derive/auditScene.ts";
import { wallet } from "../../derive/eventLog.ts";

const HASHES = { params_hash: `0x${"a1".repeat(32)}` };
const sha256 = (text: string): Hex => `0x${createHash("sha256").update(text).digest("hex")}`;
const auditorOf = (id: number): Address => wallet(100 + id);

/** A market with few auditors, silent auditors and disagreements, so that every path through the rules is used. */
function crowdedMarket(areLinked: boolean): Market {
  const rules = auditParamsSchema.parse({
    ratePpm: 310_000,
    recheckPpm: 400_000,
    verdictSeconds: 3_600,
    pairSeconds: 5_400,
    maxUnanswered: 2,
  });
  return {
    ...{ rules, tickSeconds: 300, hiresPerTick: 2, priceAtomic: 500_000n, buyers: 5, auditors: 9 },
    ...{ colluders: 3, areLinked, trueNegative: 0.6, truePositive: 0.7, inconclusive: 0.1, unanswered: 0.3 },
  };
}

/** Derives a log of the seller's hires. Assigned auditors answer as `chance` decides. */
async function deriveMarket(market: Market, ticks: number, chanceOf: (hires: string[]) => Chance) {
  const host = (n: number) => (market.areLinked && n < market.colluders ? "one-house" : `auditor-${n}`);
  const endpoint = (n: number) => `https://${host(n)}.example`;
  const { ratePpm, recheckPpm, verdictSeconds, pairSeconds, maxUnanswered } = market.rules;
  // No auditor is removed for too many errors, because the simulation covers only the time before that.
  const minAgreement = 1_000_000;
  const audit = { ratePpm, recheckPpm, verdictSeconds, pairSeconds, maxUnanswered, minAgreement };
  const log = scene({ audit, auditors: market.auditors, endpoint });
  const store = new MemoryStore();
  const hires: string[] = [];
  const chance = chanceOf(hires);
  let [applied, answered, issued] = [0, 0, 1];
  const derive = async (): Promise<void> => {
    for (const event of log.events.slice(applied))
      apply(store, parseEvent(JSON.stringify(event)), { trustSignatures: true });
    applied = log.events.length;
  };
  for (let tick = 1; tick <= ticks; tick++) {
    log.after(150);
    for (let n = 0; n < market.hiresPerTick; n++) {
      const buyer = wallet(200 + (hires.length % market.buyers));
      const tx = log.transfer(buyer, SELLER, 500_000, { authorized: true });
      const id = `${tx}-${log.lastLog}`;
      hires.push(id);
      log.receipt(SELLER, buyer, { tx, ...HASHES, result_hash: sha256(id) });
    }
    log.after(150).tick(sha256(`tick ${tick}`));
    await derive();
    const asked = [...store.rows("auditAssignment").values()];
    for (const { hire, round, attempt, auditor } of asked.slice(answered)) {
      const number = hires.indexOf(hire);
      const id = Array.from({ length: market.auditors }, (_, n) => n).find((n) => auditorOf(n) === auditor);
      const who = { id: id as number, isColluder: (id as number) < market.colluders };
      const word = chance.word(who, chance.isGarbage(number), { tick, hire: number, round, attempt });
      if (word === null) continue;
      log.record("audit_verdict", auditor as Address, {
        ...{ hire, round, attempt, verdict: word, ...HASHES, result_hash: sha256(hire) },
        reasons: [{ code: "other", detail: "" }],
      });
    }
    answered = asked.length;
    for (const { agent, removedFor } of store.rows("auditor").values())
      if (removedFor !== null)
        offer(log, agent as Address, {
          endpoint: endpoint(Number(BigInt(agent)) - 100),
          issued_at: ++issued,
        });
    await derive();
  }
  return { store, hires };
}

/**
 * Makes every decision from a hash. Draws use the hashes of the derivation. The auditors' answers come from hashes
 * too, so the model and the derivation get the same answers.
 */
function hashedChance(market: Market): (hires: string[]) => Chance {
  const share = (...words: (string | number)[]) =>
    Number(drawNumber(sha256HexByNode, ["test", ...words]) % 10_000n) / 10_000;
  const { ratePpm, recheckPpm } = market.rules;
  return (hires) => {
    const isGarbage = (hire: number) => share("garbage", hire) < 0.4;
    return {
      isGarbage,
      draw: (queue, tick) => {
        const ppm = queue === "sample" ? ratePpm : recheckPpm;
        const words = [`tallystick/audit/${queue}/v1`, sha256(`tick ${tick}`), AUDITED, ppm];
        return Number(drawNumber(sha256HexByNode, words) % 1_000_000n);
      },
      place: ({ tick, hire, round, attempt, k }, size) => {
        const id = hires[hire] as string;
        const words = ["tallystick/audit/auditor/v1", sha256(`tick ${tick}`), id, round, attempt, k];
        return Number(drawNumber(sha256HexByNode, words) % BigInt(size));
      },
      word: ({ id, isColluder }, isBad, { hire, round, attempt }): Word => {
        if (isColluder) return isBad ? "pass" : "fail";
        const at = share("word", id, hire, round, attempt);
        const { unanswered, inconclusive, trueNegative, truePositive } = market;
        if (at < unanswered) return null;
        if (at < unanswered + inconclusive) return "inconclusive";
        const isRight = share("right", id, hire, round) < (isBad ? trueNegative : truePositive);
        return isRight === isBad ? "fail" : "pass";
      },
    };
  };
}

describe("the simulated audits", () => {
  for (const areLinked of [false, true])
    it(`draw, assign and end as the derivation does${areLinked ? ", with colluders on one host" : ""}`, async () => {
      const market = crowdedMarket(areLinked);
      const ticks = 150;
      const { store, hires } = await deriveMarket(market, ticks, hashedChance(market));
      const ended: PoolAudit[] = [];
      const chance = hashedChance(market)(hires);
      const model = new PoolModel(market, chance, (audit) => ended.push(audit));
      for (let tick = 0; tick < ticks; tick++) model.advance();

      const rows = [...store.rows("audit").values()];
      const assignments = [...store.rows("auditAssignment").values()];
      const derived = rows
        .filter(({ drawnBlock }) => drawnBlock !== null)
        .map(({ id, status, round }) => ({
          hire: hires.indexOf(id),
          status,
          round,
          asked: assignments
            .filter((it) => it.hire === id)
            .map((it) => [it.auditor, it.round, it.attempt, it.verdict]),
        }));
      const attempts = (audit: PoolAudit) =>
        audit.asked.map(({ auditor, round, word }, n) => [
          auditorOf(auditor.id),
          round,
          audit.asked.slice(0, n + 1).filter((it) => it.round === round).length,
          word,
        ]);
      const modelled = [...ended, ...model.open]
        .sort((a, b) => a.hire - b.hire)
        .map((audit) => ({
          hire: audit.hire,
          status: audit.status,
          round: audit.round,
          asked: attempts(audit),
        }));
      expect(rows.length).to.equal(ticks * market.hiresPerTick);
      expect(modelled).to.deep.equal(derived);
      // Each of these cases must occur. Otherwise the comparison would prove nothing.
      const reached = new Set([
        ...modelled.map(({ status }) => status),
        ...modelled.map(({ round }) => `round ${round}`),
      ]);
      expect([...reached]).to.include.members(["passed", "failed", "assigned", "round 2", "round 3"]);
      expect(assignments.filter(({ passedOver }) => passedOver.includes("pair")).length).to.be.above(10);
      expect(assignments.some(({ passedOver }) => passedOver.includes("akin"))).to.equal(areLinked);
      expect(model.returned).to.be.above(0);
    });
});
