import { expect } from "chai";
import { ponderRows } from "../../indexer/src/ponderRows.ts";
import { positionKey } from "../../indexer/src/positionKey.ts";
import { EventLog, wallet } from "../derive/eventLog.ts";

type Values = { [column: string]: unknown };
type Key = { id?: string; position?: string };

/** Like Ponder's database: `find` returns the row of the cache, and an update changes the same object. */
function cacheOf(rows: Map<string, Values>) {
  return {
    find: async (_table: unknown, { id, position }: Key) => rows.get(id ?? position ?? "") ?? null,
    insert: () => ({
      values: async (added: (Values & Key)[]) => {
        for (const row of added) rows.set(row.id ?? row.position ?? "", row);
      },
    }),
    update: (_table: unknown, { id }: { id: string }) => ({
      set: async (change: object) => void Object.assign(rows.get(id) ?? {}, change),
    }),
  } as unknown as Parameters<typeof ponderRows>[0];
}

describe("the derivation's rows in Ponder", () => {
  it("give a row as it was at the time of the request, also after later writes", async () => {
    const rows = ponderRows(cacheOf(new Map()));
    const wallet = {
      id: "0x01",
      kind: null,
      incoming: 0,
      outgoing: 0,
      received: 1n,
      fundings: "",
      origin: "",
      begun: "",
      traced: false,
      reached: 0,
      reachedTail: "",
      arrivedBlock: null,
      arrived: 0n,
    };
    await rows.insert("wallet", [{ ...wallet }]);
    const before = await rows.find("wallet", "0x01");
    await rows.update("wallet", wallet, { ...wallet, incoming: 0, outgoing: 0, received: 2n });
    expect(before).to.deep.equal(wallet);
    expect((await rows.find("wallet", "0x01"))?.received).to.equal(2n);
    expect(await rows.find("wallet", "0x02")).to.equal(null);
  });

  it("tell that an event is logged while it is in the log, or while its payment is stored at its position", async () => {
    const cache = new Map();
    const rows = ponderRows(cacheOf(cache));
    const tick = { kind: "tick", block: 7, time: 1 } as const;
    const logged = { position: positionKey(tick), payment: null };
    expect(await rows.isLogged(logged)).to.equal(false);
    await rows.logEvents([{ position: logged.position, event: tick }]);
    expect(await rows.isLogged(logged)).to.equal(true);

    const log = new EventLog();
    log.after(60).transfer(wallet(1), wallet(2), 5_000_000);
    const [payment] = (await log.derive()).store.rows("payment").values();
    if (payment === undefined) throw new Error("The transfer is no payment.");
    const paid = { position: "a position without an event", payment };
    expect(await rows.isLogged(paid)).to.equal(false);
    await rows.insert("payment", [{ ...payment }]);
    expect(await rows.isLogged(paid)).to.equal(true);
    const moved = { ...payment, log: payment.log + 1 };
    await rows.update("payment", payment, moved);
    expect(await rows.isLogged(paid)).to.equal(false);
    await rows.update("payment", moved, { ...payment, block: payment.block + 1 });
    expect(await rows.isLogged(paid)).to.equal(false);
  });
});
