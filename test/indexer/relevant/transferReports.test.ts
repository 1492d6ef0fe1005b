import { expect } from "chai";
import { type Operations, openOperations } from "../../../indexer/operations.ts";
import { CompletenessWatch } from "../../../indexer/relevant/completenessWatch.ts";
import { reportsOfHold, reportsOfWait, suspectsOf } from "../../../indexer/relevant/transferReports.ts";
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
