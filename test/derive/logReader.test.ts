import { expect } from "chai";
import { LogReader } from "tallystick-derive/logReader";
import { TallystickError } from "tallystick-protocol/errors";
import { defineParams } from "tallystick-protocol/records/params";
import { LEDGER, TOKEN, wallet } from "./eventLog.ts";

type Line = { [field: string]: unknown };

const OTHER = wallet(0x71);
const digest = `0x${"0a".repeat(32)}`;
const params = (more: Line = {}): Line => ({
  ...{ kind: "params", block: 1, log: 0, time: 100, params: defineParams({}) },
  ...{ token: { address: TOKEN, firstBlock: 1 } },
  ...more,
});
const tick = (block: number, time = 100 + block): Line => ({ kind: "tick", block, time });
const transfer = (block: number, log: number, more: Line = {}): Line => ({
  ...{ kind: "transfer", block, log, time: 100 + block, token: TOKEN, from: wallet(1), to: wallet(2) },
  ...{ value: "1", tx: digest, authorized: false },
  ...more,
});
const record = (block: number, log: number, seq: number): Line => ({
  ...{ kind: "record", block, log, seq, time: 100 + block, ledger: LEDGER, hash: "h", type: "listing" },
  ...{ body: {}, signer: wallet(1), signature: "0x" },
});
const history = (block: number, log: number, more: Line = {}): Line => ({
  ...transfer(block, log),
  kind: "history",
  ...more,
});

/** Reads lines, and tells the code and the message of the refusal, or undefined. */
function refusal(
  lines: (Line | string)[],
  token?: typeof TOKEN,
): [code: string, message: string] | undefined {
  const reader = new LogReader(token);
  try {
    for (const line of lines) reader.read(typeof line === "string" ? line : JSON.stringify(line));
    reader.finish();
  } catch (error) {
    expect(error).to.be.instanceOf(TallystickError);
    const { code, message, hint } = error as TallystickError;
    expect(hint, code).to.match(/\w{3}.*\.$|0x…$/);
    return [code, message];
  }
  return undefined;
}

const codeOf = (lines: (Line | string)[], token?: typeof TOKEN) => refusal(lines, token)?.[0];

describe("the order of an event log", () => {
  it("is block, log and seq, and a block's tick comes last", () => {
    const inOrder = [
      ...[
        params(),
        transfer(1, 0),
        transfer(1, 1),
        record(1, 2, 4),
        record(1, 2, 5),
        record(1, 3, 0),
        tick(1),
      ],
      ...[transfer(2, 0), tick(3), tick(4), transfer(9, 0)],
    ];
    expect(refusal(inOrder)).to.equal(undefined);
    for (const [before, after] of [
      [transfer(1, 1), transfer(1, 1)],
      [transfer(1, 1), transfer(1, 0)],
      [transfer(2, 0), transfer(1, 9, { time: 102 })],
      [record(1, 2, 5), record(1, 2, 5)],
      [record(1, 2, 5), record(1, 2, 4)],
      [record(1, 2, 5), transfer(1, 2)],
      [transfer(1, 2), record(1, 2, 5)],
      [tick(1), tick(1)],
      [tick(1), transfer(1, 9)],
      [tick(2), tick(1, 102)],
    ] as const) {
      const told = refusal([params(), before, after]);
      expect(told, JSON.stringify([before, after])).to.deep.equal([
        "events_out_of_order",
        "Line 3 is not after the line above it.",
      ]);
    }
  });

  it("begins with the parameters, which stand at the position of the first event or before it", () => {
    expect(codeOf([params(), transfer(1, 0)])).to.equal(undefined);
    expect(codeOf([params({ block: 2, time: 101 }), transfer(1, 5)])).to.equal("events_out_of_order");
    expect(refusal([params(), params({ block: 2 })])).to.deep.equal([
      "params_not_first",
      "Line 2 has the parameters of a log. Only the first line may have them.",
    ]);
    expect(codeOf([tick(1), params({ block: 2 })])).to.equal("params_not_first");
  });

  it("has times that do not run back", () => {
    expect(codeOf([params(), tick(1, 200), tick(2, 200)])).to.equal(undefined);
    expect(refusal([params(), tick(1, 200), tick(2, 199)])).to.deep.equal([
      "time_runs_back",
      "Line 3 has the time 199, which is before the time of the line above it, 200.",
    ]);
  });

  it("counts empty lines, and has at least one line that is not empty", () => {
    const reader = new LogReader();
    expect(reader.read(JSON.stringify(params()))).to.include({ kind: "params" });
    for (const line of ["", "  ", "\r"]) expect(reader.read(line)).to.equal(undefined);
    expect(reader.line).to.equal(4);
    expect(codeOf([params(), "", tick(1), "\t"])).to.equal(undefined);
    expect(refusal([params(), "", "{"])?.[1]).to.match(/^Line 3 is not an event: is not JSON/);
    expect(refusal([params(), { ...tick(1), time: -1 }])).to.deep.equal([
      "invalid_event",
      "Line 2 is not an event: time is missing or malformed in a tick event.",
    ]);
    for (const lines of [[], ["", " "]])
      expect(refusal(lines)).to.deep.equal(["empty_log", "The log has no events."]);
  });
});

