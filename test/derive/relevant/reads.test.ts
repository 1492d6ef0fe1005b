import { expect } from "chai";
import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import type { Place } from "tallystick-derive/place";
import { Answered, eachOnce } from "tallystick-derive/relevant/answered";
import { linesOf } from "tallystick-derive/relevant/linesOf";
import { MAX_EMPTY, type Read } from "tallystick-derive/relevant/reads";
import type { Address } from "tallystick-protocol/address";
import { EventLog, TOKEN, wallet } from "../eventLog.ts";
import { relevant } from "./agreement.ts";

const [A, B, C] = [1, 2, 3].map(wallet) as [Address, Address, Address];
const TX = `0x${"ab".repeat(32)}` as const;
const at = (block: number, log = 0): Place => ({ block, log });
const to = (wallet: string, before: Place): Read => {
  return { kind: "transfersTo", wallet, known: 0, after: null, before, limit: 5 };
};
const from = (wallet: string, before: Place, limit = 5): Read => {
  return { kind: "transfersFrom", wallet, before, limit };
};
const spent = (wallet: string, before: Place): Read => ({ kind: "firstSpent", wallet, before });
type Asked = { tx?: string; value?: bigint; limit?: number; after?: Place | null };
const payments = (more: Asked = {}): Read => {
  const sides = { from: A, to: B, after: null, before: at(9) };
  return { kind: "payments", tx: TX, value: 7n, limit: 5, ...sides, ...more };
};
const authorization: Read = { kind: "authorization" };

function sent(place: Place, more: Partial<TransferEvent> = {}): TransferEvent {
  const sides = { token: TOKEN, from: A, to: B, tx: TX };
  return {
    kind: "transfer",
    ...sides,
    ...place,
    time: place.block * 10,
    value: "7",
    authorized: true,
    ...more,
  };
}

describe("the reads that one event needs", () => {
  it("are answered up to the farthest place that was read of that side of the wallet", () => {
    for (const read of [to, from, spent]) {
      const answered = new Answered();
      expect(answered.has(read(A, at(1)))).to.equal(false);
      answered.add(read(A, at(5, 3)));
      answered.add(read(A, at(4)));
      const places = [at(4, 9), at(5, 2), at(5, 3), at(5, 4), at(6)];
      expect(places.map((it) => answered.has(read(A, it)))).to.deep.equal([true, true, true, false, false]);
      answered.add(read(A, at(6)));
      expect([answered.has(read(A, at(6))), answered.has(read(A, at(6, 1)))]).to.deep.equal([true, false]);
      expect(answered.has(read(B, at(1))), "another wallet").to.equal(false);
      for (const other of [to, from, spent])
        expect(answered.has(other(A, at(1))), "another side").to.equal(other === read);
    }
    const answered = new Answered();
    answered.add(from(A, at(5), 5));
    expect(answered.has(from(A, at(5), 6)), "another limit").to.equal(false);
  });

  it("are answered for exactly one payment, and for the authorization of the event", () => {
    const answered = new Answered();
    answered.add(payments());
    const others = [payments({ tx: `0x${"cd".repeat(32)}` }), payments({ value: 8n }), authorization];
    expect([payments({ limit: 1 }), ...others].map((it) => answered.has(it))).to.deep.equal([
      ...[true, false, false, false],
    ]);
    answered.add(authorization);
    expect(answered.has(authorization)).to.equal(true);
  });

  it("are made once, for each side of a wallet as far as one of them goes", () => {
    const far = [to(A, at(9)), spent(A, at(3)), from(A, at(2), 5), from(A, at(2), 6), to(B, at(1))];
    const reads = [to(A, at(8)), ...far, to(A, at(7, 5)), spent(A, at(2)), authorization, payments()];
    expect(eachOnce([...reads, authorization, payments()])).to.have.deep.members([
      ...[...far, authorization, payments()],
    ]);
    expect(eachOnce([to(A, at(1, 1)), to(A, at(1, 2))])).to.deep.equal([to(A, at(1, 2))]);
    expect(eachOnce([to(A, at(1, 2)), to(A, at(1, 1))])).to.deep.equal([to(A, at(1, 2))]);
  });
});

