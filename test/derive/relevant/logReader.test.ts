import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import { foldLog } from "tallystick-derive/foldLog";
import { snapshotOf } from "tallystick-derive/snapshot";
import type { TallystickError } from "tallystick-protocol/errors";
import { EventLog, TOKEN, wallet } from "../eventLog.ts";
import { relevant } from "./agreement.ts";

type Line = { [field: string]: unknown };

/** A relevant log as a file has it: the past of one seller, then its listing, a payment and a tick. */
async function lines(): Promise<Line[]> {
  const log = new EventLog({ hubTransfers: 3 });
  log.events[0] = { ...log.events[0], token: { address: TOKEN, firstBlock: 1 } } as DeriveEvent;
  log.after(60);
  for (let n = 0; n < 4; n++) log.transfer(wallet(50), wallet(1), 1_000_000);
  log.after(60).listing(wallet(1), "text.translate");
  log.after(60).transfer(wallet(50), wallet(1), 500_000, { authorized: true });
  log.after(60).tick();
  return (await relevant(log)) as unknown as Line[];
}

async function read(log: Line[]) {
  const texts = (async function* () {
    yield log.map((it) => JSON.stringify(it)).join("\n");
  })();
  return snapshotOf((await foldLog(texts, { trustSignatures: true })).store);
}

async function failure(change: (log: Line[]) => Line[]): Promise<TallystickError> {
  try {
    await read(change(await lines()));
  } catch (error) {
    return error as TallystickError;
  }
  throw new Error("it was read without complaint");
}

describe("reading a relevant log", () => {
  it("accepts lines about the past out of order, directly before the event that needs them", async () => {
    const log = await lines();
    expect(log.map((it) => it.kind)).to.deep.equal([
      ...["params", "history", "history", "history", "count", "record", "transfer", "tick"],
    ]);
    expect(log[0]).to.include({ form: "relevant" });
    expect((await read(log)).digest).to.match(/^0x/);
  });

  it("refuses lines about the past in a log of all transfers, with or without a form in its first line", async () => {
    for (const first of [{ form: "all" }, { form: undefined }]) {
      for (const kind of ["history", "count"]) {
        const error = await failure((log) => [
          { ...log[0], ...first },
          ...log.filter((it) => it.kind === kind),
        ]);
        expect(error.code).to.equal("history_in_all");
        expect(error.message)
          .to.match(/^Line 2 /)
          .and.contain(kind);
      }
    }
  });

  it("refuses an unknown form", async () => {
    for (const form of ["some", "", null, 1]) {
      const error = await failure(([first, ...others]) => [{ ...first, form }, ...others]);
      expect(error.code).to.equal("invalid_event");
      expect(error.message).to.contain("Line 1").and.contain("form must be all or relevant");
    }
  });

  it("refuses a line about the past that is not from before the event that follows, and names both lines", async () => {
    const record = (await lines())[5] as { block: number; log: number };
    for (const place of [
      { block: record.block, log: record.log },
      { block: record.block, log: record.log + 1 },
      { block: record.block + 1, log: 0 },
    ]) {
      for (const n of [2, 4]) {
        const error = await failure((log) => log.map((it, at) => (at === n ? { ...it, ...place } : it)));
        expect(error.code).to.equal("history_too_late");
        expect(error.message)
          .to.contain(`Line ${n + 1} `)
          .and.contain("line 6");
      }
    }
    const late = await failure((log) =>
      log.map((it, at) => (at === 1 ? { ...it, time: 1_900_000_000 } : it)),
    );
    expect(late.code).to.equal("time_runs_back");
  });

  it("refuses a transfer from before the first block, and a transfer whose token is unknown", async () => {
    for (const n of [1, 4]) {
      const early = await failure((log) => log.map((it, at) => (at === n ? { ...it, block: 0 } : it)));
      expect(early.code).to.equal("transfer_before_first_block");
      expect(early.message).to.contain(`Line ${n + 1} `);
    }
    const unknown = await failure(([first, ...others]) => [{ ...first, token: undefined }, ...others]);
    expect(unknown.code).to.equal("token_unknown");
  });

  it("refuses lines whose fields are missing or malformed, and names the field", async () => {
    for (const [n, change, told] of [
      [1, { value: "1.5" }, "value"],
      [1, { authorized: 1 }, "authorized"],
      [1, { tx: undefined }, "tx"],
      [4, { side: "both" }, "side must be in, out or spent"],
      [4, { wallet: "0x1" }, "wallet"],
      [4, { transfers: 0 }, "transfers"],
      [4, { time: undefined }, "time"],
    ] as const) {
      const error = await failure((log) => log.map((it, at) => (at === n ? { ...it, ...change } : it)));
      expect(error.code).to.equal("invalid_event");
      expect(error.message)
        .to.contain(`Line ${n + 1} `)
        .and.contain(told);
    }
  });

  it("leaves out lines about the past of other tokens", async () => {
    const log = await lines();
    const other = log.map((it) => (it.kind === "history" ? { ...it, token: wallet(7), value: "9" } : it));
    const [first, ...rest] = log;
    const mixed = [first as Line, ...other.filter((it) => it.kind === "history"), ...rest];
    expect(await read(mixed)).to.deep.equal(await read(log));
  });
});
