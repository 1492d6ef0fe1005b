import { expect } from "chai";
import { drawOf } from "../../../scripts/audits/checkDraw.ts";
import { ticksOfAudit } from "../../../scripts/audits/ticksOfAudit.ts";
import { AUDITED, BUYER, HASHES, only, SELLER, say, scene, tickHash } from "../../derive/auditScene.ts";
import { DAY, type EventLog } from "../../derive/eventLog.ts";
import { derivedParts } from "./derivedParts.ts";

/** A log with a hire that may be drawn from the next tick on. */
function hired(auditors: number): EventLog {
  const log = scene({ auditors });
  log.hire(SELLER, BUYER, HASHES);
  return log;
}

/** Adds a tick, and returns its block. A tick has the hash of its block, unless the node leaves it out. */
function tick(log: EventLog, seconds: number, { bare = false } = {}): number {
  const { block } = log.after(seconds);
  log.tick(bare ? undefined : tickHash(1_000 + block));
  return block;
}

/** The ticks that must be compared, by block, and the audit. */
async function compared(log: EventLog) {
  const { audit, asked } = await only(log);
  const derived = await derivedParts(log);
  const draw = await drawOf(derived, audit);
  return { audit, asked, blocks: ticksOfAudit(derived, { audit, draw, asked }) };
}

/** The tick of the scene itself, before the hire. */
const first = (log: EventLog): number => log.events.find(({ kind }) => kind === "tick")?.block ?? 0;

describe("the ticks that are compared for an audit", () => {
  it("are those at which it waited for its draw or for an auditor, also if they lack their hash", async () => {
    const log = hired(3);
    const before = tick(log, 60, { bare: true });
    const drawn = tick(log, 60);
    // The auditor has a day. Meanwhile the ticks decide nothing.
    tick(log, 3_600);
    const late = tick(log, DAY, { bare: true });
    const second = tick(log, 60);
    tick(log, 60);
    const { asked, blocks } = await compared(log);
    expect(asked.map(({ block }) => block)).to.deep.equal([drawn, second]);
    expect(blocks).to.deep.equal([drawn, second, first(log), before, late]);
  });

  it("are also those at which it waited for the draw that decides whether it is judged again, and none after its end", async () => {
    const log = hired(3);
    const drawn = tick(log, 60);
    log.after(60);
    await say(log, "pass");
    const bare = tick(log, 60, { bare: true });
    const recheck = tick(log, 60);
    tick(log, 60);
    const { audit, blocks } = await compared(log);
    expect(audit.status).to.equal("passed");
    expect(blocks).to.deep.equal([drawn, first(log), bare, recheck]);
  });

  it("are also the last tick before it joined, without whose hash other hires are in its draw", async () => {
    const log = scene();
    const bare = tick(log, 60, { bare: true });
    log.after(60).hire(SELLER, BUYER, HASHES);
    const drawn = tick(log, 60);
    expect((await compared(log)).blocks).to.deep.equal([drawn, bare]);
  });

  it("are not the block of the record by which its operator judges by itself", async () => {
    const log = hired(0);
    const drawn = tick(log, 60);
    const later = tick(log, DAY);
    const { hire } = (await only(log)).audit;
    log.after(60).record("audit_judge", AUDITED, { hire, round: 1, models: ["model-a"] });
    const { block } = log;
    tick(log, 60);
    const { asked, blocks } = await compared(log);
    expect(asked.map((it) => it.block)).to.deep.equal([block]);
    expect(blocks).to.deep.equal([drawn, first(log), later]);
  });
});