describe("the token of an event log", () => {
  it("is named by its first line or by its reader, and not as two different ones", () => {
    const reader = new LogReader();
    expect(reader.token).to.equal(undefined);
    reader.read(JSON.stringify(params()));
    expect(reader.token).to.equal(TOKEN);
    const named = params({ token: undefined });
    expect(codeOf([named, transfer(1, 0)], TOKEN)).to.equal(undefined);
    expect(codeOf([params(), transfer(1, 0)], TOKEN)).to.equal(undefined);
    expect(refusal([params()], OTHER as typeof TOKEN)).to.deep.equal([
      "other_token",
      `The log is about the token ${TOKEN}, not about ${OTHER}.`,
    ]);
    for (const line of [transfer(1, 0), history(1, 0)])
      expect(refusal([{ ...named, form: "relevant" }, line])).to.deep.equal([
        "token_unknown",
        "Line 2 is about a transfer, and nothing says which token the log is about.",
      ]);
    expect(codeOf([named, tick(1)])).to.equal(undefined);
  });

  it("has no transfer before the first block of the log, but one of another token may be older", () => {
    const first = params({ token: { address: TOKEN, firstBlock: 5 } });
    expect(codeOf([first, transfer(5, 0)])).to.equal(undefined);
    expect(codeOf([first, transfer(4, 0, { token: OTHER })])).to.equal(undefined);
    expect(refusal([first, transfer(4, 0)])).to.deep.equal([
      "transfer_before_first_block",
      "Line 2 is of block 4, but by its first line the log begins with block 5.",
    ]);
  });
});

describe("lines about the past in an event log", () => {
  const relevant = params({ form: "relevant" });

  it("are earlier than the event that needs them, in block and log", () => {
    expect(codeOf([relevant, history(3, 9), history(2, 0), history(4, 1), transfer(4, 2)])).to.equal(
      undefined,
    );
    expect(codeOf([relevant, history(4, 1), tick(4)])).to.equal(undefined);
    for (const past of [history(4, 2), history(4, 3), history(5, 0, { time: 104 })]) {
      const told = refusal([relevant, history(1, 1), past, history(1, 2), transfer(4, 2)]);
      expect(told).to.deep.equal([
        "history_too_late",
        "Line 3 is about the past of line 5, but its position is not before that line.",
      ]);
    }
    // They concern only the next event.
    expect(codeOf([relevant, history(4, 1), transfer(4, 2), history(1, 0), transfer(4, 3)])).to.equal(
      undefined,
    );
  });

  it("are not of a later time than the event that needs them", () => {
    const late = history(2, 0, { time: 106 });
    expect(refusal([relevant, late, history(3, 0), transfer(4, 2, { time: 105 })])).to.deep.equal([
      "time_runs_back",
      "Line 4 has the time 105, which is before the time of the line above it, 106.",
    ]);
    expect(codeOf([relevant, late, transfer(4, 2, { time: 106 })])).to.equal(undefined);
  });

  it("are only in a log of relevant transfers", () => {
    for (const first of [params(), params({ form: "all" })])
      expect(refusal([first, history(1, 0)])).to.deep.equal([
        "history_in_all",
        "Line 2 is of kind history. A log of all transfers has no such line.",
      ]);
  });
});
