import { isDeepStrictEqual } from "node:util";
import { costOf } from "../models/modelTable.ts";
import { formatDollars, type Picodollars, readDollars } from "../models/money.ts";
import type { CallRecord } from "../tasks/callRecord.ts";
import { type TaskMetadata, taskMetadataSchema } from "../tasks/taskMetadata.ts";
import { entryFaults, pricesOf } from "./entryFaults.ts";

/** An entry as the report reads it: plain JSON. */
export type ReportedEntry = { line: number; taskId: string; payload: { [key: string]: unknown } };

/** Sums over tasks. Dollars are decimal strings. */
export type KindReport = {
  tasks: number;
  settled: number;
  escalated: number;
  shadowed: number;
  escrowed: number;
  /**
   * The cost of every request to a model, including retries, shadows, classifiers, and tasks that never
   * settled.
   */
  spent_usd: string;
  /**
   * An estimate: for each task, the tokens of its last `execute` call with known tokens, at the prices of the premium
   * model.
   */
  always_premium_usd: string;
  /** 1 − spent / always premium, in percent with one decimal; null when nothing can be estimated. */
  margin_percent: string | null;
};

export type DispatchReport = {
  /** Entries of dispatchers, closing entries among them. */
  entries: number;
  closed: { [status: string]: number };
  calls: number;
  total: KindReport;
  spent_by_role: { [role: string]: string };
  /** The reserved amounts of calls for which the vendor reported no tokens. */
  spent_uncounted_usd: string;
  kinds: { [kind: string]: KindReport };
  /** For each client: how many tasks it settled, and how many different keys of the shared state they wrote. */
  clients: { [client: string]: { settled: number; keys: number } };
  /**
   * Share of the entries whose costs, complexity and tier follow from the other data of the entry, in percent. A share
   * below 100.0 needs an explanation.
   */
  fidelity_percent: string;
  /** Lines whose record does not follow, at most 100. */
  faults: { line: number; task_id: string; fault: string }[];
};

type Kind = {
  tasks: Set<string>;
  settled: Set<string>;
  escalated: Set<string>;
  shadowed: Set<string>;
  escrowed: Set<string>;
  spent: Picodollars;
  premium: Picodollars;
};

const MAX_FAULTS = 100;

/**
 * Computes the results of dispatching from the entries of a ledger alone. Give it every entry of a verified ledger.
 *
 * @param only the dispatcher whose entries count; absent: all
 */
