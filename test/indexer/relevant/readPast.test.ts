import { expect } from "chai";
import { paramsSchema } from "tallystick-protocol/records/params";
import { ChainTransfers } from "../../../indexer/relevant/chainView.ts";
import { authorizes, readPastOf } from "../../../indexer/relevant/readPast.ts";
import { readPaths } from "../../../indexer/relevant/readPaths.ts";
import type { RetryRead } from "../../../indexer/relevant/retryRead.ts";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const SENDER = wallet(2);
const read: RetryRead = (work) => work({ signal: new AbortController().signal, deadlineMs: 1_000 });

/** A view of a chain on which money reached a sender five times, and the sender paid twice, at its end. */
async function openView({ recent }: { recent: number }) {
  const log = new EventLog();
  for (let n = 0; n < 5; n++) log.after(60).transfer(wallet(10 + n), SENDER, 5_000_000);
  for (let n = 0; n < 2; n++) log.after(60).transfer(SENDER, wallet(1), 1_000_000);
  const port = portOf(log.events);
  const last = log.events.at(-1)?.block ?? 0;
  port.final = last - recent;
  const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce: read });
  const view = await chain.at({ block: last, hash: hashOf(last) }, read);
  const past = readPastOf(view, async () => false);
  const end = { block: last + 1, log: 0 };
  const tick = { kind: "tick", block: last + 1, time: 0 } as const;
  return { port, view, past, end, tick };
}

describe("the past that an event needs", () => {
  it("is not requested again for a sender whose later inflows were read in advance", async () => {
    const { port, view, past, end, tick } = await openView({ recent: 0 });
    await readPaths(view, [SENDER], paramsSchema.parse({}), () => false);
    const { calls } = port;
    const all = await past(
      [{ kind: "transfersTo", wallet: SENDER, known: 0, after: null, before: end, limit: 10 }],
      tick,
    );
    const second = all[0]?.[1];
    expect(all[0]).to.have.length(5);
    const after = { block: second?.block ?? 0, log: second?.log ?? 0 };
    for (const limit of [8, 2]) {
      const further = await past(
        [{ kind: "transfersTo", wallet: SENDER, known: 2, after, before: end, limit }],
        tick,
      );
      expect(further[0]?.map(({ from }) => from)).to.deep.equal(
        [wallet(12), wallet(13), wallet(14)].slice(0, limit),
      );
    }
    expect(port.calls).to.equal(calls);
  });

  it("is requested if not all inflows after a place are known", async () => {
    const { past, end, tick, view } = await openView({ recent: 0 });
    await view.transfers.first("transfersTo", [SENDER], view.final, 3, read);
    const first = await past(
      [{ kind: "transfersTo", wallet: SENDER, known: 0, after: null, before: end, limit: 2 }],
      tick,
    );
    const { block = 0, log = 0 } = first[0]?.[1] ?? {};
    const further = await past(
      [{ kind: "transfersTo", wallet: SENDER, known: 2, after: { block, log }, before: end, limit: 3 }],
      tick,
    );
    expect(further[0]).to.have.length(3);
  });

  for (const recent of [0, 1, 2]) {
    it(`tells that a sender sent two transfers, of which ${recent} are not final`, async () => {
      const { past, view, end, tick } = await openView({ recent });
      await readPaths(view, [SENDER], paramsSchema.parse({}), () => false);
      const ask = async (limit: number) =>
        (await past([{ kind: "transfersFrom", wallet: SENDER, before: end, limit }], tick))[0];
      expect(await ask(2)).to.have.length(2);
      expect(await ask(1)).to.have.length(1);
      expect(await ask(3)).to.deep.equal([]);
    });
  }

  for (const recent of [0, 1, 2]) {
    it(`tells where a sender first spent without its list of transfers, if ${recent} of them are not final`, async () => {
      const { past, view, end, tick } = await openView({ recent });
      await readPaths(view, [SENDER], paramsSchema.parse({}), () => false);
      // The list may have left memory.
      view.transfers.first = () => Promise.reject(new Error("A list was asked for."));
      const ask = async (before: { block: number; log: number }) =>
        (await past([{ kind: "firstSpent", wallet: SENDER, before }], tick))[0];
      const [spent, ...others] = (await ask(end)) ?? [];
      expect(others).to.deep.equal([]);
      expect(spent).to.include({ from: SENDER, value: "1000000", block: end.block - 2 });
      expect(spent?.time).to.be.above(0);
      expect(await ask({ block: end.block - 2, log: 0 })).to.deep.equal([]);
    });
  }

  it("has an authorization only of the sender itself, in the log right before the transfer", () => {
    const [tx, nonce] = [hashOf(1), hashOf(2)];
    const place = { block: 5, blockHash: hashOf(5), log: 6, tx };
    const used = { ...place, time: null, authorizer: SENDER, nonce };
    const transfer = { ...place, log: 7, from: SENDER };
    expect(authorizes([used], transfer)).to.equal(true);
    for (const other of [{ log: 5 }, { log: 7 }, { block: 4 }, { tx: nonce }, { authorizer: wallet(3) }])
      expect(authorizes([{ ...used, ...other }], transfer), JSON.stringify(other)).to.equal(false);
  });
});
