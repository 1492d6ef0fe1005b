import { expect } from "chai";
import { type Operations, openOperations } from "../../../indexer/operations.ts";
import { CompletenessWatch } from "../../../indexer/relevant/completenessWatch.ts";
import {
  reportGap,
  reportsOfHold,
  reportsOfWait,
  suspectsOf,
} from "../../../indexer/relevant/transferReports.ts";
import { transfersMissing } from "../../../indexer/relevant/transfersMissing.ts";
import { retryUntilAvailable } from "../../../indexer/src/segments/retryUntilAvailable.ts";
import { wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const { signal } = new AbortController();
const SUSPECT = wallet(7);
const GAP = { block: 9, since: 1, attempts: 0, reason: "one transfer is missing", wallet: SUSPECT };

describe("the reports about transfers", () => {
  let url: string;
  let operations: Operations;
  /** Whether the source of balances gives no answer. */
  let isAway = false;

  before(async () => {
    url = await testDatabase();
  });
  beforeEach(() => {
    operations = openOperations(url, "main");
  });
  afterEach(() => operations.close());

  /** Ends the process, and starts another one. */
  async function restart(): Promise<void> {
    await operations.close();
    operations = openOperations(url, "main");
  }

  const reported = async () => (await operations.readBlockedTransfers())?.wallet;

  function openWatch(suspects: Awaited<ReturnType<typeof suspectsOf>>) {
    const port = Object.assign(portOf([]), { final: 20 });
    const balances = {
      name: "balances",
      finalizedHead: port.finalizedHead,
      balances: async (wallets: readonly unknown[]) => {
        if (isAway) throw new Error("no answer");
        return wallets.map(() => 0n);
      },
    };
    return new CompletenessWatch(
      { ports: [port], balances, firstBlock: 0, rounds: 1, deadlineMs: 1_000 },
      suspects,
    );
  }

  /** A read that fails once. */
  async function waitOnce(isDoubtful: () => boolean): Promise<void> {
    const answers = [() => Promise.reject(new Error("429")), async () => "read"];
    const isCanonical = async () => true;
    await retryUntilAvailable(() => (answers.shift() as () => Promise<string>)(), {
      ...reportsOfWait(operations, 10, isDoubtful),
      ...{ signal, isCanonical, isBuried: async () => false },
      ...{ keepAlive: async () => {}, pause: { first: 1, most: 1 } },
    });
  }

  it("name a wallet until it is checked again, even if the process restarts and a read fails", async () => {
    await operations.reportBlockedTransfers(GAP);
    await restart();
    const watch = openWatch(await suspectsOf(operations, signal));
    await waitOnce(() => watch.isDoubtful);
    expect(await operations.readBlockedTransfers()).to.deep.equal(GAP);
    // A check of which no source gives an answer says nothing about the wallet.
    const look = { at: { block: 20, hash: hashOf(20) }, watched: [SUSPECT], hubTransfers: 10_000 };
    const received = async () => new Map();
    const told = { onLooked: async () => {}, onFailed: () => {} };
    isAway = true;
    await watch.begin({ ...look, received }, signal, told);
    await watch.idle();
    isAway = false;
    await waitOnce(() => watch.isDoubtful);
    expect(await operations.readBlockedTransfers()).to.deep.equal(GAP);
    await watch.begin({ ...look, received }, signal, told);
    await watch.idle();
    expect(watch.isDoubtful).to.equal(false);
    await waitOnce(() => watch.isDoubtful);
    expect(await operations.readBlockedTransfers()).to.equal(null);
  });

  it("stay at a start if the database gives no answer at first", async () => {
    await operations.reportBlockedTransfers(GAP);
    await restart();
    let asked = 0;
    const readBlockedTransfers = () =>
      ++asked === 1 ? Promise.reject(new Error("statement timeout")) : operations.readBlockedTransfers();
    expect(await suspectsOf({ ...operations, readBlockedTransfers }, signal)).to.deep.equal([SUSPECT]);
    expect(await reported()).to.equal(SUSPECT);
  });

  it("give one reason with its code for a wallet, when it is found and while a block is held for it", async () => {
    const gap = {
      ...{ wallet: SUSPECT, block: 9, blockHash: hashOf(9), since: 1, source: "portal:p.example" },
      ...{ balanceSource: "rpc:r.example", received: 5n, sent: 1n, balance: 5n, difference: 1n },
    };
    const process = globalThis as { PONDER_COMMON?: unknown };
    const logged: unknown[] = [];
    const warn = ({ reason }: { reason?: unknown }) => void logged.push(reason);
    process.PONDER_COMMON = { logger: { warn, info: () => {} } };
    try {
      await reportGap(operations, gap);
      const found = await operations.readBlockedTransfers();
      expect(found).to.include({ block: 9, attempts: 0, wallet: SUSPECT });
      expect(found?.reason)
        .to.match(
          /^Transfers do not add up: up to block 9 the source portal:p\.example .* lack 1 atomic units/,
        )
        .and.match(/ \(transfers_missing\)$/);
      let held: string | undefined;
      const answers = [() => Promise.reject(transfersMissing(gap)), async () => {}];
      await retryUntilAvailable(() => (answers.shift() as () => Promise<void>)(), {
        ...reportsOfHold(operations, 10, () => SUSPECT),
        ...{ signal, isCanonical: async () => true, isBuried: async () => false },
        keepAlive: async () => {
          held = (await operations.readBlockedTransfers())?.reason;
        },
        pause: { first: 1, most: 1 },
      });
      expect(held).to.equal(found?.reason);
      expect(logged).to.have.length(2);
      expect(logged[1]).to.equal(logged[0]);
    } finally {
      delete process.PONDER_COMMON;
    }
  });

  it("of a wait without a wallet are removed at a start", async () => {
    await operations.reportBlockedTransfers({ ...GAP, wallet: null });
    await restart();
    expect(await suspectsOf(operations, signal)).to.deep.equal([]);
    expect(await operations.readBlockedTransfers()).to.equal(null);
  });

  it("stay if a reorganization removes the block that is held for a wallet", async () => {
    let suspect: string | null = SUSPECT;
    const reports = reportsOfHold(operations, 9, () => suspect);
    const waits = { ...reports, signal, keepAlive: async () => {}, pause: { first: 1, most: 1 } };
    const fail = () => Promise.reject(new Error("one transfer is missing"));
    const gone = { isCanonical: async () => false, isBuried: async () => true };
    expect(await retryUntilAvailable(fail, { ...waits, ...gone })).to.equal(null);
    expect(await reported()).to.equal(SUSPECT);
    suspect = null;
    await reports.onUnblocked();
    expect(await operations.readBlockedTransfers()).to.equal(null);
  });
});
