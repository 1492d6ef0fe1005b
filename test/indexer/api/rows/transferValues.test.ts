import { expect } from "chai";
import { transferValues } from "../../../../indexer/api/rows/transferValues.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { positionKey } from "../../../../indexer/src/positionKey.ts";
import { openApiDatabase } from "../../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../../derive/eventLog.ts";
import { testDatabase } from "../../../support/testDatabase.ts";

describe("transferValues", () => {
  it("finds a transfer among the payments or in the log, and gives null where there is no transfer", async () => {
    const database = await openApiDatabase(await testDatabase());
    try {
      const log = new EventLog({ minHireAtomic: "1000" });
      log.after(60).transfer(wallet(1), wallet(2), 5_000_000);
      log.transfer(wallet(1), wallet(2), 999);
      log.after(60).tick();
      await database.fill((await log.derive()).store);
      const [params, paid, small, tick] = log.events;
      const others = [params, small, tick].flatMap((it) => it ?? []);
      await database.database
        .insert(schema.eventLog)
        .values(others.map((event) => ({ position: positionKey(event), json: JSON.stringify(event) })));
      const places = [small, { block: 77, log: 0 }, paid] as { block: number; log: number }[];
      expect(await transferValues(database.db, places)).to.deep.equal([999n, null, 5_000_000n]);
    } finally {
      await database.close();
    }
  });
});
