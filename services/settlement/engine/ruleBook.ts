import { actionName, DEFAULT_ACTION } from "tallystick-protocol/actions/actionName";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { type ActionRule, type InstitutionalRules, millionths, toPlainJson } from "./institutionalRules.ts";

type PyObject = { [key: string]: PyJson };

/**
 * The spending of one settled proposal: an amount in millionths, its time in seconds, and the sum of its list up to here.
 * So the cost of a check does not grow with the number of spendings.
 */
type Spent = { time: number; amount: bigint; total: bigint };

/** After this many spendings of one kind, those that are too old for every budget are forgotten. */
const FORGET_EVERY = 1_024;

/**
 * Checks proposals against the institutional rules (swarm.at §2: "verified against the Institutional Logic schema"), with
 * the budgets used so far. Give it the ledger's entries in order, at least those that {@link longestBudget} reaches.
 */
export class RuleBook {
  readonly rules: InstitutionalRules;
  readonly #spent = new Map<string, Spent[]>();
  /** The spendings of entries that are being written. */
  readonly #underWay = new Set<{ key: string; amount: bigint }>();
  /** The latest time of an entry. A clock that was set back must not renew a budget. */
  #latest = Number.NEGATIVE_INFINITY;

  constructor(rules: InstitutionalRules) {
    this.rules = rules;
  }

  /** The longest time that a budget looks back, in seconds. Older entries are not needed. */
  get longestBudget(): number {
    const budgets = [...this.rules.actions.values()].flatMap(({ budget }) => budget);
    return Math.max(0, ...budgets.map(({ perSeconds }) => perSeconds));
  }

  /** Takes an entry that is on disk. */
  add({ payload, timestamp }: LedgerEntry): void {
    const dataUpdate = payload.data_update;
    if (dataUpdate === null || typeof dataUpdate !== "object" || Array.isArray(dataUpdate)) return;
    const { action } = dataUpdate;
    if (typeof action !== "string") return;
    this.#latest = Math.max(this.#latest, Number(timestamp));
    const time = this.#latest;
    for (const { key, field, amount } of this.#spendings(action, dataUpdate)) {
      const list = this.#spent.get(key) ?? [];
      if (list.length === 0) this.#spent.set(key, list);
      list.push({ time, amount, total: (list.at(-1)?.total ?? 0n) + amount });
      if (list.length % FORGET_EVERY === 0) this.#forget(list, time - this.#longest(action, field));
    }
  }

  /**
   * Reserves what a `data_update` spends, until its entry is on disk and {@link add} counts it. So another proposal
   * cannot spend the same amount meanwhile. Returns a function that ends the reservation.
   */
  reserve(dataUpdate: PyObject): () => void {
    const { action } = dataUpdate;
    const reserved = typeof action === "string" ? this.#spendings(action, dataUpdate) : [];
    for (const spending of reserved) this.#underWay.add(spending);
    return () => {
      for (const spending of reserved) this.#underWay.delete(spending);
    };
  }

