import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import { itemsOf, listLength } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { applyRelevant } from "tallystick-derive/relevant/applyRelevant";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Address } from "tallystick-protocol/address";
import { paramsSchema } from "tallystick-protocol/records/params";
import { TooManyLogsError } from "../../../indexer/logPort/errors.ts";
import { ChainTransfers, END } from "../../../indexer/relevant/chainView.ts";
import { readAhead } from "../../../indexer/relevant/readAhead.ts";
import { readPastOf } from "../../../indexer/relevant/readPast.ts";
import { receiversOf } from "../../../indexer/relevant/receiversOf.ts";
import type { ReadOnce, RetryRead } from "../../../indexer/relevant/retryRead.ts";
import { TransfersAhead } from "../../../indexer/relevant/transfersAhead.ts";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { auditSteps } from "../../derive/oracle/auditActions.ts";
import { auditLog } from "../../derive/oracle/auditLog.ts";
import { distantLogOf, generatedLog } from "../../derive/oracle/generatedLog.ts";
import { relevant } from "../../derive/relevant/agreement.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const RUNS = Number(process.env.RELEVANT_RUNS ?? 25);
const SEED = { seed: Number(process.env.RELEVANT_SEED ?? 1) };

const call = { signal: new AbortController().signal, deadlineMs: 1_000 };

/** A node repeats a read that fails. So a failure that comes again each time would stop it for ever. */
const retryRead: RetryRead = (work) =>
  work(call).catch((cause) => {
    throw new Error("A node would repeat this read without an end.", { cause });
  });

/** Makes the log of a node from blocks and from Ponder's events. None of these events is a transfer. */
async function linesThroughPort(
  events: readonly DeriveEvent[],
  { finality, wakeUps, senders = 1_000, failing = 0 }: Way,
  port = portOf(events),
): Promise<DeriveEvent[]> {
  let reads = 0;
  const readOnce: ReadOnce = async (work) => {
    if (failing > 0 && ++reads % failing === 0) throw new Error("The source has no answer.");
    return work(call);
  };
  const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce });
  const ahead = new TransfersAhead({ senders });
  const store = new MemoryStore();
  const lines: DeriveEvent[] = [];
  let after = { block: -1, log: END };
  const watched = {
    list: async () => {
      const wallets: Address[] = [];
      for (const it of itemsOf(store, WATCHED)) wallets.push(it as Address);
      return wallets;
    },
    receivers: async (wallets: readonly Address[]) => receiversOf(store, wallets, heldParams().hubTransfers),
  };
  const heldParams = () => paramsSchema.parse(JSON.parse(store.get("state", STATE_ID)?.params ?? "{}"));
  const step = async (block: number, log: number, event: DeriveEvent | null) => {
    port.final = Math.max(port.final, block - finality);
    const view = await chain.at({ block, hash: hashOf(block) }, retryRead);
    const read = readPastOf(view, (it) => ahead.isAuthorized(view, it));
    const apply = async (it: DeriveEvent) => {
      lines.push(...(await applyRelevant(store, it, read, { trustSignatures: true })));
    };
    const applyUntilMoreAreWatched = async (some: readonly DeriveEvent[]) => {
      const before = listLength(store, WATCHED);
      let applied = 0;
      while (applied < some.length && listLength(store, WATCHED) === before) {
        await apply(some[applied++] as DeriveEvent);
      }
      return applied;
    };
    const until = { block, log };
    const params = heldParams();
    await ahead.bringIn(view, { after, until, watched, params, apply: applyUntilMoreAreWatched });
    const agents = new Set(await watched.list());
    const together = events.filter((it) => it.kind === "record" && it.block === block);
    await readAhead(view, together, params, (it) => agents.has(it));
    after = log === END ? until : { block, log: log - 1 };
    if (event !== null) await apply(event);
  };
  for (const [n, event] of events.entries()) {
    const isLast = events[n + 1]?.block !== event.block;
    if (event.kind === "params") await applyParams(store, event, lines);
    else if (event.kind === "tick") await step(event.block, END, event);
    else if (event.kind !== "transfer") await step(event.block, event.log, event);
    if (n === events.length - 1 || (isLast && wakeUps > 0 && event.block % wakeUps === 0)) {
      await step(event.block, END, null);
    }
  }
  return lines;
}

