import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import { snapshotOf } from "tallystick-derive/snapshot";
import type { Address } from "tallystick-protocol/address";
import type { TallystickError } from "tallystick-protocol/errors";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { DAY, EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";

const seller = wallet(1);
const buyer = wallet(2);

async function* linesOf(
  log: EventLog,
  change: (lines: string[]) => string[] = (it) => it,
): AsyncGenerator<string> {
  yield* change(log.events.map((event) => JSON.stringify(event)));
}

function story(): EventLog {
  const log = new EventLog();
  log.hire(seller, buyer);
  log.after(60).tick();
  log.hire(seller, buyer);
  log.after(60).tick();
  return log;
}

/** The same log as a node exports it: its first line names the token. */
function exported(firstBlock = 1): EventLog {
  const log = story();
  log.events[0] = { ...log.events[0], token: { address: TOKEN, firstBlock } } as DeriveEvent;
  return log;
}

async function failure(
  lines: AsyncIterable<string>,
  token: Address | null = TOKEN,
): Promise<TallystickError> {
  try {
    await deriveLog(lines, { trustSignatures: true, ...(token && { token }) });
  } catch (error) {
    return error as TallystickError;
  }
  throw new Error("it was read without complaint");
}

describe("scripts/eventLog", () => {
  it("derives a log line by line, with the same result as its events applied one by one", async () => {
    const log = story();
    const { store, events } = await deriveLog(linesOf(log), { trustSignatures: true, token: TOKEN });
    const { store: _, ...expected } = await log.derive();
    expect(snapshotOf(store)).to.deep.equal(expected);
    expect(events).to.equal(log.events.length);
  });

  it("accepts many lines in one text, and counts the empty ones", async () => {
    const lines = story().events.map((event) => JSON.stringify(event));
    const inOne = async function* () {
      yield [...lines.slice(0, 3), "", ...lines.slice(3)].join("\n");
      yield "{";
    };
    expect((await failure(inOne())).message).to.match(new RegExp(`^Line ${lines.length + 2} `));
  });

  it("stops after the requested block", async () => {
    const { store } = await deriveLog(linesOf(story()), { trustSignatures: true, token: TOKEN, atBlock: 2 });
    expect(snapshotOf(store).agents[seller]?.last_30d_hire_count).to.equal(1);
    expect(snapshotOf(store).asOf.block).to.equal(2);
  });

  it("leaves out transfers of other tokens, and counts them", async () => {
    const { store, otherTokens } = await deriveLog(linesOf(story()), {
      trustSignatures: true,
      token: wallet(9),
    });
    expect([...otherTokens.values()]).to.deep.equal([2]);
    expect(snapshotOf(store).agents).to.deep.equal({});
  });

  it("does not accept a signature that it cannot verify", async () => {
    const { store } = await deriveLog(linesOf(exported()));
    expect([...store.rows("record").values()].map((it) => it.status)).to.deep.equal(["invalid", "invalid"]);
  });

  it("names a line that is not an event, and the field", async () => {
    const broken = (text: (line: string) => string) =>
      linesOf(story(), (lines) => lines.map((line, n) => (n === 1 ? text(line) : line)));
    expect((await failure(broken(() => "{"))).message).to.match(/^Line 2 is not an event: is not JSON/);
    expect((await failure(broken((it) => it.replace('"500000"', '"5e5"')))).message).to.match(
      /^Line 2 .*value/,
    );
    expect((await failure(broken((it) => it.replace('"transfer"', '"transfr"')))).message).to.match(
      /^Line 2 .*kind/,
    );
  });

  it("names a line that is out of order or repeated", async () => {
    for (const change of [
      (lines: string[]) => [...lines.slice(0, 2), ...lines.slice(1)],
      (lines: string[]) => [lines[0] ?? "", lines[2] ?? "", lines[1] ?? ""],
      (lines: string[]) => [...lines.slice(0, 4), lines[2] ?? ""],
    ]) {
      const error = await failure(linesOf(story(), change));
      expect(error.code).to.equal("events_out_of_order");
      expect(error.message).to.match(/^Line [345] /);
    }
  });

  it("reports events that contradict each other", async () => {
    const log = new EventLog();
    log.after(DAY).released(log.hash());
    const error = await failure(linesOf(log));
    expect(error.code).to.equal("contradictory_event");
    expect(error.message).to.match(/^Line 2 .*never deposited/);
  });

  it("takes the token from the first line, so the figures equal those of the node", async () => {
    const expected = await deriveLog(linesOf(story()), { trustSignatures: true, token: TOKEN });
    const { store, events } = await deriveLog(linesOf(exported()), { trustSignatures: true });
    expect(snapshotOf(store)).to.deep.equal(snapshotOf(expected.store));
    expect(events).to.equal(expected.events);
    expect(snapshotOf(store).agents[seller]?.last_30d_hire_count).to.equal(2);
    // Another coin that somebody sent to a seller is not a payment, whatever its amount.
    const coin = (it: string) =>
      it.replaceAll(TOKEN, wallet(8)).replace(`"address":"${wallet(8)}"`, `"address":"${TOKEN}"`);
    const other = await deriveLog(
      linesOf(exported(), (lines) => lines.map(coin)),
      { trustSignatures: true },
    );
    expect(snapshotOf(other.store).agents[seller]).to.equal(undefined);
    expect([...other.otherTokens]).to.deep.equal([[wallet(8), 2]]);
  });

  it("refuses transfers of an unknown token, and a token that differs from the log's", async () => {
    const silent = await failure(linesOf(story()), null);
    expect(silent.code).to.equal("token_unknown");
    expect(silent.message).to.match(/^Line 2 /);
    expect(silent.hint).to.contain("--token");
    // A log without a first line is refused in the same way. A log without transfers needs no token.
    expect(
      (
        await failure(
          linesOf(story(), (lines) => lines.slice(1)),
          null,
        )
      ).code,
    ).to.equal("token_unknown");
    const listed = new EventLog();
    listed.listing(seller, "text.translate");
    await deriveLog(linesOf(listed.after(60).tick()), { trustSignatures: true });
    const told = await failure(linesOf(exported()), wallet(9));
    expect(told.code).to.equal("other_token");
    expect(told.message).to.contain(TOKEN).and.contain(wallet(9));
    await deriveLog(linesOf(exported()), { trustSignatures: true, token: TOKEN });
  });

  it("refuses a log whose time goes backwards, or which begins before its first block", async () => {
    const back = (line: string, n: number) =>
      n === 4 ? line.replace(/"time":\d+/, '"time":1767225599') : line;
    const error = await failure(linesOf(exported(), (lines) => lines.map(back)));
    expect(error.code).to.equal("time_runs_back");
    expect(error.message).to.match(/^Line 5 .*1767225599/);
    const early = await failure(linesOf(exported(9)));
    expect(early.code).to.equal("transfer_before_first_block");
    expect(early.message).to.match(/^Line 2 /);
  });

  it("refuses two logs in one file, and an empty log", async () => {
    const both = (lines: string[]) => [...lines, (lines[0] as string).replace('"block":1', '"block":99')];
    const later = (lines: string[]) => both(lines).map((it) => it.replace(/"time":\d+/, '"time":1767225600'));
    const error = await failure(linesOf(exported(), later));
    expect(error.code).to.equal("params_not_first");
    expect(error.message).to.match(/^Line 8 /);
    for (const nothing of [[], [""], ["", "  "]])
      expect((await failure(linesOf(exported(), () => nothing))).code).to.equal("empty_log");
  });

  it("reports that an incomplete last line may be cut off, at any place of the cut", async () => {
    const lines = exported().events.map((event) => JSON.stringify(event));
    const last = lines.at(-1) as string;
    for (let length = 1; length < last.length; length += 7) {
      const error = await failure(linesOf(exported(), () => [...lines.slice(0, -1), last.slice(0, length)]));
      expect(error.code, String(length)).to.equal("invalid_event");
      expect(error.message).to.match(new RegExp(`^Line ${lines.length} is not an event`));
      expect(error.hint).to.contain("cut off");
    }
  });

  it("names the fault in a first line", async () => {
    for (const [change, field] of [
      [{ token: TOKEN }, "token"],
      [{ token: { address: TOKEN } }, "token"],
      [{ token: { address: TOKEN.toUpperCase(), firstBlock: 1 } }, "token"],
      [{ token: { address: TOKEN, firstBlock: -1 } }, "token"],
      [{ form: "some" }, "form"],
      [{ params: { windowSeconds: 0 } }, "params.windowSeconds"],
    ] as const) {
      const broken = (line: string, n: number) =>
        n === 0 ? JSON.stringify({ ...JSON.parse(line), ...change }) : line;
      const error = await failure(linesOf(exported(), (lines) => lines.map(broken)));
      expect(error.code).to.equal("invalid_event");
      expect(error.message)
        .to.match(/^Line 1 /)
        .and.contain(field);
    }
    for (const form of ["all", "relevant"]) {
      const said = (line: string, n: number) => (n === 0 ? line.replace("{", `{"form":"${form}",`) : line);
      await deriveLog(
        linesOf(exported(), (lines) => lines.map(said)),
        { trustSignatures: true },
      );
    }
  });

  it("counts at most ten other tokens", async () => {
    const log = exported();
    const coins = Array.from({ length: 50 }, (_, n) => {
      log.after(1).transfer(buyer, seller, 1n);
      return wallet(100 + n);
    });
    let n = 0;
    const lines = (all: string[]) =>
      all.map((line, at) => (at < 7 ? line : line.replace(TOKEN, coins[n++] as string)));
    const { otherTokens } = await deriveLog(linesOf(log, lines), { trustSignatures: true });
    expect([...otherTokens.keys()]).to.deep.equal(coins.slice(0, 10));
  });
});
