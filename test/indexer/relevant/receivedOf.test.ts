import { expect } from "chai";
import { receivedOf } from "../../../indexer/relevant/receivedOf.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { derive, relevant } from "../../derive/relevant/agreement.ts";

const [operator, busy, quiet, payer] = [wallet(1), wallet(2), wallet(3), wallet(4)];

/** Before both wallets are watched, 5 transfers reach one of them, and 3 the other. Then the limit changes from 4. */
async function rowsAfter(hubTransfers: number) {
  const log = new EventLog({ operator, hubTransfers: 4 });
  for (let n = 0; n < 5; n++) log.after(60).transfer(payer, busy, 1_000_000);
  for (let n = 0; n < 3; n++) log.after(60).transfer(payer, quiet, 1_000_000);
  log.after(60);
  for (const agent of [busy, quiet]) log.listing(agent, "text.translate");
  log.after(60).record("params", operator, { version: 2, operator, hubTransfers });
  log.after(60).transfer(payer, quiet, 1_000_000);
  return await derive(await relevant(log));
}

describe("what wallets received, by the rows", () => {
  for (const hubTransfers of [2, 4, 9]) {
    it(`is not compared if some was left out, also after hubTransfers changes from 4 to ${hubTransfers}`, async () => {
      const flows = receivedOf(await rowsAfter(hubTransfers), [busy, quiet], hubTransfers);
      expect(flows.get(busy)?.count).to.be.greaterThan(hubTransfers);
      expect(flows.get(quiet)).to.deep.equal({ count: 4, sum: 4_000_000n });
    });
  }

  it("is compared if only the log says that some of a few transfers were left out", async () => {
    const log = new EventLog({ hubTransfers: 4 });
    for (let n = 0; n < 3; n++) log.after(60).transfer(payer, quiet, 1_000_000);
    log.after(60).listing(quiet, "text.translate");
    const lines = await relevant(log);
    const at = lines.findIndex(({ kind }) => kind === "record");
    const { block, time, log: place } = lines[at - 1] as { block: number; time: number; log: number };
    const told = { block, time, log: place, kind: "count", wallet: quiet, side: "in", transfers: 3 } as const;
    const rows = await derive(lines.toSpliced(at, 0, told));
    expect(receivedOf(rows, [quiet], 4).get(quiet)).to.deep.equal({ count: 3, sum: 3_000_000n });
  });
});
