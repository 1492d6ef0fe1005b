import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { formatDollars, type Picodollars } from "../models/money.ts";
import type { TwoClocks } from "../twoClocks.ts";

const DAY_MS = 86_400_000;
const KEY = "budget/book";

/** The budget does not allow a call. Nothing was sent. Codes: `task_budget_spent`, `day_budget_spent`. */
export class CallBudgetError extends TallystickError {}

/** What is spent and reserved, as JSON. Amounts are decimal strings of picodollars; days count from 1970, by UTC. */
type Book = {
  day: number;
  /** What was spent on that day. */
  spent: string;
  /** What the finished calls of each open task have cost. */
  tasks: { [task: string]: string };
  /** Running calls, with the reserved amount of each. */
  calls: { [call: string]: { task: string; amount: string; day: number } };
};

export type CallBudget = {
  /**
   * Reserves the most that a call can cost, on disk, before it is made.
   *
   * @param taskLimit of this task, if it is lower than the limit of all tasks
   * @throws CallBudgetError; nothing is reserved then
   */
  reserve: (call: {
    id: string;
    task: string;
    amount: Picodollars;
    taskLimit?: Picodollars | undefined;
  }) => Promise<void>;
  /** Books what a call really cost, once. Does nothing for a call that is not running. */
  settle: (id: string, cost: Picodollars) => Promise<void>;
  /** The running calls of a task. After a start, these are the calls that the last process left open. */
  underWay: (task: string) => Promise<{ id: string; amount: Picodollars }[]>;
  /** Deletes what is stored about the costs of a finished task. */
  forget: (task: string) => Promise<void>;
  /** What is spent and reserved today. */
  today: () => Promise<{ spent: Picodollars; reserved: Picodollars }>;
};

/**
 * The budget of all calls to models: for each task and for each day. It is exact under concurrency, because changes
 * are made one after the other, each with one write. One process owns the store. A new day begins when both clocks say so,
 * so a clock that is wrong for a while begins no second budget.
 */
export function callBudget(parameters: {
  store: KeyValueStore;
  perTask: Picodollars;
  perDay: Picodollars;
  clocks: Pick<TwoClocks, "now" | "passed" | "latest">;
}): CallBudget {
  const { store, perTask, perDay, clocks } = parameters;
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => {});
    return next;
  };
  const read = async (): Promise<Book> => {
    const book = (await store.get<Book>(KEY)) ?? {
      ...{ day: dayOf(clocks.passed() ?? clocks.now()), spent: "0" },
      ...{ tasks: {}, calls: {} },
    };
    const [passed, latest] = [clocks.passed(), clocks.latest()];
    if (passed === undefined || latest === undefined) return book;
    if (dayOf(passed) > book.day) return { ...book, day: dayOf(passed), spent: "0" };
    // If the clocks were set back by at most one day, the stored day stays. A stored day that is further ahead of both
    // came from a wrong clock, so today replaces it. What was spent on the stored day then counts for today.
    return dayOf(latest) < book.day - 1 ? { ...book, day: dayOf(latest) } : book;
  };
  const sum = (book: Book, ofThese: (call: Book["calls"][string]) => boolean): Picodollars =>
    Object.values(book.calls).reduce(
      (total, call) => (ofThese(call) ? total + BigInt(call.amount) : total),
      0n,
    );

  return {
    reserve: ({ id, task, amount, taskLimit }) =>
      inTurn(async () => {
        const book = await read();
        if (Object.hasOwn(book.calls, id)) throw new Error(`the call ${id} is under way`);
        const limit = taskLimit !== undefined && taskLimit < perTask ? taskLimit : perTask;
        const ofTask = BigInt(book.tasks[task] ?? "0") + sum(book, (call) => call.task === task);
        const ofDay = BigInt(book.spent) + sum(book, (call) => call.day >= book.day);
        if (ofTask + amount > limit) throw spent("task_budget_spent", "this task", amount, limit - ofTask);
        if (ofDay + amount > perDay) throw spent("day_budget_spent", "this day", amount, perDay - ofDay);
        const calls = { ...book.calls, [id]: { task, amount: String(amount), day: book.day } };
        await store.put(KEY, { ...book, calls });
      }),
    settle: (id, cost) =>
      inTurn(async () => {
        const book = await read();
        const { [id]: call, ...calls } = book.calls;
        if (call === undefined) return;
        const tasks = { ...book.tasks, [call.task]: String(BigInt(book.tasks[call.task] ?? "0") + cost) };
        // A call of yesterday was reserved yesterday, so its cost does not count for today.
        const today = call.day >= book.day ? BigInt(book.spent) + cost : BigInt(book.spent);
        await store.put(KEY, { ...book, calls, tasks, spent: String(today) });
      }),
    underWay: (task) =>
      inTurn(async () =>
        Object.entries((await read()).calls)
          .filter(([, call]) => call.task === task)
          .map(([id, { amount }]) => ({ id, amount: BigInt(amount) })),
      ),
    forget: (task) =>
      inTurn(async () => {
        const book = await read();
        const { [task]: _, ...tasks } = book.tasks;
        if (_ !== undefined) await store.put(KEY, { ...book, tasks });
      }),
    today: () =>
      inTurn(async () => {
        const book = await read();
        return { spent: BigInt(book.spent), reserved: sum(book, (call) => call.day >= book.day) };
      }),
  };
}

/** The day of a time, by UTC. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function spent(code: string, whose: string, amount: Picodollars, left: Picodollars): CallBudgetError {
  return new CallBudgetError({
    code,
    message: `Another call could cost ${formatDollars(amount)} dollars, and ${whose} has ${formatDollars(left)} left.`,
    hint: "Raise DISPATCH_USD_PER_TASK or DISPATCH_USD_PER_DAY, or the task's max_cost_usd.",
    details: { amount: formatDollars(amount), left: formatDollars(left) },
  });
}
