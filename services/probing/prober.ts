import { readFile } from "node:fs/promises";
import path from "node:path";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Log } from "tallystick-runtime/stderrLog";
import { HostMemory } from "./hosts/hostMemory.ts";
import { HostTable } from "./hosts/hostTable.ts";
import { HostVisits } from "./hosts/hostVisits.ts";
import { keptTargets } from "./hosts/keptTargets.ts";
import type { VisitParameters } from "./hosts/visit.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { Answer, Question } from "./net/ask.ts";
import type { Policy } from "./net/policy.ts";
import { Uplink } from "./net/uplink.ts";
import type { Observation } from "./observations/observation.ts";
import type { Keeping } from "./observations/observationFiles.ts";
import { writeWhole } from "./observations/writeWhole.ts";
import { ReportDesk } from "./reports/reportDesk.ts";
import type { DrawnMoments } from "./schedule/drawnMoments.ts";
import { Pacer } from "./schedule/pacer.ts";
import { SlotPlan } from "./schedule/slotPlan.ts";
import { dayOf, hourOf, slotOf } from "./schedule/slots.ts";
import type { Target } from "./terms/target.ts";
import type { Asker } from "./terms/termsRequest.ts";

/** The parts of a prober. Times are unix seconds, with fractions. */
export type ProberParameters = {
  /** An existing folder that nobody else writes to. */
  folder: string;
  region: string;
  maxHosts: number;
  requestsPerSecond: number;
  keep: Keeping;
  moments: DrawnMoments;
  asker: Asker;
  policy: Policy;
  /** Hosts, as `host:port`, whose operators asked to be left out. */
  leaveOut: readonly string[];
  now: () => number;
  resolve: (host: string) => Promise<string[]>;
  /** Every live listing. */
  listings: () => AsyncIterable<Target>;
  /** Tests whether something other than the probed hosts can be reached. */
  testUplink: () => Promise<boolean>;
  send: (body: RecordBody) => Promise<{ hash: string }>;
  log: Log;
  /**
   * After a failed look: how long to wait for an answer of any other host. If none comes, the uplink is tested.
   * Milliseconds.
   */
  uplinkDelayMs?: number;
  ca?: string;
  ask?: (question: Question) => Promise<Answer>;
};

/** The least time between two lines of the log about failed work, in seconds. */
const QUIET_SECONDS = 60;

/**
 * Checks the listed hosts, stores what it saw, and reports it hour by hour (STEWARD, The prober). It checks a host in
 * each slot if the host served an agent in the last seven days, and otherwise once a day for each agent. It does not
 * start this work itself: the caller calls `tick` again and again, and passes the clock in.
 */
export class Prober {
  readonly #it: ProberParameters;
  readonly #memory = new HostMemory();
  readonly #table: HostTable;
  readonly #desk: ReportDesk;
  readonly #uplink: Uplink;
  readonly #pacer: Pacer;
  readonly #visits: HostVisits;
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly metrics: Metrics;
  readonly #plan: SlotPlan;
  /** The latest slot that the clock showed since this prober was opened, or since the clock was set back. */
  #slot = -1;
  #listingsRead = 0;
  #lastFault = Number.NEGATIVE_INFINITY;