async function applyParams(
  store: MemoryStore,
  event: DeriveEvent & { kind: "params" },
  lines: DeriveEvent[],
) {
  const first = { ...event, form: "relevant" } as const;
  lines.push(...(await applyRelevant(store, first, () => [], { trustSignatures: true })));
}

type Way = {
  finality: number;
  wakeUps: number;
  /** The most senders whose past is requested together. */
  senders?: number;
  /** Of the reads in the background, one in this many fails. */
  failing?: number;
};

const ways = fc.record({
  // A number below zero is for a backfill, in which later blocks are final already.
  finality: fc.constantFrom(-100_000, -20, 0, 3, 40, 100_000),
  wakeUps: fc.constantFrom(0, 1, 5),
  senders: fc.constantFrom(1, 3, 1_000),
  failing: fc.constantFrom(0, 1, 3),
});

describe("the log of the transfers that matter, read through a log port", () => {
  const isSame = async (log: { events: DeriveEvent[] }, way: Way) => {
    const lines = await linesThroughPort(log.events, way);
    expect(lines).to.deep.equal(await relevant(log as never));
  };

  it("equals the relevant log that is made from all transfers, line by line", async () => {
    const log = distantLogOf({ minLength: 5, maxLength: 50 }, 5);
    await fc.assert(fc.asyncProperty(log, ways, isSame), { numRuns: RUNS, ...SEED });
  }).timeout(0);

  it("is equal for the logs of the oracle's tests", async () => {
    await fc.assert(fc.asyncProperty(generatedLog, ways, isSame), { numRuns: RUNS, ...SEED });
  }).timeout(0);

  it("is equal for logs with audits", async () => {
    const property = fc.asyncProperty(auditSteps, ways, async (steps, way) =>
      isSame(await auditLog(steps), way),
    );
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 8), ...SEED });
  }).timeout(0);

  it("reads the past of many senders in few requests", async () => {
    const log = new EventLog();
    const senders = 300;
    for (let n = 0; n < senders; n++) log.listing(wallet(1 + n), "text.translate");
    for (let n = 0; n < senders; n++) {
      log.after(60).transfer(wallet(10_000 + n), wallet(1_000 + n), 2_000_000);
      log.after(60).transfer(wallet(1_000 + n), wallet(1 + n), 1_000_000);
    }
    const last = log.after(60).events.at(-1)?.block ?? 0;
    log.tick();
    const port = portOf(log.events);
    const lines = await linesThroughPort(log.events, { finality: -last, wakeUps: 0 }, port);
    expect(lines).to.deep.equal(await relevant(log));
    expect(lines.filter(({ kind }) => kind === "history")).to.have.length(senders);
    // There is one request for each listing, because each listing here is an event of its own.
    expect(port.calls).to.be.below(senders + 20);
  });

  it("reads the past of a market's customers in few requests, although its sellers begin to buy only later", async () => {
    const log = new EventLog();
    const [agents, customers] = [20, 200];
    for (let n = 0; n < agents; n++) log.listing(wallet(1 + n), "text.translate");
    for (let n = 0; n < customers; n++) {
      log.after(60, 10);
      if (n % 10 === 0) log.hire(wallet(1 + ((n / 10) % agents)), wallet(1 + ((n / 10 + 7) % agents)));
      log.transfer(wallet(100 + n), wallet(1 + (n % agents)), 1_000_000 + 100_000 * (n % 7));
    }
    const last = log.after(60).events.at(-1)?.block ?? 0;
    log.tick();
    const port = portOf(log.events);
    const lines = await linesThroughPort(log.events, { finality: -last, wakeUps: 0 }, port);
    expect(lines).to.deep.equal(await relevant(log));
    expect(port.calls).to.be.below(agents + 60);
  });

  it("reads nothing of the past of senders whose money cannot matter", async () => {
    const log = new EventLog({ hubs: [wallet(3)] });
    log.listing(wallet(1), "text.translate");
    log.after(60).transfer(wallet(2), wallet(1), 50_000_000);
    for (let n = 0; n < 40; n++) log.after(60).transfer(wallet(100 + n), wallet(1), 1_000_000);
    log.after(60).transfer(wallet(3), wallet(1), 90_000_000);
    log.after(60).tick();
    const port = portOf(log.events);
    const asked = new Set<Address>();
    const { transfersFrom } = port;
    port.transfersFrom = (wallets, place, call) => {
      for (const it of wallets) asked.add(it);
      return transfersFrom(wallets, place, call);
    };
    const lines = await linesThroughPort(log.events, { finality: 10, wakeUps: 1 }, port);
    expect(lines).to.deep.equal(await relevant(log));
    // Only this sender is asked for. Its money is the seller's first money, so it may fund the seller.
    expect([...asked]).to.deep.equal([wallet(2)]);
  });

  it("reads fewer blocks at a time if a wallet got more transfers than one call may return", async () => {
    const log = new EventLog();
    log.listing(wallet(1), "text.translate");
    for (let n = 0; n < 200; n++) log.after(60).transfer(wallet(2), wallet(1), 1_000);
    const last = log.after(60).events.at(-1)?.block ?? 0;
    log.tick();
    const port = portOf(log.events);
    const read = port.transfersTo;
    port.transfersTo = async (wallets, place, call) => {
      const found = await read(wallets, place, call);
      if (found.length > 30) throw new TooManyLogsError(port.name, 30);
      return found;
    };
    const lines = await linesThroughPort(log.events, { finality: -last, wakeUps: 0 }, port);
    expect(lines).to.deep.equal(await relevant(log));
  });

  it("reads the authorizations of fewer blocks at a time if senders used more than one call may return", async () => {
    for (const most of [1, 30]) {
      const log = new EventLog();
      log.listing(wallet(1), "text.translate");
      for (let n = 0; n < 200; n++) {
        log.after(60).transfer(wallet(2), wallet(3), 1_000, { authorized: true });
        const authorized = n % 3 === 0;
        log.transfer(wallet(2 + (n % 2)), wallet(1), 1_000, { authorized });
      }
      const last = log.after(60).events.at(-1)?.block ?? 0;
      log.tick();
      const port = portOf(log.events);
      const read = port.authorizationsBy;
      let [calls, refused] = [0, 0];
      port.authorizationsBy = async (wallets, place, limits) => {
        calls++;
        const isOneBlock = "hash" in place || place.from === place.to;
        const found = await read(wallets, place, limits);
        if (isOneBlock || found.length <= most) return found;
        refused++;
        throw new TooManyLogsError(port.name, most);
      };
      const lines = await linesThroughPort(log.events, { finality: -last, wakeUps: 0 }, port);
      expect(lines).to.deep.equal(await relevant(log));
      expect(refused).to.be.within(1, calls / 2 + 10);
      if (most === 30) expect(calls).to.be.below(60);
    }
  });

  it("reads blocks above finality one by one, and reads no transaction before the token has a final block", async () => {
    const port = portOf([]);
    port.final = 2;
    const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 1, readOnce: retryRead });
    const view = await chain.at({ block: 5, hash: hashOf(5) }, retryRead);
    expect([view.final, view.recent.map(({ block }) => block)]).to.deep.equal([2, [3, 4, 5]]);
    port.final = 0;
    port.transactionLogs = () => Promise.reject(new Error("There is no final block of the token."));
    const young = await new ChainTransfers({ port, token: TOKEN, firstBlock: 1, readOnce: retryRead }).at(
      view.head,
      retryRead,
    );
    const read = readPastOf(young, async () => false);
    const [place, other] = [{ block: 5, log: 0 }, TOKEN];
    const asked = {
      kind: "payments",
      tx: hashOf(9),
      from: other,
      to: other,
      value: 1n,
      after: null,
    } as const;
    const tick = { kind: "tick", block: 5, time: 0 } as const;
    expect(await read([{ ...asked, before: place, limit: 1 }], tick)).to.deep.equal([[]]);
  });
});
