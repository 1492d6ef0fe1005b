import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { AUDITED, SELLER } from "./auditScene.ts";
import { DAY, EventLog, START } from "./eventLog.ts";

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
