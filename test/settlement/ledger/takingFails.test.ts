import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { verifyLedgerFile } from "../../../scripts/commands/verifyLedger.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import type { LedgerStore } from "../../../services/settlement/ledger/ledgerStore.ts";
import { type Flush, flushAfter } from "../../../services/settlement/standby/flush.ts";
import type { SharedStore } from "../../../services/settlement/standby/sharedStore.ts";
import { waitForTurn } from "../../../services/settlement/standby/waitForTurn.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** The parts of an index that take something of an entry: two levels of the tree, the ends of the lines, the look-ups. */
const PARTS = ["leaves", "subtrees", "ends", "look-ups"] as const;
type Part = (typeof PARTS)[number];

/** The 16th leaf completes the first subtree that the tree keeps. */
const BEFORE = 15;

describe("a ledger that cannot take an entry of its disk into memory", () => {
  const folder = temporaryFolder();
  let index: LedgerIndex;
  let ledger: DiskLedger;
  let failing: Part | undefined;
  let failures: Error[];
  const failAt = (part: Part): void => {
    if (failing !== part) return;
    failing = undefined;
    throw new Error("disk I/O error");
  };
  const openAt = async (name = "ledger") => {
    const at = path.join(folder.path, name);
    index = new LedgerIndex(at);
    failures = [];
    ledger = await DiskLedger.open({
      folder: at,
      openStore: () => failingStore(index.openStore(), failAt),
      onEntry: (entry, position, end) => {
        failAt("look-ups");
        index.add(entry, position, end);
      },
      onFailure: (error) => failures.push(error),
    });
    return at;
  };
  const close = async () => {
    await ledger.close();
    index.close();
  };
  const entryOf = (n: number) => ({ timestamp: n, taskId: `task-${n}`, payload: { n: BigInt(n) } });
  const append = (n: number) => ledger.append(entryOf(n)).durable;
  const refusal = (work: Promise<unknown>): Promise<TallystickError> =>
    work.then(
      () => expect.fail("it was accepted"),
      (error) => (error instanceof TallystickError ? error : expect.fail(String(error))),
    );

  for (const part of PARTS) {
    it(`accepts and signs nothing more, and is whole after the next start (${part})`, async () => {
      const at = await openAt();
      await Promise.all(Array.from({ length: BEFORE }, (_, n) => append(n)));
      failing = part;
      // Both are in one write, so both are on disk before the first one is taken.
      const [first, second] = await Promise.all([append(BEFORE), append(BEFORE + 1)].map(refusal));
      expect(failing, "it did not fail").to.equal(undefined);
      for (const error of [first, second]) {
        expect(error).to.include({ code: "outcome_unknown" });
        expect(error?.message).to.contain("disk I/O error").and.to.contain("is settled");
      }
      const later = await refusal(append(BEFORE + 2));
      expect(later).to.include({ code: "ledger_unavailable" });
      expect(later.hint).to.contain("Nothing of this was written");
      // Every signature begins with this check.
      expect(await refusal(ledger.checkFile())).to.include({ code: "ledger_unavailable" });
      expect(failures).to.deep.equal([later]);
      await close();
      await openAt();
      expect(ledger.size).to.equal(BEFORE + 2);
      await append(BEFORE + 2);
      const verified = await verifyLedgerFile(path.join(at, "ledger.jsonl"));
      if (verified instanceof LedgerLineError) throw verified;
      expect(verified).to.deep.include({ size: ledger.size, head: ledger.head, root: ledger.tree.root() });
      for (let n = 0; n < ledger.size; n++) expect((await ledger.entry(n)).taskId).to.equal(`task-${n}`);
      await close();
    });
  }

  it("finishes the write that has begun, and refuses what waits behind it", async () => {
    await openAt();
    const sent: Promise<TallystickError>[] = [];
    const send = () => sent.push(refusal(append(sent.length)));
    let groups = 0;
    ledger.commitBy(async () => {
      groups++;
      send();
    });
    failing = "leaves";
    send();
    const [first, second, third] = [await sent[0], await sent[1], await sent[2]];
    for (const error of [first, second]) expect(error?.message).to.contain("is settled");
    expect(third?.hint).to.contain("Nothing of this was written");
    expect([groups, failures.length]).to.deep.equal([2, 1]);
    await close();
    await openAt();
    expect(ledger.size).to.equal(2);
    await close();
  });

  it("takes no line twice from the shared store: the wait for a turn ends", async () => {
    await openAt("writer");
    await Promise.all(Array.from({ length: BEFORE + 1 }, (_, n) => append(n)));
    const lines = readFileSync(ledger.path, "latin1");
    await close();
    for (const part of PARTS) {
      await openAt(`stand-by ${part}`);
      failing = part;
      const turn = waitForTurn({ ...waiting(), ledger, store: storeOf(flushAfter(START, lines)) });
      expect((await refusal(turn)).message, part).to.contain("disk I/O error");
      expect(failures, part).to.have.length(1);
      expect(readFileSync(ledger.path, "latin1") === lines, part).to.equal(true);
      await close();
    }
  });

  it("ends the wait for a turn also if the fault has no name", async () => {
    let asked = 0;
    const broken = {
      size: 0,
      head: GENESIS_HASH,
      take: async () => {
        asked++;
        throw new TypeError("no such thing");
      },
    } as unknown as DiskLedger;
    const store = storeOf(flushAfter(START, `{"current_hash": "${"ab".repeat(32)}"}\n`));
    const error = await refusal(waitForTurn({ ...waiting(), ledger: broken, store }));
    expect(error).to.include({ code: "ledger_unavailable" });
    expect(error.message).to.contain("no such thing");
    expect(asked).to.equal(1);
  });
});

/** The position before the first entry. */
const START = { next: 0, head: GENESIS_HASH };

/** A wait that ends when it is about to try again. */
function waiting() {
  const end = new AbortController();
  return {
    leaseMs: 4,
    log: () => {},
    onState: ({ reason }: { reason: TallystickError }) => end.abort(reason),
    isAble: async () => true,
    signal: end.signal,
  };
}

/** A shared store with one row, whose lease is free. */
function storeOf(flush: Flush): SharedStore {
  return {
    flushesFrom: async () => [flush],
    isEmpty: async () => false,
    lease: async () => true,
    standBy: async () => {},
    release: async () => {},
  } as unknown as SharedStore;
}

/** A store whose lists call `failAt` before they take something. */
function failingStore(store: LedgerStore, failAt: (part: Part) => void): LedgerStore {
  const before = <T>(part: Part, list: { push: (value: T) => void; at: (index: number) => T }) => ({
    at: (at: number) => list.at(at),
    push: (value: T) => {
      failAt(part);
      list.push(value);
    },
  });
  return {
    ...store,
    hashes: (level) => before(level === 0 ? "leaves" : "subtrees", store.hashes(level)),
    ends: () => before("ends", store.ends()),
  };
}