describe("the lines about the past", () => {
  const { authorized: _, ...plain } = sent(at(2));

  it("have the first transfers to a wallet between two places, and a count if the limit is reached", () => {
    const transfers = [1, 2, 3, 4, 5].map((block) => sent(at(block)));
    const read = (after: Place | null, before: Place, limit: number) =>
      linesOf({ kind: "transfersTo", wallet: B, known: 3, after, before, limit }, [
        ...transfers,
        sent(at(3, 1), { to: C }),
      ]);
    const blocks = (lines: ReturnType<typeof read>) => lines.map(({ kind, block }) => `${kind} ${block}`);
    expect(blocks(read(null, at(4), 9))).to.deep.equal(["history 1", "history 2", "history 3"]);
    expect(blocks(read(at(1), at(4), 9))).to.deep.equal(["history 2", "history 3"]);
    expect(blocks(read(at(1), at(6), 2))).to.deep.equal(["history 2", "history 3", "count 3"]);
    expect(read(at(1), at(3), 1)).to.deep.equal([
      { ...plain, kind: "history" },
      { block: 2, log: 0, time: 20, kind: "count", wallet: B, side: "in", transfers: 4 },
    ]);
  });

  it("have a count at the transfer with which a wallet had sent too many, if that was before the place", () => {
    const transfers = [sent(at(1), { from: C }), ...[2, 3, 4].map((block) => sent(at(block)))];
    const read = (before: Place, limit: number) => linesOf(from(A, before, limit), transfers);
    const count = (block: number, transfers: number) => ({
      ...{ block, log: 0, time: 10 * block, kind: "count", wallet: A, side: "out", transfers },
    });
    expect(read(at(5), 2)).to.deep.equal([count(3, 2)]);
    expect(read(at(5), 3)).to.deep.equal([count(4, 3)]);
    expect([read(at(4), 3), read(at(5), 4)]).to.deep.equal([[], []]);
  });

  it("have a count at a wallet's first transfer of value, or at its ten thousandth of nothing", () => {
    const empty = (count: number) => Array.from({ length: count }, (_, n) => sent(at(1, n), { value: "0" }));
    const read = (transfers: TransferEvent[], before = at(9)) =>
      linesOf(spent(A, before), transfers).map(({ block, log, ...it }) => ({ place: [block, log], ...it }));
    const count = (block: number, log: number) => ({
      ...{ place: [block, log], time: 10 * block, kind: "count", wallet: A, side: "spent", transfers: 1 },
    });
    expect(read([...empty(2), sent(at(2))])).to.deep.equal([count(2, 0)]);
    expect(read([sent(at(1), { from: C }), sent(at(3))])).to.deep.equal([count(3, 0)]);
    expect([read([sent(at(9))]), read(empty(MAX_EMPTY - 1))]).to.deep.equal([[], []]);
    expect(read([...empty(MAX_EMPTY), sent(at(2))])).to.deep.equal([count(1, MAX_EMPTY - 1)]);
  });

  it("have the transfers that may be a payment, with their authorization", () => {
    const transfers = [
      ...[sent(at(1)), sent(at(2), { value: "8" }), sent(at(3), { tx: `0x${"cd".repeat(32)}` })],
      ...[sent(at(4), { authorized: false }), sent(at(5)), sent(at(9))],
    ];
    const read = (more: Parameters<typeof payments>[0]) => linesOf(payments(more), transfers);
    expect(read({})).to.deep.equal([
      { ...sent(at(1)), kind: "history" },
      { ...sent(at(4), { authorized: false }), kind: "history" },
      { ...sent(at(5)), kind: "history" },
    ]);
    expect(read({ limit: 1 }).map(({ block }) => block)).to.deep.equal([1]);
    expect(read({ after: at(1) }).map(({ block }) => block)).to.deep.equal([4, 5]);
    expect(linesOf(authorization, transfers)).to.deep.equal([]);
  });
});

describe("a relevant log", () => {
  it("is made only from a log of all transfers that begins with its parameters", async () => {
    const log = new EventLog();
    log.transfer(A, B, 1);
    const [first, ...rest] = log.events;
    for (const events of [rest, [], [{ ...first, form: "relevant" } as DeriveEvent, ...rest]]) {
      let code = "";
      await relevant({ events }).catch((error) => ({ code } = error));
      expect(code).to.equal("not_all");
    }
    const all = await relevant({ events: [{ ...first, form: "all" } as DeriveEvent, ...rest] });
    expect(all.map((it) => it.kind)).to.deep.equal(["params"]);
  });

  it("has transfers of its token only", async () => {
    for (const [token, kinds] of [
      [TOKEN, ["params", "history", "record", "transfer"]],
      [wallet(7), ["params", "record"]],
    ] as const) {
      const log = new EventLog({}, { token: { address: token, firstBlock: 1 } });
      log.transfer(A, B, 5);
      log.after(1).listing(B, "text.translate");
      log.transfer(A, B, 5);
      expect((await relevant(log)).map((it) => it.kind)).to.deep.equal(kinds);
    }
  });
});
