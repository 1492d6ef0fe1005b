import { expect } from "chai";
import { snapshotOf } from "../../../indexer/src/derive/snapshot.ts";
import type { TallystickError } from "../../../protocol/errors.ts";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { DAY, EventLog, wallet } from "../../indexer/derive/eventLog.ts";

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

async function failure(lines: AsyncIterable<string>): Promise<TallystickError> {
  try {
    await deriveLog(lines, { trustSignatures: true });
  } catch (error) {
    return error as TallystickError;
  }
  throw new Error("it was read without complaint");
}

describe("scripts/eventLog", () => {
  it("derives a log line by line as its events applied one by one", async () => {
    const log = story();
    const { store, events } = await deriveLog(linesOf(log), { trustSignatures: true });
    const { store: _, ...expected } = await log.derive();
    expect(snapshotOf(store)).to.deep.equal(expected);
    expect(events).to.equal(log.events.length);
  });

  it("takes many lines in one text, and counts the empty ones among them", async () => {
    const lines = story().events.map((event) => JSON.stringify(event));
    const inOne = async function* () {
      yield [...lines.slice(0, 3), "", ...lines.slice(3)].join("\n");
      yield "{";
    };
    expect((await failure(inOne())).message).to.match(new RegExp(`^Line ${lines.length + 2} `));
  });

  it("stops after the block asked for", async () => {
    const { store } = await deriveLog(linesOf(story()), { trustSignatures: true, atBlock: 2 });
    expect(snapshotOf(store).agents[seller]?.last_30d_hire_count).to.equal(1);
    expect(snapshotOf(store).asOf.block).to.equal(2);
  });

  it("leaves out transfers of other tokens, and says how many there were", async () => {
    const { store, otherTokens } = await deriveLog(linesOf(story()), {
      trustSignatures: true,
      token: wallet(9),
    });
    expect([...otherTokens.values()]).to.deep.equal([2]);
    expect(snapshotOf(store).agents).to.deep.equal({});
  });

  it("does not accept a signature it cannot verify, unless told to", async () => {
    const { store } = await deriveLog(linesOf(story()));
    expect([...store.rows("record").values()].map((it) => it.status)).to.deep.equal(["invalid", "invalid"]);
  });

  it("names the line that is not an event, and the field", async () => {
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

  it("names the line that stands out of order or comes twice", async () => {
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

  it("says so when events contradict each other", async () => {
    const log = new EventLog();
    log.after(DAY).released(log.hash());
    const error = await failure(linesOf(log));
    expect(error.code).to.equal("contradictory_event");
    expect(error.message).to.match(/^Line 2 .*never deposited/);
  });
});
