import { expect } from "chai";
import type { TransferEvent } from "tallystick-derive/events";
import type { Place } from "tallystick-derive/place";
import { linesOf } from "tallystick-derive/relevant/linesOf";
import type { Read } from "tallystick-derive/relevant/reads";
import type { Address } from "tallystick-protocol/address";
import { paramsSchema } from "tallystick-protocol/records/params";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { ChainTransfers } from "../../../indexer/relevant/chainView.ts";
import { readPastOf } from "../../../indexer/relevant/readPast.ts";
import { readPaths } from "../../../indexer/relevant/readPaths.ts";
import type { RetryRead } from "../../../indexer/relevant/retryRead.ts";
import { TOKEN, wallet } from "../../derive/eventLog.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const CHAINS = Number(process.env.READ_PAST_CHAINS ?? 150);
const STEPS = 8;
const BLOCKS = 30;

const retryRead: RetryRead = (work) => work({ signal: new AbortController().signal, deadlineMs: 1_000 });

/** A small random chain: few wallets, up to three transfers in a block, many of them empty. */
function chainOf(below: (bound: number) => number, wallets: readonly Address[]): TransferEvent[] {
  const pick = () => wallets[below(wallets.length)] as Address;
  return Array.from({ length: BLOCKS }, (_, block) =>
    Array.from({ length: below(4) }, (_, n): TransferEvent => {
      const place = { block, time: 60 * block, log: 2 * n, tx: hashOf(100 * block + n) };
      const sent = { from: pick(), to: pick(), value: String(below(3)), authorized: false };
      return { kind: "transfer", token: TOKEN, ...place, ...sent };
    }),
  ).flat();
}

describe("the past that is read while other reads go on, and some of them fail", () => {
  it("gives the lines of the whole chain, and never calls a wallet's transfers too few", async () => {
    const random = seededRandom(7);
    const below = (bound: number) => Math.floor(random() * bound);
    let [checked, few] = [0, 0];
    for (let chain = 0; chain < CHAINS; chain++) {
      const wallets = Array.from({ length: 2 + below(3) }, (_, n) => wallet(1 + n));
      const pick = () => wallets[below(wallets.length)] as Address;
      const all = chainOf(below, wallets);
      const ticks = Array.from({ length: BLOCKS }, (_, block) => ({
        ...({ kind: "tick", block, time: 60 * block } as const),
      }));
      const port = portOf([...all, ...ticks]);
      for (const side of ["transfersTo", "transfersFrom"] as const) {
        const read = port[side];
        port[side] = async (...asked) => {
          for (let turns = below(4); turns > 0; turns--) await new Promise(setImmediate);
          return read(...asked);
        };
      }
      const readOnce: RetryRead = async (work) => {
        if (below(6) === 0) throw new Error("The source has no answer.");
        return retryRead(work);
      };
      const views = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce });
      const background: Promise<unknown>[] = [];
      let head = below(BLOCKS);
      for (let step = 0; step < STEPS; step++) {
        head = Math.min(BLOCKS - 1, head + below(4));
        port.final = Math.max(port.final, below(2) * Math.min(BLOCKS - 1, port.final + below(6)));
        const view = await views.at({ block: head, hash: hashOf(head) }, retryRead);
        const upTo = view.finalizedHead.block;
        const params = paramsSchema.parse({
          ...{ hubTransfers: 1 + below(6), maxIntermediaries: below(3), minFundingAtomic: "1" },
        });
        const beside = { ...view, retryRead: readOnce };
        background.push(readPaths(beside, [pick(), pick()], params, () => below(3) === 0, 1 + below(5)));
        const side = (["transfersTo", "transfersFrom"] as const)[below(2)] as "transfersTo";
        background.push(
          view.transfers.first(side, [pick()], Math.min(upTo, below(BLOCKS)), 1 + below(6), readOnce),
        );
        for (const it of background) it.catch(() => {});
        const reads = Array.from({ length: 1 + below(3) }, () => readOf(all, pick(), head, below));
        const answers = await readPastOf(view, async () => false)(reads, {
          kind: "tick",
          block: head,
          time: 0,
        });
        for (const [n, read] of reads.entries()) {
          const about = `chain ${chain}, step ${step}, ${JSON.stringify(read)}`;
          expect(linesOf(read, answers[n] ?? []), about).to.deep.equal(linesOf(read, all));
          checked++;
        }
        for (const it of wallets) {
          const [at, limit] = [below(upTo + 2), below(6)];
          if (!view.transfers.sentFewer(it, at, limit)) continue;
          expect(all.filter(({ from, block }) => from === it && block <= at)).to.have.length.below(limit);
          few++;
        }
      }
      await Promise.allSettled(background);
    }
    expect(checked).to.be.above(CHAINS * STEPS);
    expect(few).to.be.above(CHAINS);
  });
});

/** A random read of a wallet's past, at a place of the chain up to its head. */
function readOf(
  all: readonly TransferEvent[],
  asked: Address,
  head: number,
  below: (bound: number) => number,
): Read {
  const before: Place = { block: below(head + 1), log: below(8) };
  const kind = (["transfersFrom", "firstSpent", "transfersTo"] as const)[below(3)];
  if (kind === "transfersFrom") return { kind, wallet: asked, before, limit: 1 + below(6) };
  if (kind === "firstSpent") return { kind, wallet: asked, before };
  const own = all.filter(
    ({ to, block, log }) =>
      to === asked && (block < before.block || (block === before.block && log < before.log)),
  );
  const known = below(own.length + 1);
  const last = own[known - 1];
  const after = last === undefined ? null : { block: last.block, log: last.log };
  return { kind: "transfersTo", wallet: asked, known, after, before, limit: 1 + below(6) };
}