  /**
   * The spendings of a `data_update`. Several budgets of one field, for example for a day and for an hour,
   * share one list.
   */
  #spendings(action: string, dataUpdate: PyObject): { key: string; field: string; amount: bigint }[] {
    const fields = new Set(this.#ruleOf(action)?.budget.map((budget) => budget.field));
    return [...fields].flatMap((field) => {
      const amount = millionths(dataUpdate[field]) ?? 0n;
      // An amount of zero uses no budget, so any number of them takes no memory.
      return amount === 0n ? [] : [{ key: this.#spentKey(action, field), field, amount }];
    });
  }

  /**
   * Why the rules refuse a `data_update`, as a sentence; undefined when they allow it. Its `type` chooses
   * a schema, and its `action` chooses a rule.
   *
   * @param now in seconds
   * @param isPermitted whether the action rules have already allowed it. Then a default that allows nothing is
   * ignored
   */
  refusal(dataUpdate: PyObject, now: number, isPermitted = false): string | undefined {
    return (
      this.#schemaRefusal(dataUpdate) ??
      this.#actionRefusal(dataUpdate, Math.max(now, this.#latest), isPermitted)
    );
  }

  #schemaRefusal(dataUpdate: PyObject): string | undefined {
    const { types, version } = this.rules;
    for (const type of ["*", dataUpdate.type]) {
      const schema = typeof type === "string" ? types.get(type) : undefined;
      const result = schema?.safeParse(toPlainJson(dataUpdate));
      if (!result || result.success) continue;
      const [issue] = result.error.issues;
      const field = ["payload.data_update", ...(issue?.path ?? []).map(String)].join(".");
      return `${field}: ${issue?.message} (rules version ${version}, type ${type}).`;
    }
    return undefined;
  }

  #actionRefusal(dataUpdate: PyObject, now: number, isPermitted: boolean): string | undefined {
    if (!Object.hasOwn(dataUpdate, "action")) return undefined;
    const { action } = dataUpdate;
    if (typeof action !== "string")
      return `payload.data_update.action: must be a string (rules version ${this.rules.version}).`;
    const rule = this.#ruleOf(action);
    if (!rule || (isPermitted && !rule.allow && !this.#isNamed(action))) return undefined;
    const by = `(rules version ${this.rules.version}, action ${action})`;
    if (!rule.allow) return `This action is not allowed ${by}.`;
    const amountOf = (field: string) => millionths(dataUpdate[field]);
    for (const [field, max] of rule.max) {
      const amount = amountOf(field);
      if (amount === undefined) return missing(field, by);
      if (amount > max) return `payload.data_update.${field}: is more than ${asDecimal(max)} ${by}.`;
    }
    for (const { field, max, perSeconds } of rule.budget) {
      const amount = amountOf(field);
      if (amount === undefined) return missing(field, by);
      const left = max - this.#spentSince(this.#spentKey(action, field), now - perSeconds);
      if (amount > left) {
        const rest = `${asDecimal(left > 0n ? left : 0n)} of ${asDecimal(max)}`;
        return `payload.data_update.${field}: the budget of ${perSeconds} s has ${rest} left ${by}.`;
      }
    }
    return undefined;
  }

  /** Actions without their own rule share one budget. Otherwise each new name would get a new budget. */
  #spentKey(action: string, field: string): string {
    return `${field} ${this.#isNamed(action) ? actionName(action) : DEFAULT_ACTION}`;
  }

  /** Whether there is a rule for exactly this action. `*` is not a name. */
  #isNamed(action: string): boolean {
    return action !== DEFAULT_ACTION && this.rules.actions.has(actionName(action));
  }

  #ruleOf(action: string): ActionRule | undefined {
    const { actions } = this.rules;
    return actions.get(this.#isNamed(action) ? actionName(action) : DEFAULT_ACTION);
  }

  /** The longest time that a budget of an action's field looks back, in seconds. */
  #longest(action: string, field: string): number {
    const budgets = this.#ruleOf(action)?.budget.filter((budget) => budget.field === field) ?? [];
    return Math.max(0, ...budgets.map(({ perSeconds }) => perSeconds));
  }

  #forget(list: Spent[], before: number): void {
    list.splice(0, firstAfter(list, before));
  }

  #spentSince(key: string, since: number): bigint {
    const list = this.#spent.get(key) ?? [];
    let sum = 0n;
    for (const reserved of this.#underWay) if (reserved.key === key) sum += reserved.amount;
    const first = list[firstAfter(list, since)];
    return first === undefined ? sum : sum + (list.at(-1) as Spent).total - first.total + first.amount;
  }
}

/** The place of the first spending after a time. Times never go backwards. */
function firstAfter(list: readonly Spent[], since: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as Spent).time <= since) low = middle + 1;
    else high = middle;
  }
  return low;
}

function missing(field: string, by: string): string {
  return `payload.data_update.${field}: must be an amount, 0 or more ${by}.`;
}

function asDecimal(amount: bigint): string {
  const fraction = String(amount % 1_000_000n)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${amount / 1_000_000n}${fraction === "" ? "" : `.${fraction}`}`;
}
