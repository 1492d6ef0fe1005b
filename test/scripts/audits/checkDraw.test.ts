import { expect } from "chai";
import fc from "fast-check";
import { drawOf } from "../../../scripts/audits/checkDraw.ts";
import type { LogTick } from "../../../scripts/audits/derivedLog.ts";
import { auditSteps } from "../../derive/oracle/auditActions.ts";
import { auditLog } from "../../derive/oracle/auditLog.ts";

describe("a draw that is computed again", () => {
  it("finds the draw of every hire that waited for one, with the same result as the derivation", async () => {
    const seen = { drawn: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        const log = await auditLog(steps);
        const ticks = log.events.flatMap((it): LogTick[] =>
          it.kind === "tick" ? [{ block: it.block, hash: it.hash }] : [],
        );
        const { store } = await log.derive();
        const sampled = new Set<string>();
        for (const queue of store.rows("auditQueue").values())
          if (queue.id.startsWith("sample/")) sampled.add(queue.id);
        for (const audit of store.rows("audit").values()) {
          if (!sampled.has(`sample/${audit.operator}/${audit.ppm}`)) continue;
          const draw = await drawOf({ store, ticks }, audit);
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