export function createDispatchReport(only?: string): {
  add: (entry: ReportedEntry) => void;
  report: () => DispatchReport;
} {
  const kinds = new Map<string, Kind>();
  const all = newKind();
  const calls = new Map<string, CallRecord>();
  const premiumOf = new Map<string, Picodollars>();
  const clients = new Map<string, { settled: Set<string>; keys: Set<string> }>();
  const byRole = new Map<string, Picodollars>();
  const closed = new Map<string, number>();
  const faults: DispatchReport["faults"] = [];
  let [entries, sound, uncounted] = [0, 0, 0n];

  function add({ line, taskId, payload }: ReportedEntry): void {
    const given = (payload.agent_metadata as { dispatch?: { dispatcher?: unknown } } | undefined)?.dispatch;
    if (payload.type !== "settlement" || given === undefined || given === null) return;
    if (only !== undefined && given.dispatcher !== only) return;
    entries++;
    const parsed = taskMetadataSchema.safeParse(given);
    const found = parsed.success ? entryFaults(parsed.data) : ["it is not a dispatcher's record"];
    if (parsed.success) found.push(...count(parsed.data, taskId, payload));
    if (found.length === 0) sound++;
    for (const fault of found) if (faults.length < MAX_FAULTS) faults.push({ line, task_id: taskId, fault });
  }

  function count(told: TaskMetadata, taskId: string, payload: ReportedEntry["payload"]): string[] {
    const task = taskOf(told, taskId);
    const kind = kinds.get(told.kind) ?? newKind();
    kinds.set(told.kind, kind);
    const found: string[] = [];
    for (const call of told.calls) {
      const key = `${told.dispatcher} ${call.id}`;
      const before = calls.get(key);
      if (before) {
        // A closing entry and a release report the same calls.
        if (!isDeepStrictEqual(before, call)) found.push(`${call.id}: an earlier entry has other data`);
        continue;
      }
      calls.set(key, call);
      const cost = readDollars(call.cost_usd) ?? 0n;
      byRole.set(call.role, (byRole.get(call.role) ?? 0n) + cost);
      if (call.cost_from === "reserved") uncounted += cost;
      for (const it of [kind, all]) it.spent += cost;
    }
    for (const it of [kind, all]) {
      it.tasks.add(task);
      if (told.escalations.length > 0) it.escalated.add(task);
      if (told.shadow !== null) it.shadowed.add(task);
      if (told.closing === undefined) it.settled.add(task);
      if (told.closing?.status === "ESCROWED") it.escrowed.add(task);
    }
    addPremium(told, task, kind);
    if (told.closing) closed.set(told.closing.status, (closed.get(told.closing.status) ?? 0) + 1);
    else {
      const client = clients.get(told.client) ?? { settled: new Set(), keys: new Set() };
      clients.set(told.client, client);
      client.settled.add(task);
      for (const key of Object.keys(Object(payload.data_update))) if (key !== "action") client.keys.add(key);
    }
    return found;
  }

  /** Adds the premium estimate of a task. It counts once for each task: a premium model would have been asked once. */
  function addPremium(told: TaskMetadata, task: string, kind: Kind): void {
    const answer = told.calls.findLast(({ role, tokens }) => role === "execute" && tokens !== null);
    const prices = pricesOf(told, told.prices.premium);
    if (!answer?.tokens || prices === undefined) return;
    const { input, cached_input: cachedInput, output, reasoning } = answer.tokens;
    const cost = costOf({ input, cachedInput, output, reasoning }, prices);
    const before = premiumOf.get(task) ?? 0n;
    premiumOf.set(task, cost);
    for (const it of [kind, all]) it.premium += cost - before;
  }

  return {
    add,
    report: () => ({
      entries,
      closed: Object.fromEntries(closed),
      calls: calls.size,
      total: kindReport(all),
      spent_by_role: Object.fromEntries([...byRole].map(([role, cost]) => [role, formatDollars(cost)])),
      spent_uncounted_usd: formatDollars(uncounted),
      kinds: Object.fromEntries([...kinds].map(([name, kind]) => [name, kindReport(kind)])),
      clients: Object.fromEntries(
        [...clients].map(([name, { settled, keys }]) => [name, { settled: settled.size, keys: keys.size }]),
      ),
      fidelity_percent: entries === 0 ? "100.0" : percent(BigInt(sound), BigInt(entries)),
      faults,
    }),
  };
}

/**
 * What makes a task one task: the book under which its calls are booked. An id may be used again later, for another
 * task. A task without calls has only its id.
 */
function taskOf({ dispatcher, calls }: TaskMetadata, taskId: string): string {
  const [call] = calls;
  return `${dispatcher} ${call ? `book ${call.id.split("/")[0]}` : `id ${taskId}`}`;
}

function newKind(): Kind {
  return {
    tasks: new Set(),
    settled: new Set(),
    escalated: new Set(),
    shadowed: new Set(),
    escrowed: new Set(),
    spent: 0n,
    premium: 0n,
  };
}

function kindReport({ tasks, settled, escalated, shadowed, escrowed, spent, premium }: Kind): KindReport {
  return {
    tasks: tasks.size,
    settled: settled.size,
    escalated: escalated.size,
    shadowed: shadowed.size,
    escrowed: escrowed.size,
    spent_usd: formatDollars(spent),
    always_premium_usd: formatDollars(premium),
    margin_percent: premium === 0n ? null : percent(premium - spent, premium),
  };
}

/** A share in percent with one decimal. Further decimals are cut off, so that 99.96 % is not shown as 100. */
function percent(part: bigint, whole: bigint): string {
  const tenths = (part * 1_000n) / whole;
  const size = tenths < 0n ? -tenths : tenths;
  return `${tenths < 0n ? "-" : ""}${size / 10n}.${size % 10n}`;
}
