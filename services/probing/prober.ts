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
import { HourBook } from "./observations/hourBook.ts";
import type { Observation } from "./observations/observation.ts";
import { type Keeping, ObservationFiles } from "./observations/observationFiles.ts";
import { writeWhole } from "./observations/writeWhole.ts";
import { hourOfReports, makeReports } from "./reports/makeReports.ts";
import { Outbox } from "./reports/outbox.ts";
import type { DrawnMoments } from "./schedule/drawnMoments.ts";
import { Pacer } from "./schedule/pacer.ts";
import { dayOf, hourOf, SLOT_SECONDS, slotOf } from "./schedule/slots.ts";
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

/** An hour is reported this many seconds after its end. By then all looks of its last slot are over. */
const CLOSE_SECONDS = 45;

/** A report can still be made from the disk for this many past hours. */
const HOURS_BACK = 3;

/** The least time between two lines of the log about failed work, in seconds. */
const QUIET_SECONDS = 60;

type Planned = { at: number; key: string };

/**
 * Checks the listed hosts, stores what it saw, and reports it hour by hour (STEWARD, The prober). It checks a host in
 * each slot if the host served an agent in the last seven days, and otherwise once a day for each agent. It does not
 * start this work itself: the caller calls `tick` again and again, and passes the clock in.
 */
export class Prober {
  readonly #it: ProberParameters;
  readonly #memory = new HostMemory();
  readonly #table: HostTable;
  readonly #book = new HourBook();
  readonly #files: ObservationFiles;
  readonly #outbox: Outbox;
  readonly #uplink: Uplink;
  readonly #pacer: Pacer;
  readonly #visits: HostVisits;
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly metrics: Metrics;
  #slot = -1;
  #plan: Planned[] = [];
  #next = 0;
  /**
   * Hosts whose visit in this slot has begun, even if their request is still waiting, and hosts that need no visit in
   * this slot. The set does not have hosts whose time came while the uplink was lost.
   */
  readonly #begun = new Set<string>();
  #closedTo = 0;
  /**
   * Set while the clock may be wrong, because it is behind the stored observations. "at its start": the clock was
   * behind when this process started, so the later observations of an earlier process were not read.
   */
  #setBack: "at its start" | "later" | undefined;
  /** Set after such a clock jumped forward, until the stored observations are read again. */
  #jumped: "at its start" | "later" | undefined;
  /** The running work on the reports. */
  #closing: Promise<void> | undefined;
  #listingsRead = 0;
  #lastFault = Number.NEGATIVE_INFINITY;

