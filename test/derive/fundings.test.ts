import { expect } from "chai";
import { openContext } from "tallystick-derive/applyContext";
import {
  addFundingTransfer,
  paidForHire,
  presumePayment,
  presumptionEnds,
} from "tallystick-derive/funding/fundings";
import { isFundingSize } from "tallystick-derive/funding/isFundingSize";
import { formatLeg } from "tallystick-derive/funding/legs";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { findWallet } from "tallystick-derive/wallets";
import type { Address } from "tallystick-protocol/address";
import { defineParams, type Params } from "tallystick-protocol/records/params";
import { EventLog, wallet } from "./eventLog.ts";

const [funder, receiver] = [wallet(100), wallet(1)];
const leg = (n: number, from = funder) => ({ from, block: n, time: 10 * n, log: 0 });

describe("the fundings of a wallet", () => {
  function open() {
    const context = openContext(new MemoryStore(), { kind: "tick", block: 1, time: 1 });
    const lines = () => findWallet(context, receiver)?.fundings;
    return { context, lines };
  }

  it("are lines in the order in which they came", () => {
    const { context, lines } = open();
    addFundingTransfer(context, receiver, leg(1), false);
    expect(lines()).to.equal(formatLeg(leg(1), "plain"));
    addFundingTransfer(context, receiver, leg(2), true);
    const line = presumePayment(context, receiver, leg(3));
    expect(line).to.equal(`${receiver} ${formatLeg(leg(3), "presumed")}`);
    const kinds = ["plain", "claimable", "presumed"] as const;
    expect(lines()).to.equal(kinds.map((kind, n) => formatLeg(leg(n + 1), kind)).join("\n"));
  });

  it("are marked where they are when a receipt claims them, first, in between or last; only transfers that a receipt may claim", () => {
    for (const n of [1, 2, 3]) {
      const { context, lines } = open();
      for (const it of [1, 2, 3]) addFundingTransfer(context, receiver, leg(it), true);
      paidForHire(context, { ...leg(n), to: receiver });
      const after = [1, 2, 3].map((it) => formatLeg(leg(it), it === n ? "paid" : "claimable")).join("\n");
      expect(lines()).to.equal(after);
      paidForHire(context, { ...leg(n), to: receiver });
      paidForHire(context, { ...leg(4), to: receiver });
      paidForHire(context, { ...leg(1), to: wallet(2) });
      expect(lines()).to.equal(after);
    }
    const { context, lines } = open();
    addFundingTransfer(context, receiver, leg(1), false);
    paidForHire(context, { ...leg(1), to: receiver });
    expect(lines()).to.equal(formatLeg(leg(1), "plain"));
  });

  it("lose a presumed payment when a receipt claims it, and get it as their last when none did in time", () => {
    for (const n of [1, 2, 3]) {
      const { context, lines } = open();
      for (const it of [1, 2, 3]) presumePayment(context, receiver, leg(it));
      const others = [1, 2, 3].filter((it) => it !== n).map((it) => formatLeg(leg(it), "presumed"));
      presumptionEnds(context, receiver, formatLeg(leg(n), "presumed"));
      expect(lines()).to.equal([...others, formatLeg(leg(n), "plain")].join("\n"));
      presumptionEnds(context, receiver, formatLeg(leg(n), "presumed"));
      expect(lines(), "it ends once").to.equal([...others, formatLeg(leg(n), "plain")].join("\n"));
      const [first = 0, second = 0] = [1, 2, 3].filter((it) => it !== n);
      paidForHire(context, { ...leg(first), to: receiver });
      presumptionEnds(context, receiver, formatLeg(leg(first), "presumed"));
      expect(lines()).to.equal([formatLeg(leg(second), "presumed"), formatLeg(leg(n), "plain")].join("\n"));
    }
    const { context, lines } = open();
    presumePayment(context, receiver, leg(1));
    paidForHire(context, { ...leg(1), to: receiver });
    expect(lines()).to.equal("");
    presumptionEnds(context, wallet(2), formatLeg(leg(1), "presumed"));
    expect(findWallet(context, wallet(2))).to.equal(null);
  });

  it("are as large as both limits at least", () => {
    const fundingShare = { numerator: 2, denominator: 7 };
    const params = defineParams({ minFundingAtomic: "10", fundingShare }) as Params;
    for (const [value, received, isLarge] of [
      [10n, 10n, true],
      [9n, 9n, false],
      [20n, 70n, true],
      [19n, 70n, false],
      [20n, 71n, false],
      [10n, 36n, false],
      [10n, 35n, true],
    ] as const)
      expect(isFundingSize(params, value, received), `${value} of ${received}`).to.equal(isLarge);
  });
});

