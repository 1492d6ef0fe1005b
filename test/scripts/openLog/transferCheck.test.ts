import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { relevantLog } from "tallystick-derive/relevant/relevantLog";
import type { Hex } from "tallystick-protocol/hex";
import { TransferCheck } from "../../../scripts/openLog/transferCheck.ts";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { FakeChain, type Written, ZERO } from "../../indexer/logPort/support/fakeChain.ts";
import { type RpcServer, startRpcServer } from "../../indexer/logPort/support/rpcServer.ts";

const [SELLER, BUYER, STRANGER] = [wallet(1), wallet(2), wallet(3)];

/** A log of all transfers, with a tick before its last two events. */
function story(): EventLog {
  const log = new EventLog({}, { token: { address: TOKEN, firstBlock: 0 } });
  for (const to of [SELLER, BUYER, STRANGER]) {
    log.after(2);
    log.transfer(ZERO, to, 9_000_000);
  }
  log.after(2).listing(SELLER, "text.translate");
  log.after(2).hire(SELLER, BUYER);
  log.after(2).transfer(SELLER, STRANGER, 1_000_000);
  log.after(2).tick();
  log.after(2).transfer(STRANGER, SELLER, 3);
  // This wallet is watched from here on. The log gets all transfers that reached it, and one of them is after
  // the tick.
  log.after(2).transfer(BUYER, STRANGER, 5);
  log.after(2).listing(STRANGER, "text.translate");
  return log;
}

/** A chain that has these transfers. */
function chainOf(events: readonly DeriveEvent[]): FakeChain {
  const head = events.at(-1)?.block ?? 0;
  const at = (block: number): Written[] =>
    events
      .filter((it): it is TransferEvent => it.kind === "transfer" && it.block === block)
      .map(({ from, to, value }) => ({ from, to, value: BigInt(value) }) as Written);
  return new FakeChain(Array.from({ length: head }, (_, n) => at(n + 1)));
}

async function compared(lines: readonly DeriveEvent[], server: RpcServer) {
  const [store, check] = [new MemoryStore(), new TransferCheck()];
  for (const event of lines) {
    apply(store, event, { trustSignatures: true });
    check.note(event);
  }
  const { signal } = new AbortController();
  return await check.compare(store, { rpcUrl: server.url, signal, deadlineMs: 120_000 });
}

async function relevant(events: readonly DeriveEvent[]): Promise<DeriveEvent[]> {
  const lines: DeriveEvent[] = [];
  for await (const line of relevantLog(events, { trustSignatures: true })) lines.push(line);
  return lines;
}

describe("a log compared with the chain", () => {
  const { events } = story();
  const tick = events.find(({ kind }) => kind === "tick")?.block;
  let server: RpcServer;
  before(async () => {
    server = await startRpcServer(chainOf(events));
  });
  after(() => server.close());

  for (const form of ["relevant", "all"] as const) {
    const linesOf = async (log: readonly DeriveEvent[]) => (form === "relevant" ? await relevant(log) : log);

    it(`has no gaps at its last tick if it is complete, in the form ${form}`, async () => {
      const { at, checked, gaps } = await compared(await linesOf(events), server);
      expect({ block: at.block, gaps }).to.deep.equal({ block: tick, gaps: [] });
      expect(checked).to.include.members([SELLER, STRANGER]);
    });

    it(`names the wallet of a missing transfer, in the form ${form}`, async () => {
      const lost = events.findIndex((it) => it.kind === "transfer" && it.to === SELLER);
      const { gaps } = await compared(await linesOf(events.toSpliced(lost, 1)), server);
      expect(gaps.map(({ wallet, difference }) => ({ wallet, difference }))).to.deep.equal([
        { wallet: SELLER, difference: 9_000_000n },
      ]);
    });
  }

  it("is refused if its last tick is of a block of another chain", async () => {
    const ended = (hash: Hex) =>
      compared(
        events.map((it) => (it.kind === "tick" ? { ...it, hash } : it)),
        server,
      );
    const there = chainOf(events).at(tick ?? 0).hash;
    expect((await ended(there)).gaps).to.deep.equal([]);
    const error = await ended(`0x${"ab".repeat(32)}`).catch((it) => it);
    expect(error.code).to.equal("no_comparison");
    expect(error.message).to.contain(`on the chain it has ${there}`);
  });

  it("is refused if its first line names another chain, whose receipts would count", async () => {
    const of = (chainId: number) =>
      compared(
        events.map((it) => (it.kind === "params" ? { ...it, chainId } : it)),
        server,
      );
    const other = 84_532;
    // The receipt of the story is of the chain 8453.
    expect((await of(8_453)).gaps).to.deep.equal([]);
    expect((await of(other).catch((it) => it)).message).to.contain(`names the chain ${other}`);
  });

  it("is refused if it has no tick, or if its token is unknown", async () => {
    const codeOf = (log: readonly DeriveEvent[]) => compared(log, server).catch((error) => error.code);
    expect(await codeOf(events.filter(({ kind }) => kind !== "tick"))).to.equal("no_comparison");
    expect(await codeOf(new EventLog().after(2).tick().events)).to.equal("no_comparison");
  });
});
