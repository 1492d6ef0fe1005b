import { expect } from "chai";
import { type Flush, hashIn } from "../../../services/settlement/standby/flush.ts";
import { takeFlushes } from "../../../services/settlement/standby/takeFlushes.ts";

const hash = (n: number, history = "a") => history.repeat(32) + n.toString(16).padStart(32, "0");
const line = (n: number, history?: string) => `{"current_hash": "${hash(n, history)}"}\n`;
const GENESIS = "0".repeat(64);

/** The flush of the entries [first, next) of a history. */
function flushOf(first: number, next: number, history?: string): Flush {
  const lines = Array.from({ length: next - first }, (_, n) => line(first + n, history)).join("");
  const parent = first === 0 ? GENESIS : hash(first - 1, history);
  return { first, next, parent, head: hash(next - 1, history), lines };
}

/** A ledger that accepts all lines, unlike a real ledger. So the tests see only the checks before and after it. */
function ledgerOf(size: number) {
  const ledger = {
    size,
    head: size === 0 ? GENESIS : hash(size - 1),
    taken: 0,
    take: async (lines: string) => {
      for (const text of lines.match(/.+\n/g) ?? []) {
        ledger.head = hashIn(text, 0);
        ledger.size++;
        ledger.taken++;
      }
    },
  };
  return ledger;
}

describe("the entries that a machine reads from the shared store", () => {
  const take = async (ledger: ReturnType<typeof ledgerOf>, flushes: Flush[]) => {
    const store = {
      flushesFrom: async (position: number) => flushes.filter(({ next }) => next >= position),
      isEmpty: async () => flushes.length === 0,
      begin: async () => {},
    };
    return await takeFlushes(ledger as never, store).then(
      () => "fine",
      (error) => error.code,
    );
  };

  it("follow its own last entry, also from the middle of a flush", async () => {
    const ledger = ledgerOf(3);
    expect(await take(ledger, [flushOf(0, 2), flushOf(2, 5), flushOf(5, 6)])).to.equal("fine");
    expect([ledger.size, ledger.head, ledger.taken]).to.deep.equal([6, hash(5), 3]);
  });

  it("include nothing of another history, at the end of a flush or in the middle of one", async () => {
    for (const flushes of [
      [flushOf(3, 5, "b")],
      [flushOf(2, 5, "b")],
      [{ ...flushOf(3, 5), parent: hash(2, "b") }],
      [flushOf(0, 3, "b")],
    ]) {
      const ledger = ledgerOf(3);
      expect(await take(ledger, flushes)).to.equal("store_contradicts");
      expect(ledger.taken).to.equal(0);
    }
  });

  it("end with the entry and at the position that the flush names", async () => {
    expect(await take(ledgerOf(3), [{ ...flushOf(3, 5), head: hash(9) }])).to.equal("store_contradicts");
    expect(await take(ledgerOf(3), [{ ...flushOf(3, 5), next: 6, head: hash(4) }])).to.equal(
      "store_contradicts",
    );
  });

  it("are refused if rows before them are missing, or the store has less than the ledger", async () => {
    expect(await take(ledgerOf(3), [flushOf(4, 5)])).to.equal("store_lacks_rows");
    expect(await take(ledgerOf(3), [{ ...flushOf(2, 5), lines: "" }])).to.equal("store_lacks_rows");
  });
});