describe("the funders of an agent", () => {
  /** How many agents the funder has a funding of, and the funders of agent 1, when all transfers were before its registration. */
  async function fundersOf(log: EventLog, agents = [1]) {
    for (const n of agents) log.after(1, 300).listing(wallet(n), "text.translate");
    const rows = (await log.derive()).store.rows("orderIndex");
    return [...rows.values()]
      .filter(({ id }) => id.startsWith("funded/"))
      .map(({ id, value }) => [id.slice(7), value]);
  }
  /** Each sum is larger than all earlier ones together, so each transfer is a funding transfer. */
  const send = (log: EventLog, from: Address, to: Address) =>
    log.transfer(from, to, 100_000n * 2n ** BigInt(log.events.length));

  it("are not the agent itself, also if its money came back through another wallet", async () => {
    const log = new EventLog();
    send(log, receiver, wallet(50));
    send(log.after(1), wallet(50), receiver);
    expect((await fundersOf(log)).map(([it]) => it)).to.deep.equal([wallet(50)]);
  });

  it("are also those before an agent that was registered later in the same block than its money left it", async () => {
    for (const [isFirst, funders] of [
      [true, [wallet(50)]],
      [false, [wallet(50), funder]],
    ] as const) {
      const log = new EventLog();
      send(log, funder, wallet(50));
      log.after(1);
      if (isFirst) log.listing(wallet(50), "text.summarize");
      send(log, wallet(50), receiver);
      if (!isFirst) log.listing(wallet(50), "text.summarize");
      const all = await fundersOf(log);
      const of1 = all.filter(([, value]) => value?.includes(receiver)).map(([it]) => it);
      expect(of1, `${isFirst}`).to.have.members(funders);
    }
  });

  it("have money that came to a wallet earlier in the same block, not later", async () => {
    for (const isBefore of [true, false]) {
      const log = new EventLog();
      if (isBefore) send(log, funder, wallet(50));
      send(log, wallet(50), receiver);
      if (!isBefore) send(log, funder, wallet(50));
      const of1 = (await fundersOf(log)).map(([it]) => it);
      expect(of1).to.have.members(isBefore ? [wallet(50), funder] : [wallet(50)]);
    }
  });

  it("are the nearest 64: of two ways from one funder the shorter counts, and of two equal ones the earlier", async () => {
    const last = wallet(50);
    const [asked, between, beside] = [wallet(60), wallet(61), wallet(62)];
    const others = (from: number, count: number) => Array.from({ length: count }, (_, n) => wallet(from + n));
    const isFound = async (log: EventLog) => {
      send(log.after(1), last, receiver);
      const all = (await fundersOf(log)).filter(([, value]) => value?.includes(receiver));
      expect(all).to.have.length(64);
      return all.some(([it]) => it === asked);
    };

    for (const isShortFirst of [true, false]) {
      const log = new EventLog();
      const short = () => send(log.after(1), asked, last);
      for (const it of others(2_000, 3)) send(log, it, wallet(1_000));
      send(log.after(1), asked, between);
      if (isShortFirst) short();
      send(log.after(1), between, last);
      if (!isShortFirst) short();
      // The last wallet, `between`, these and the short way are 63, so one of the ways of three transfers counts too.
      for (const it of others(1_000, 60)) send(log.after(1), it, last);
      expect(await isFound(log), `the short way first: ${isShortFirst}`).to.equal(true);
    }

    for (const isEarlyFirst of [true, false]) {
      const log = new EventLog();
      // Both ways have three transfers. The walk sees the way through `between` first.
      send(log, asked, isEarlyFirst ? between : beside);
      for (const it of others(2_000, 1)) send(log.after(1), it, wallet(1_000));
      send(log.after(1), asked, isEarlyFirst ? beside : between);
      send(log.after(1), between, last);
      send(log.after(1), beside, last);
      // The last wallet, these two and 60 others are nearer, so there is one place: for the earliest first transfer.
      for (const it of others(1_000, 60)) send(log.after(1), it, last);
      expect(await isFound(log), `the early way first: ${isEarlyFirst}`).to.equal(true);
    }
  });
});
