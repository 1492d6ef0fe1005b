import { TallystickError } from "tallystick-protocol/errors";
import { COMPLEXITY_UNITS, MAX_OUTCOME_AGENTS, MAX_OUTCOMES } from "tallystick-protocol/records/outcomes";
import { signRecord } from "tallystick-protocol/records/record";
import type { Log } from "tallystick-runtime/stderrLog";
import type { LocalAccount } from "viem";
import type { HeldProposals } from "../engine/heldProposals.ts";
import type { LedgerIndex } from "../engine/ledgerIndex.ts";
import type { SettlementEngine } from "../engine/settlementEngine.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { firstAt, gatherOutcomes } from "./gatherOutcomes.ts";
import type { RejectedWork } from "./rejectedWork.ts";
import type { Tally } from "./tally.ts";

const HOUR = 3_600;

/** The time between two checks whether an hour is over, in milliseconds. */
const LOOK_MS = 60_000;

/** An hour is reported this many seconds after its end. By then everything of that hour is on disk. */
const GRACE_SECONDS = 60;

export type HourlyOutcomesParameters = {
  engine: SettlementEngine;
  ledger: DiskLedger;
  index: LedgerIndex;
  held: HeldProposals;
  rejected: RejectedWork;
  /** Signs the records. */
  operator: LocalAccount;
  /** The time, in seconds since 1970. */
  now: () => number;
  log: Log;
};

/**
 * Writes the outcomes of agents' proposals into the ledger, hour by hour (swarm.at §13). Each hour with outcomes
 * gets one `outcomes` record, which the operator signs. The record follows from the ledger, the held proposals
 * and the file of rejected ones. So after a crash the same record is made again, and the ledger accepts it only
 * once.
 */
export class HourlyOutcomes {
  readonly #parameters: HourlyOutcomesParameters;
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> = Promise.resolve();
  /** The first hour that is not reported yet, and the position of its first entry. */
  #next: { hour: number; from: number } | undefined;

  constructor(parameters: HourlyOutcomesParameters) {
    this.#parameters = parameters;
  }

  /** Starts checking every minute whether an hour is over. */
  start(): void {
    const look = () => {
      this.tell().catch((error) => this.#parameters.log("The outcomes could not be reported.", { error }));
    };
    this.#timer = setInterval(look, LOOK_MS);
    this.#timer.unref();
  }

  /** Ends the checks. Resolves when no report is running. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#telling.catch(() => {});
  }

  /** Reports all hours that are over and were not reported. Calls run one after the other. */
  tell(): Promise<void> {
    this.#telling = this.#telling.catch(() => {}).then(() => this.#tell());
    return this.#telling;
  }

  async #tell(): Promise<void> {
    const { ledger, held, index, rejected, now } = this.#parameters;
    const last = Math.floor((now() - GRACE_SECONDS) / HOUR) - 1;
    // This look-up comes first, so a service without outcomes reads nothing.
    if (index.outcomesFrom === undefined && rejected.hours.size === 0) return;
    this.#next ??= await this.#begin();
    const { hour: first, from } = this.#next;
    if (last < first) return;
    const { hours, end } = await gatherOutcomes(ledger, held, { from, last });
    for (const [hour, tally] of rejected.hours) if (hour <= last) merge(hours, hour, tally);
    for (const [hour, tally] of [...hours].sort(([a], [b]) => a - b))
      if (hour >= first) await this.#tellHour(hour, tally);
    // Hours without outcomes are not noted as reported. If the clock is ahead, their outcomes may still come.
    const told = Math.max(first - 1, ...hours.keys());
    rejected.told(told);
    this.#next = { hour: told + 1, from: end };
  }

  /** The last reported hour is reported again, because a crash may have come between two parts of it. */
  async #begin(): Promise<{ hour: number; from: number }> {
    const { ledger, index } = this.#parameters;
    const told = index.toldHour;
    if (told === undefined) return { hour: 0, from: index.outcomesFrom ?? ledger.size };
    return { hour: told, from: await firstAt(ledger, told * HOUR) };
  }

  async #tellHour(hour: number, tally: Tally): Promise<void> {
    const { engine, operator, log } = this.#parameters;
    const agents = [...tally].sort(([a], [b]) => (a < b ? -1 : 1));
    for (let part = 0; part * MAX_OUTCOME_AGENTS < agents.length; part++) {
      const of = agents.slice(part * MAX_OUTCOME_AGENTS, (part + 1) * MAX_OUTCOME_AGENTS);
      const body = { hour, part, agents: Object.fromEntries(of) };
      const record = await signRecord({
        type: "outcomes",
        ledger: engine.ledgerName,
        body,
        account: operator,
      });
      await engine.settleRecord(record).catch((error) => {
        if (!(error instanceof TallystickError) || error.code !== "conflicting_record") throw error;
        // The entry in the ledger counts. The record can differ only if files next to the ledger were lost.
        log("Other outcomes of this hour were reported before.", { hour, part });
      });
    }
  }
}

/** Adds rejected proposals to the outcomes of an hour from the ledger. */
function merge(hours: Map<number, Tally>, hour: number, rejected: Tally): void {
  const tally = hours.get(hour) ?? new Map();
  hours.set(hour, tally);
  for (const [agent, { fail, c }] of rejected) {
    const known = tally.get(agent);
    if (known === undefined) {
      tally.set(agent, { ok: 0, fail, c: { ok: 0, fail: c.fail }, divergence: { compared: 0, sum: 0 } });
      continue;
    }
    const all = Math.min(MAX_OUTCOMES, known.fail + fail);
    const complexity = Math.min(all * COMPLEXITY_UNITS, known.c.fail + c.fail);
    tally.set(agent, { ...known, fail: all, c: { ok: known.c.ok, fail: complexity } });
  }
}
