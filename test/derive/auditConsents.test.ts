import { expect } from "chai";
import fc from "fast-check";
import { anyConsentAt, consentOfListing } from "tallystick-derive/audits/consents";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { AUDITED, SELLER } from "./auditScene.ts";
import { DAY, EventLog, START, wallet } from "./eventLog.ts";

const consentAt = (store: MemoryStore, capability: string, time: number) => {
  const listing = store.rows("listing").get(`${SELLER}/${capability}/direct`);
  return listing === undefined ? null : consentOfListing(store, listing, time);
};

describe("the consent to audits in a listing's row", () => {
  it("is the last statement that changed something, with the time from which the statement is valid", async () => {
    const log = new EventLog({ audit: { operators: {} } });
    const say = async (more: RecordBody) => {
      log.after(60).listing(SELLER, "text.translate", more);
      const { store } = await log.derive();
      const row = store.rows("listing").get(`${SELLER}/text.translate/direct`);
      return [row?.auditOperator, row?.auditFrom];
    };
    const audit = { operator: AUDITED };
    expect(await say({})).to.deep.equal([null, null]);
    expect(await say({ audit })).to.deep.equal([AUDITED, START + 120 + DAY]);
    // The same statement at another price does not change the consent.
    expect(await say({ audit, price_usdc: "0.60" })).to.deep.equal([AUDITED, START + 120 + DAY]);
    expect(await say({ audit: "yes" })).to.deep.equal([null, START + 240 + DAY]);
    expect(await say({ audit, price_usdc: "0.70" })).to.deep.equal([AUDITED, START + 300 + DAY]);
  });
});

describe("the consent to audits at the time of a payment", () => {
  it("is the last one that was in force by then, however often the seller changed its mind", async () => {
    const change = fc.record({
      wait: fc.constantFrom(1, 600, DAY),
      operator: fc.constantFrom(null, 22, 23, 24),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
        const log = new EventLog({ audit: { operators: {} } });
        const said: { from: number; operator: string | null }[] = [];
        for (const { wait, operator } of changes) {
          const audit = operator === null ? "no" : { operator: wallet(operator) };
          log.after(wait).listing(SELLER, "text.translate", { audit, issued_at: log.block });
          said.push({ from: log.time + DAY, operator: operator === null ? null : wallet(operator) });
        }
        const { store } = await log.derive();
        for (const { from } of [{ from: START }, ...said])
          for (const time of [from - 1, from])
            expect(consentAt(store, "text.translate", time)).to.equal(
              said.findLast((it) => it.from <= time)?.operator ?? null,
            );
      }),
      { numRuns: 40 },
    );
  });

  it("does not begin before an earlier change, even if the parameters now have a shorter wait", async () => {
    const operator = wallet(9);
    const log = new EventLog({ operator, audit: { operators: {} } });
    log.listing(SELLER, "text.translate", { audit: { operator: AUDITED }, issued_at: 1 });
    log.after(60).record("params", operator, {
      ...{ version: 2, operator, audit: { operators: {}, consentSeconds: 60 } },
    });
    log.after(60).listing(SELLER, "text.translate", { audit: { operator: wallet(23) }, issued_at: 2 });
    const { store } = await log.derive();
    expect(consentAt(store, "text.translate", START + DAY - 1)).to.equal(null);
    expect(consentAt(store, "text.translate", START + DAY)).to.equal(wallet(23));
  });

  it("for a capability that the seller does not list is that of the first listing that had agreed", async () => {
    const log = new EventLog({ audit: { operators: {} } });
    const say = (capability: string, audit: RecordBody | string, issued_at: number) =>
      log.after(60).listing(SELLER, capability, { audit, issued_at });
    say("text.one", { operator: AUDITED }, 1);
    say("text.two", { operator: wallet(23) }, 1);
    say("text.one", "no", 2);
    const { store } = await log.derive();
    const at = (seconds: number) => anyConsentAt(store, SELLER, START + DAY + seconds);
    expect([59, 60, 120, 179, 180].map(at)).to.deep.equal([...[null, AUDITED, AUDITED, AUDITED, wallet(23)]]);
    expect(anyConsentAt(store, wallet(77), START + 9 * DAY)).to.equal(null);
  });
});
