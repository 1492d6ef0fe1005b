import { expect } from "chai";
import fc from "fast-check";
import type { Row } from "tallystick-derive/tables";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { drawOf } from "../../../scripts/audits/checkDraw.ts";
import {
  AUDITED,
  BUYER,
  HASHES,
  OPERATOR,
  only,
  POOL,
  SELLER,
  scene,
  tickHash,
} from "../../derive/auditScene.ts";
import { DAY } from "../../derive/eventLog.ts";
import { auditSteps } from "../../derive/oracle/auditActions.ts";
import { auditLog } from "../../derive/oracle/auditLog.ts";
import { derivedParts } from "./derivedParts.ts";

describe("a draw that is computed again", () => {
  for (const ratePpm of [0, 1_000_000])
    for (const first of ["the tick", "the refund"])
      it(`is that of the refund, or the earlier one, if a hire at ${ratePpm} ppm saw ${first} first`, async () => {
        const log = scene({ auditors: 6, audit: { ratePpm } });
        const terms = { payment_mode: "platform_escrow:swarmwage-partnered", audit: { operator: AUDITED } };
        log.listing(SELLER, "text.translate", terms);
        log.after(DAY);
        const id = log.deposit(SELLER, BUYER, { amount: 500_000 });
        log.after(60);
        log.receipt(SELLER, BUYER, { escrow_id: id, amount: 500_000, hire_id: id, ...HASHES });
        if (first === "the tick") log.after(60).tick(tickHash(7));
        log.after(60).delivered(id).refunded(id, BUYER);
        log.after(60).tick(tickHash(8)).after(60).tick(tickHash(9));
        const derived = await derivedParts(log);
        const { store, ticks } = derived;
        const audit = store.rows("audit").get(id) as Row<"audit">;
        const [before, after] = ticks.slice(first === "the tick" ? -3 : -4);
        const isEarlier = first === "the tick" && ratePpm > 0;
        const expected = first === "the refund" ? ticks.at(-2) : isEarlier ? before : after;
        const draw = await drawOf(derived, audit);
        expect(audit.drawnBlock).to.equal(expected?.block);
        expect(draw).to.deep.include({ tick: expected, place: 0, isDrawn: true });
      });

  it("draws nobody after the operator of the audits has left the parameters, also if it comes back", async () => {
    for (const isBack of [true, false]) {
      const log = scene();
      log.hire(SELLER, BUYER, HASHES);
      for (const [n, isFollowed] of [false, isBack].entries()) {
        const audit: RecordBody = { operators: isFollowed ? { [AUDITED]: { pool: POOL } } : {} };
        log.after(60).record("params", OPERATOR, { version: 2 + n, operator: OPERATOR, audit });
        log.tick(tickHash(7 + n));
      }
      const { audit } = await only(log);
      const derived = await derivedParts(log);
      expect(derived.history).to.have.length(3);
      const draw = await drawOf(derived, audit);
      expect([audit.drawnBlock, draw?.tick.hash, draw?.isDrawn]).to.deep.equal([null, tickHash(7), false]);
    }
  });

  it("finds the draw of every hire that waited for one, with the same result as the derivation", async () => {
    const seen = { drawn: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        const log = await auditLog(steps);
        const derived = await derivedParts(log);
        const { store } = derived;
        const sampled = new Set<string>();
        for (const queue of store.rows("auditQueue").values())
          if (queue.id.startsWith("sample/")) sampled.add(queue.id);
        for (const audit of store.rows("audit").values()) {
          if (!sampled.has(`sample/${audit.operator}/${audit.ppm}`)) continue;
          const draw = await drawOf(derived, audit);
          // Audits that the rules decided, and hires that the operator arranged, are not in the queue of the sample.
          if (draw === null || audit.cause === "rules" || audit.canary !== null) continue;
          expect(audit.drawnBlock === draw.tick.block, audit.id).to.equal(draw.isDrawn);
          seen[draw.isDrawn ? "drawn" : "left"]++;
        }
      }),
      { numRuns: 3, seed: 3 },
    );
    expect(seen.drawn, "drawn").to.be.greaterThan(0);
    expect(seen.left, "not drawn").to.be.greaterThan(0);
  }).timeout(0);
});
