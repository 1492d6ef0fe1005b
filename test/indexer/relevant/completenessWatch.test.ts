import { expect } from "chai";
import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { Flow, Gap } from "../../../indexer/logPort/completeness/checkCompleteness.ts";
import type { BalanceSource, LogPort, Place } from "../../../indexer/logPort/logPort.ts";
import { CompletenessWatch, type Look } from "../../../indexer/relevant/completenessWatch.ts";
import { transfersMissing } from "../../../indexer/relevant/transfersMissing.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const WALLETS = Array.from({ length: 20 }, (_, n) => wallet(n + 1));
const ROUNDS = 5;

describe("the watch over completeness", () => {
  const signal = new AbortController().signal;
  let transfers: TransferEvent[];
  let port: LogPort & { final: number };
  let balances: BalanceSource;
  let head: number;
  /** The transfers that the rows contain. */
  let known: TransferEvent[];

  beforeEach(() => {
    const log = new EventLog();
    for (let n = 0; n < 200; n++) {
      log.after(2).transfer(wallet((n * 7) % 20), wallet(1 + ((n * 3) % 20)), 1_000 + n);
    }
    transfers = log.events.filter((it): it is TransferEvent => it.kind === "transfer");
    known = [...transfers];
    head = log.block;
    port = Object.assign(portOf(log.events as DeriveEvent[]), { final: head });
    const moved = (address: Address, side: "from" | "to", upTo: number) =>
      transfers
        .filter((it) => it[side] === address && it.block <= upTo)
        .reduce((sum, { value }) => sum + BigInt(value), 0n);
    balances = {
      name: "balances",
      finalizedHead: port.finalizedHead,
      balances: async (wallets, { block }) =>
        wallets.map((it) => moved(it, "to", block) - moved(it, "from", block)),
    };
  });

  const look = (block = head): Look => ({
    at: { block, hash: hashOf(block) },
    watched: WALLETS,
    hubTransfers: 10_000,
    received: async (wallets) =>
      new Map(
        wallets.map((address): [Address, Flow] => {
          const own = known.filter(({ to, block: at }) => to === address && at <= block);
          return [
            address,
            { count: own.length, sum: own.reduce((sum, { value }) => sum + BigInt(value), 0n) },
          ];
        }),
      ),
  });

  const open = (ports: LogPort[] = [port], suspects: Address[] = []) =>
    new CompletenessWatch({ ports, balances, firstBlock: 0, rounds: ROUNDS, deadlineMs: 1_000 }, suspects);

  async function once(watch: CompletenessWatch, at = look()): Promise<Gap | null | "failed"> {
    let said: Gap | null | "failed" = "failed";
    await watch.begin(at, signal, {
      onLooked: async (gap) => {
        said = gap;
      },
      onFailed: () => {},
    });
    await watch.idle();
    return said;
  }

  it("finds nothing if nothing is missing, and reads only new blocks", async () => {
    const watch = open();
    for (let round = 0; round < 2 * ROUNDS; round++)
      expect(await once(watch, look(100 + round))).to.equal(null);
    expect(await once(watch)).to.equal(null);
    expect(watch.gaps).to.deep.equal([]);
  });

  it("finds within one rotation a transfer that the rows do not have, with its wallet and amount", async () => {
    const watch = open();
    expect(await once(watch, look(150))).to.equal(null);
    const [lost] = known.splice(
      known.findIndex(({ block }) => block > 160),
      1,
    ) as [TransferEvent];
    let gap: Gap | null | "failed" = null;
    for (let round = 0; round < ROUNDS && gap === null; round++) gap = await once(watch);
    expect(gap).to.deep.include({ wallet: lost.to, difference: BigInt(lost.value), source: port.name });
    expect(transfersMissing(gap as Gap).message).to.match(
      new RegExp(`up to block ${head} .* of ${lost.to} .* lack ${lost.value} atomic units that it received`),
    );
    // The watch checks no other wallet until the transfers of this wallet add up.
    expect(await once(watch)).to.equal("failed");
    expect((await watch.lookAgain(look(), signal))?.wallet).to.equal(lost.to);
    known.push(lost);
    expect(await watch.lookAgain(look(), signal)).to.equal(null);
    expect(await once(watch)).to.equal(null);
  });

  it("first visits the wallets whose transfers did not add up in an earlier process", async () => {
    const last = WALLETS.at(-1) as Address;
    const watch = open();
    expect(await once(watch)).to.equal(null);
    known = known.filter(({ to }) => to !== last);
    expect(await once(open([port], [last]))).to.include({ wallet: last });
  });

  it("finds all gaps of an earlier process in its first check, although a report names only one wallet", async () => {
    const lacking = WALLETS.slice(3, 12) as Address[];
    known = known.filter(({ to }) => !lacking.includes(to as Address));
    const watch = open([port], lacking.slice(0, 1));
    expect(await once(watch)).to.not.equal(null);
    expect(watch.gaps.map(({ wallet: of }) => of)).to.have.members(lacking);
  });

  it("asks another source for the transfers from a wallet before it reports a gap", async () => {
    const losing: LogPort = {
      ...port,
      name: "losing",
      transfersFrom: async (...asked) => (await port.transfersFrom(...asked)).slice(1),
    };
    expect(await once(open([losing]))).to.include({ source: "losing" });
    expect(await once(open([losing, port]))).to.equal(null);
  });

  it("still knows what wallets have received after another check at the same final block", async () => {
    const watch = open();
    expect(await once(watch, look(100))).to.equal(null);
    expect(await once(watch, look(100))).to.equal(null);
    for (let round = 0; round < ROUNDS; round++) {
      expect(await once(watch, look(150 + round)), `round ${round}`).to.equal(null);
    }
  });

  it("keeps what the first source proved when another source explains the gaps", async () => {
    const losing: LogPort = {
      ...port,
      name: "losing",
      transfersFrom: async (...asked) => (await port.transfersFrom(...asked)).slice(1),
    };
    const ranges: Place[] = [];
    const telling: LogPort = {
      ...port,
      transfersFrom: (wallets, place, call) => {
        ranges.push(place);
        return port.transfersFrom(wallets, place, call);
      },
    };
    const ports = [telling, port];
    const watch = open(ports);
    expect(await once(watch, look(100))).to.equal(null);
    ports[0] = losing;
    expect(await once(watch, look(150))).to.equal(null);
    ports[0] = telling;
    ranges.length = 0;
    for (let round = 2; round <= ROUNDS + 1; round++) expect(await once(watch, look(200))).to.equal(null);
    // A fifth of the wallets was checked at block 150, the others at block 100.
    expect(ranges).to.deep.equal(
      Array.from({ length: ROUNDS }, (_, n) => ({ from: n === ROUNDS - 1 ? 151 : 101, to: 200 })),
    );
  });

  it("checks wallets that are added while a check runs in the next check, and only there", async () => {
    // By its place the first check would visit `early`, and the second one neither `early` nor `late`.
    const [early, between, late] = WALLETS.slice(15, 18) as [Address, Address, Address];
    const watched = WALLETS.slice(0, 15);
    const growing: LogPort = {
      ...port,
      transfersFrom: async (wallets, place, call) => {
        expect(wallets).to.not.include(early);
        if (!watched.includes(late)) watched.push(late);
        return port.transfersFrom(wallets, place, call);
      },
    };
    const ports = [growing];
    const watch = open(ports);
    const { received, ...rest } = { ...look(), watched };
    const grown = async (wallets: readonly Address[]) => {
      const flows = await received(wallets);
      watched.push(early, between);
      return flows;
    };
    expect(await once(watch, { ...rest, received: grown })).to.equal(null);
    ports[0] = port;
    known = known.filter(({ to }) => to !== early && to !== late);
    expect(await once(watch, { ...rest, received })).to.not.equal(null);
    expect(watch.gaps.map(({ wallet }) => wallet)).to.have.members([early, late]);
  });

  it("checks the same wallets again when no source answered", async () => {
    let isAway = true;
    const flaky: LogPort = {
      ...port,
      transfersFrom: (...asked) =>
        isAway ? Promise.reject(new Error("away")) : port.transfersFrom(...asked),
    };
    known = known.slice(1);
    const watch = open([flaky]);
    expect(await once(watch)).to.equal("failed");
    isAway = false;
    expect(await once(watch)).to.include({ wallet: (transfers[0] as TransferEvent).to });
  });
});