  private constructor(parameters: ProberParameters) {
    const { folder, maxHosts, moments, policy, leaveOut, log, requestsPerSecond } = parameters;
    this.#it = parameters;
    this.#table = new HostTable({
      maxHosts,
      moments,
      memory: this.#memory,
      leaveOut,
      problemOf: policy.problemOf,
    });
    this.#files = new ObservationFiles(path.join(folder, "observations"));
    this.#pacer = new Pacer({ perSecond: requestsPerSecond });
    this.#uplink = new Uplink({
      test: parameters.testUplink,
      delayMs: parameters.uplinkDelayMs ?? 2_000,
      clock: () => performance.now(),
      onChange: (isLost) => log(isLost ? "The uplink is lost. Nothing is recorded." : "The uplink is back."),
    });
    this.#outbox = new Outbox({
      folder: path.join(folder, "reports"),
      send: parameters.send,
      log,
      onEnd: (state) => this.metrics.countReport(state),
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
      waitingReports: () => this.#outbox.waiting,
      isUplinkLost: () => this.#uplink.isLost,
      listingsRead: () => this.#listingsRead,
      observationBytes: () => this.#files.size(),
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
    if (observation.slot > this.#slot) return;
    try {
      this.#files.write(observation);
    } catch (error) {
      this.metrics.countFailedWrite();
      throw error;
    }
    this.#book.note(observation);
  }

  async #takeUp(): Promise<void> {
    const { folder, now, log } = this.#it;
    const hour = hourOf(slotOf(now()));
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
    await this.#outbox.open();
    if (this.#outbox.lastHour() >= hour) this.#setBack = "at its start";
    const reopened = await this.#outbox.goBackTo(now());
    await this.#recall(hour);
    this.#memory.goBackTo(dayOf(slotOf(now())));
    this.#reopen(slotOf(now()), reopened);
  }

  /** Reads what was seen in this hour and the last few, and continues after the last report. */
  async #recall(hour: number): Promise<void> {
    let last = -1;
    for (let of = hour - HOURS_BACK; of <= hour; of++)
      for await (const observation of this.#files.read(of)) {
        const { slot } = observation;
        // Lines of later slots were written while the clock was ahead.
        if (slot > slotOf(this.#it.now())) continue;
        if (slot < last - 1) this.#book.goBackTo(slot);
        last = slot;
        this.#book.note(observation);
        this.#memory.recall(observation);
      }
    this.#book.skipTo(this.#outbox.lastHour(hour) + 1);
    this.#closedTo = hour - HOURS_BACK;
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
    if (slot < this.#slot - 1) this.#goBackTo(slot);
    if (slot > this.#slot) {
      if (this.#slot >= 0 && slot > this.#slot + 1) this.#goForwardTo(slot);
      this.#slot = slot;
      this.#outbox.forgetRemoved(hourOf(slot));
      this.#begun.clear();
      this.#replan();
    }
    for (
      let due = this.#plan[this.#next];
      due !== undefined && due.at <= now();
      due = this.#plan[this.#next]
    ) {
      this.#next++;
      this.#begin(due.key, slot);
    }
    this.#closeHours();
  }

  /**
   * Called when the clock was ahead and was set back. Without this call the prober would ask no host until its clock
   * reaches that time again.
   */
  #goBackTo(slot: number): void {
    this.#slot = -1;
    this.#setBack ??= this.#jumped ?? "later";
    this.#jumped = undefined;
    this.#closedTo = Math.min(this.#closedTo, hourOf(slot) - HOURS_BACK);
    this.#book.goBackTo(slot);
    this.#memory.goBackTo(dayOf(slot));
    try {
      this.#files.deleteAfter(hourOf(slot));
    } catch (error) {
      this.#it.log("Observations of the wrong time could not be deleted.", { error });
    }
    this.#inTurn(async () => {
      this.#reopen(slot, await this.#outbox.goBackTo(this.#it.now()));
    });
    this.#it.log("The clock was set back. Looks and reports continue from the new time.");
  }

  /**
   * Called when the clock jumped forward. If the clock was set back before, it was wrong in between, like the clock of
   * a machine that has just started. So the observations from before that are right.
   */
  #goForwardTo(slot: number): void {
    if (this.#setBack === undefined) return;
    [this.#jumped, this.#setBack] = [this.#setBack, undefined];
    this.#memory.goForwardTo(dayOf(slot));
    this.#it.log("The clock jumped forward. What was stored before it was behind counts again.");
  }

  /**
   * Puts the observations of this hour from before this slot back into the book, if a wrong clock had made a report of
   * them.
   */
  #reopen(slot: number, reports: readonly RecordBody[]): void {
    const hour = hourOf(slot);
    this.#book.reopen(slot, hourOfReports(reports.filter((it) => it.hour === hour)));
  }

  /** Works on the reports when the work before is done. */
  #inTurn(work: () => Promise<void>): void {
    const turn: Promise<void> = (this.#closing === undefined ? work() : this.#closing.then(work))
      .catch((error) => this.#complain(error))
      .finally(() => {
        if (this.#closing === turn) this.#closing = undefined;
      });
    this.#closing = turn;
  }

  #replan(): void {
    const { moments } = this.#it;
    const slot = this.#slot;
    if (slot < 0) return;
    const plan: Planned[] = [];
    for (const key of this.#table.keys()) {
      if (this.#book.wasAsked(slot, key) || this.#begun.has(key)) continue;
      plan.push({ key, at: slot * SLOT_SECONDS + moments.secondOf(slot, key) });
    }
    this.#plan = plan.sort((a, b) => a.at - b.at);
    this.#next = 0;
  }

  #begin(key: string, slot: number): void {
    const host = this.#table.get(key);
    if (host === undefined || this.#uplink.isLost) return;
    this.#begun.add(key);
    if (!this.#visits.isDue(host, slot)) return;
    const isWanted = () => !this.#uplink.isLost && slotOf(this.#it.now()) === slot;
    const visit = this.#visits.visit(host, slot, isWanted).catch((error) => this.#complain(error));
    this.#underWay.add(visit);
    void visit.finally(() => this.#underWay.delete(visit));
  }

  #complain(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const now = this.#it.now();
    if (now - this.#lastFault < QUIET_SECONDS) return;
    this.#lastFault = now;
    this.#it.log("A host could not be looked at, or an hour could not be reported.", { error });
  }

  /** Stores the reports of the hours that are over. */
  #closeHours(): void {
    const { now } = this.#it;
    const hour = hourOf(slotOf(now() - CLOSE_SECONDS));
    if (hour <= this.#closedTo || this.#closing !== undefined) return;
    this.#inTurn(async () => {
      await this.#close(hour);
      // The clock may have been set back meanwhile.
      this.#closedTo = Math.min(hour, hourOf(slotOf(now() - CLOSE_SECONDS)));
    });
  }

  async #close(hour: number): Promise<void> {
    const { region, folder, keep, now } = this.#it;
    if (this.#jumped !== undefined) {
      await this.#outbox.goForwardTo(now());
      if (this.#jumped === "at its start") await this.#recall(hourOf(slotOf(now())));
      this.#jumped = undefined;
    }
    for (const [of, seen] of this.#book.closeBefore(hour)) {
      await this.#outbox.add(of, makeReports(of, region, seen));
      this.#book.remove(of, seen);
    }
    await writeWhole(path.join(folder, "hosts.json"), JSON.stringify(this.#memory.toJson()));
    await this.#files.tidy(hour, keep);
    await this.#outbox.tidy(hour, keep.days * 24);
  }

  /** Sends the waiting reports. Call it every half minute. */
  async report(): Promise<void> {
    await this.#closing;
    await this.#outbox.sendAll(this.#it.now());
  }

  /** The state for `GET /health`. */
  status(): { hosts: number; uplink: "there" | "lost"; last_hour: number; reports_waiting: number } {
    const { waiting } = this.#outbox;
    const uplink = this.#uplink.isLost ? "lost" : "there";
    const last_hour = this.#outbox.lastHour(hourOf(slotOf(this.#it.now())));
    return { hosts: this.#table.size, uplink, last_hour, reports_waiting: waiting };
  }

  /** The size of the observations on the disk. */
  diskBytes(): Promise<number> {
    return this.#files.size();
  }

  /** Resolves when no work is running. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.#closing;
  }

  /** Ends all running work. Requests without an answer count as no data. */
  async close(): Promise<void> {
    this.#stop.abort(new Error("the prober was stopped"));
    this.#uplink.close();
    this.#pacer.close();
    await this.idle();
    this.#files.close();
  }
}
