import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { type Budget, type BudgetBook, bookings, EMPTY_BOOK, leftIn } from "./budget.ts";

export type StoreBudgetParameters = {
  /** `fileStore(folder)` for a budget that several processes share, or that must survive a restart. */
  store: KeyValueStore;
  /** The name of the budget: letters, digits and dashes. */
  name: string;
  /** Atomic units. */
  limit: bigint;
};

/** How often a change is tried again after other processes were faster. */
const MAX_ATTEMPTS = 10_000;

/**
 * A budget in a store. It needs no lock, and stays exact when several processes use it. The books are numbered, and
 * only one process can write the next number (`putNew`). A slower process reads the books again. A process that is
 * killed leaves complete books.
 */
export function storeBudget({ store, name, limit }: StoreBudgetParameters): Budget {
  const keyOf = (number: number): string => `budget/${name}.${number}`;

  /** The number of the latest books, 0 when there are none. */
  async function latest(): Promise<number> {
    let number = 0;
    for (const key of await store.keys("budget")) {
      const at = key.lastIndexOf(".");
      // A backup program may leave a copy of the books here. The name of such a copy is not `budget/NAME.NUMBER`.
      const isNumbered = key.slice(0, at) === `budget/${name}` && /^[1-9]\d{0,14}$/.test(key.slice(at + 1));
      if (isNumbered) number = Math.max(number, Number(key.slice(at + 1)));
    }
    return number;
  }

  async function read(): Promise<{ number: number; book: BudgetBook }> {
    for (;;) {
      const number = await latest();
      if (number === 0) return { number, book: EMPTY_BOOK };
      const book = await store.get<BudgetBook>(keyOf(number));
      // If these books are gone, another process has written newer books, which are read next.
      if (book) return { number, book };
    }
  }

  async function change(next: (book: BudgetBook) => BudgetBook): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { number, book } = await read();
      const changed = next(book);
      if (!(await store.putNew(keyOf(number + 1), changed))) continue;
      // This write also succeeds if other processes have already written books with this number and removed them. Then
      // newer books exist. So the books of this write are removed, and the change is tried again.
      if ((await latest()) > number + 1) {
        await store.delete(keyOf(number + 1));
        continue;
      }
      if (number > 0) await store.delete(keyOf(number));
      return;
    }
    throw new TallystickError({
      code: "budget_busy",
      message: `Too many processes change the budget ${name} at the same time.`,
    });
  }

  return {
    reserve: (hireId, amount) => change((book) => bookings.reserve(book, limit, hireId, amount)),
    spend: (hireId) => change((book) => bookings.spend(book, hireId)),
    giveBack: (hireId) => change((book) => bookings.giveBack(book, hireId)),
    remaining: async () => leftIn((await read()).book, limit),
  };
}
