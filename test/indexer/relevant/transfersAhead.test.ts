import { expect } from "chai";
import type { TransferEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { paramsSchema } from "tallystick-protocol/records/params";
import { ChainTransfers, END } from "../../../indexer/relevant/chainView.ts";
import type { ReadOnce } from "../../../indexer/relevant/retryRead.ts";
import { TransfersAhead } from "../../../indexer/relevant/transfersAhead.ts";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const AGENT = wallet(1);
const CUSTOMERS = 12;
/** The most senders whose past is requested together. */
const SENDERS = 3;

const call = { signal: new AbortController().signal, deadlineMs: 1_000 };

/**
 * Brings in one payment of each of 12 customers to an agent.
 *
 * @param options.ask called before each request for the past of senders
 * @param options.busy these customers sent so many transfers before
 * @param options.apply called when a transfer is applied
 */
async function bringIn({
  ask,
  apply = () => {},
  readOnce = (work) => work(call),
  busy = [],
  watched = () => [AGENT],
}: {
  ask: (wallets: readonly Address[], limit: number | undefined) => Promise<void> | void;
  busy?: readonly number[];
  watched?: () => readonly Address[];
  apply?: (transfer: TransferEvent) => void;
  readOnce?: ReadOnce;
}): Promise<void> {
  const log = new EventLog();
  for (const n of busy) for (let sent = 0; sent < 150; sent++) log.transfer(wallet(100 + n), wallet(9), 1);
  for (let n = 0; n < CUSTOMERS; n++) log.after(60).transfer(wallet(100 + n), AGENT, 5_000_000);
  const port = portOf(log.events);
  port.final = log.events.at(-1)?.block ?? 0;
  const { transfersFrom } = port;
  port.transfersFrom = async (wallets, place, limits) => {
    await ask(wallets, limits.limit);
    return transfersFrom(wallets, place, limits);
  };
  const head = { block: port.final, hash: hashOf(port.final) };
  const view = await new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce }).at(head, (work) =>
    work(call),
  );
  await new TransfersAhead({ senders: SENDERS }).bringIn(view, {
    after: { block: -1, log: END },
    until: { block: port.final, log: END },
    params: paramsSchema.parse({}),
    watched: {
      list: async () => watched(),
      receivers: async (wallets) =>
        new Map(wallets.map((it) => [it, { received: 0n, isTraced: true, isFull: false }])),
    },
    apply: async (transfers) => {
      for (const it of transfers) apply(it);
      return transfers.length;
    },
  });
}

const customers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => wallet(100 + from + n));

describe("transfers that are read in advance", () => {
  it("are applied while the past of later senders is read", async () => {
    const firstApplied = Promise.withResolvers<void>();
    const asked: (readonly Address[])[] = [];
    const applied: Address[] = [];
    await bringIn({
      // A node that waits for the second answer before it applies anything waits for ever here.
      ask: async (wallets) => {
        if (asked.push(wallets) > 1) await firstApplied.promise;
      },
      apply: ({ from }) => {
        applied.push(from);
        firstApplied.resolve();
      },
    });
    expect(asked).to.deep.equal([customers(0, 3), customers(3, 6), customers(6, 9), customers(9, 12)]);
    expect(applied).to.deep.equal(customers(0, CUSTOMERS));
  });

  it("are not requested twice at the same time", async () => {
    let [open, most] = [0, 0];
    await bringIn({
      ask: async () => {
        most = Math.max(most, ++open);
        await new Promise(setImmediate);
        open--;
      },
    });
    expect(most).to.equal(1);
  });

  it("are requested again when they are needed, if the source failed in the background", async () => {
    const asked: Address[] = [];
    let failed = 0;
    await bringIn({
      ask: (wallets) => void asked.push(...wallets),
      readOnce: async () => {
        failed++;
        throw new Error("The source has no answer.");
      },
    });
    expect(asked).to.deep.equal(customers(0, CUSTOMERS));
    expect(failed).to.be.at.least(3);
  });

  it("have a small part of their senders' past in the background, and the rest before they are applied", async () => {
    const asked: [wallets: readonly Address[], limit: number | undefined][] = [];
    const applied: (readonly [Address, number])[] = [];
    await bringIn({
      busy: [4, 8],
      ask: (wallets, limit) => void asked.push([wallets, limit]),
      apply: ({ from }) => applied.push([from, asked.length]),
    });
    expect(asked).to.deep.equal([
      [customers(0, 3), 1_000],
      [customers(3, 6), 100],
      [customers(4, 5), 1_000],
      [customers(6, 9), 100],
      [customers(8, 9), 1_000],
      [customers(9, 12), 100],
    ]);
    // The first of the second three is applied when all of their past is read, and that of the third three is requested.
    expect(applied[3]).to.deep.equal([wallet(103), 4]);
  });

  it("are covered by what was read in the background, although wallets without transfers are watched meanwhile", async () => {
    const asked: (readonly Address[])[] = [];
    const others: Address[] = [];
    let opened = 0;
    await bringIn({
      ask: (wallets) => void asked.push(wallets),
      apply: () => others.push(wallet(1_000 + others.length)),
      watched: () => [AGENT, ...others],
      readOnce: (work) => {
        opened++;
        return work(call);
      },
    });
    expect(asked).to.deep.equal([customers(0, 3), customers(3, 6), customers(6, 9), customers(9, 12)]);
    expect(opened).to.be.at.least(3);
  });
});