  private constructor(parameters: ProberParameters) {
    const { maxHosts, moments, policy, leaveOut, log, requestsPerSecond } = parameters;
    this.#it = parameters;
    this.#table = new HostTable({
      maxHosts,
      moments,
      memory: this.#memory,
      leaveOut,
      problemOf: policy.problemOf,
    });
    this.#desk = new ReportDesk({
      ...parameters,
      memory: this.#memory,
      onEnd: (state) => this.metrics.countReport(state),
      onFault: (error) => this.#complain(error),
    });
    this.#plan = new SlotPlan(moments);
    this.#pacer = new Pacer({ perSecond: requestsPerSecond });
    this.#uplink = new Uplink({
      test: parameters.testUplink,
      delayMs: parameters.uplinkDelayMs ?? 2_000,
      clock: () => performance.now(),
      onChange: (isLost) => log(isLost ? "The uplink is lost. Nothing is recorded." : "The uplink is back."),
    });
    this.metrics = this.#createMetrics();
    this.#visits = new HostVisits(this.#visitParameters());
  }

  /**
   * Opens a prober on its folder, and restores what an earlier process stored there: its memory about hosts, the
   * listings, the waiting reports, and the observations of this hour and the last few hours.
   */
  static async open(parameters: ProberParameters): Promise<Prober> {
    const prober = new Prober(parameters);
    await prober.#takeUp();
    return prober;
  }

  #createMetrics(): Metrics {
    const table = this.#table;
    return createMetrics({
      hosts: () => table.size,
      serving: () => this.#countServing(),
      optedOut: () => this.#memory.optedOut,
      refusedEndpoints: () => table.refused,
      hostsLeftOut: () => table.leftOut,
      waitingRequests: () => this.#pacer.waiting,
      waitingReports: () => this.#desk.waiting,
      isUplinkLost: () => this.#uplink.isLost,
      listingsRead: () => this.#listingsRead,
      observationBytes: () => this.#desk.diskBytes(),
    });
  }

  #countServing(): number {
    const day = dayOf(slotOf(this.#it.now()));
    return [...this.#table.keys()].filter((key) => this.#memory.serves(key, day)).length;
  }

  #visitParameters(): VisitParameters {
    const { policy, resolve, moments, asker, ca, ask, now } = this.#it;
    return {
      policy,
      resolve,
      moments,
      asker,
      ca,
      ask,
      pacer: this.#pacer,
      uplink: this.#uplink,
      memory: this.#memory,
      metrics: this.metrics,
      clock: () => performance.now(),
      now: () => now() * 1_000,
      record: (observation) => this.#record(observation),
      signal: this.#stop.signal,
    };
  }

  #record(observation: Observation): void {
    // The clock was set back during this look, so its slot is wrong. The observation is dropped.
    if (observation.slot > this.#plan.slot) return;
    try {
      this.#desk.record(observation);
    } catch (error) {
      this.metrics.countFailedWrite();
      throw error;
    }
  }

  async #takeUp(): Promise<void> {
    const { folder, now, log } = this.#it;
    // The clock may jump before the first tick.
    this.#slot = slotOf(now());
    const hour = hourOf(this.#slot);
    // A file is missing until the first listings are read, or until the first hour closes.
    const read = async (name: string, take: (json: unknown) => void | Promise<void>): Promise<void> => {
      try {
        await take(JSON.parse(await readFile(path.join(folder, name), "utf8")));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT")
          log("A stored file cannot be read. The prober begins without it.", { file: name, error });
      }
    };
    await read("hosts.json", (json) => this.#memory.take(json));
    await read("listings.json", async (json) => {
      await this.#table.load(keptTargets(json), dayOf(slotOf(now())));
    });
    await this.#desk.open(hour);
  }

  /** The turns of all requests of this prober. */
  get pacer(): Pacer {
    return this.#pacer;
  }

  /** Reads the listings again. If the node does not answer, the old ones stay. */
  async refresh(): Promise<void> {
    const { listings, now, log, folder } = this.#it;
    try {
      await this.#table.load(listings(), dayOf(slotOf(now())));
      this.#listingsRead = now();
      await writeWhole(path.join(folder, "listings.json"), JSON.stringify(this.#table.targets()));
      // So new hosts are visited in this slot, and not only from the next slot on.
      this.#replan();
    } catch (error) {
      log("The node's listings could not be read or stored. The next reading tries again.", { error });
    }
  }

  /** Starts the work that is due. Call it several times a second. */
  tick(): void {
    const { now } = this.#it;
    const slot = slotOf(now());
    // If the clock goes back by at most one slot, no visit begins until the clock is again where it was.
    if (slot < this.#slot - 1) {
      this.#plan.begin(-1);
      this.#desk.goBackTo(slot, this.#slot);
      this.#slot = slot;
    }
    if (slot > this.#slot + 1) this.#desk.goForwardTo(slot);
    this.#slot = Math.max(this.#slot, slot);
    if (slot > this.#plan.slot) {
      this.#desk.beginSlot(slot);
      this.#plan.begin(slot);
      this.#replan();
    }
    for (const key of this.#plan.due(now)) this.#begin(key, slot);
    this.#desk.closeHours();
  }

  #replan(): void {
    const { slot } = this.#plan;
    if (slot < 0) return;
    this.#plan.draw([...this.#table.keys()].filter((key) => !this.#desk.wasAsked(slot, key)));
  }

  #begin(key: string, slot: number): void {
    const host = this.#table.get(key);
    if (host === undefined || this.#uplink.isLost) return;
    this.#plan.noteBegun(key);
    if (!this.#visits.isDue(host, slot)) return;
    const isWanted = () => !this.#uplink.isLost && slotOf(this.#it.now()) === slot;
    const visit = this.#visits.visit(host, slot, isWanted).catch((error) => this.#complain(error));
    this.#underWay.add(visit);
    void visit.finally(() => this.#underWay.delete(visit));
  }

  #complain(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const now = this.#it.now();
    // A time in the future was set by a wrong clock.
    if (Math.abs(now - this.#lastFault) < QUIET_SECONDS) return;
    this.#lastFault = now;
    this.#it.log("A host could not be looked at, or an hour could not be reported.", { error });
  }

  /** Sends the waiting reports. Call it every half minute. */
  async report(): Promise<void> {
    await this.#desk.send();
  }

  /** The state for `GET /health`. */
  status(): { hosts: number; uplink: "there" | "lost"; last_hour: number; reports_waiting: number } {
    const { lastHour: last_hour, waiting: reports_waiting } = this.#desk;
    const uplink = this.#uplink.isLost ? "lost" : "there";
    return { hosts: this.#table.size, uplink, last_hour, reports_waiting };
  }

  /** The size of the observations on the disk. */
  diskBytes(): Promise<number> {
    return this.#desk.diskBytes();
  }

  /** Resolves when no work is running. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.#desk.idle();
  }

  /** Ends all running work. Requests without an answer count as no data. */
  async close(): Promise<void> {
    this.#stop.abort(new Error("the prober was stopped"));
    this.#uplink.close();
    this.#pacer.close();
    await this.idle();
    this.#desk.close();
  }
}
