import path from "node:path";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Log } from "tallystick-runtime/stderrLog";
import type { HostMemory } from "../hosts/hostMemory.ts";
import { HourBook } from "../observations/hourBook.ts";
import type { Observation } from "../observations/observation.ts";
import { type Keeping, ObservationFiles } from "../observations/observationFiles.ts";
import { writeWhole } from "../observations/writeWhole.ts";
import { dayOf, hourOf, lastSlotOf, slotOf } from "../schedule/slots.ts";
import { hourOfReports, makeReports } from "./makeReports.ts";
import { Outbox, type PartState } from "./outbox.ts";

/** The parts of a report desk. Times are unix seconds, with fractions. */
export type ReportDeskParameters = {
  /** The prober's folder. */
  folder: string;
  region: string;
  keep: Keeping;
  memory: HostMemory;
  now: () => number;
  send: (body: RecordBody) => Promise<{ hash: string }>;
  log: Log;
  /** Called for each part of a report that is not sent any more. */
  onEnd: (state: PartState) => void;
  /** Called when an hour could not be reported. It is tried again. */
  onFault: (error: unknown) => void;
};

/** An hour is reported this many seconds after its end. By then all looks of its last slot are over. */
const CLOSE_SECONDS = 45;

/** A report can still be made from the disk for this many past hours. */
const HOURS_BACK = 3;

/**
 * Stores what a prober saw, and reports it hour by hour (STEWARD, The prober). It does so also if the clock was wrong for
 * a while: what was seen at a time that was wrong is not reported, and what was right is not lost.
 */
export class ReportDesk {
  readonly #it: ReportDeskParameters;
  readonly #book = new HourBook();
  readonly #files: ObservationFiles;
  readonly #outbox: Outbox;
  #closedTo = 0;
  /**
   * Set while the clock may be wrong, because it is behind what was stored. "at its start": what an earlier process saw
   * since then was not read.
   */
  #setBack: "at its start" | "later" | undefined;
  /** The last slot of what was stored before. A clock that comes beyond it without a jump is believed. */
  #doubtedTo = -1;
  /** Set from a jump of such a clock until what was stored before is read again. */
  #jumped: "at its start" | "later" | undefined;
  /** The running work on the reports. */
  #closing: Promise<void> | undefined;

  constructor(parameters: ReportDeskParameters) {
    const { folder, send, log, onEnd } = parameters;
    this.#it = parameters;
    this.#files = new ObservationFiles(path.join(folder, "observations"));
    this.#outbox = new Outbox({ folder: path.join(folder, "reports"), send, log, onEnd });
  }

  /**
   * Restores what an earlier process stored: the waiting reports, and the observations of this hour and the last few
   * hours.
   *
   * @param hour the hour in which the opening of the prober began
   */
  async open(hour: number): Promise<void> {
    const { memory, now } = this.#it;
    await this.#outbox.open();
    const last = this.#outbox.lastHour();
    if (last >= hour) [this.#setBack, this.#doubtedTo] = ["at its start", lastSlotOf(last)];
    const reopened = await this.#outbox.goBackTo(now());
    await this.#recall(hour);
    memory.goBackTo(dayOf(slotOf(now())));
    this.#reopen(slotOf(now()), reopened);
  }

  /** Reads what was seen in this hour and the last few, and continues after the last report. */
  async #recall(hour: number): Promise<void> {
    const { memory, now } = this.#it;
    let last = -1;
    for (let of = hour - HOURS_BACK; of <= hour; of++)
      for await (const observation of this.#files.read(of)) {
        const { slot } = observation;
        // Lines of later slots were written while the clock was ahead.
        if (slot > slotOf(now())) continue;
        if (slot < last - 1) this.#book.goBackTo(slot);
        last = slot;
        this.#book.note(observation);
        memory.recall(observation);
      }
    this.#book.skipTo(this.#outbox.lastHour(hour) + 1);
    this.#closedTo = hour - HOURS_BACK;
  }

  /** @throws when the disk refuses the observation; then it is not noted */
  record(observation: Observation): void {
    this.#files.write(observation);
    this.#book.note(observation);
  }

  /** Whether a host was asked in a slot, with any outcome. */
  wasAsked(slot: number, host: string): boolean {
    return this.#book.wasAsked(slot, host);
  }

  /** Called when a slot begins. */
  beginSlot(slot: number): void {
    this.#outbox.forgetRemoved(hourOf(slot));
    if (this.#setBack === undefined || slot <= this.#doubtedTo) return;
    // The clock came here without a jump. Otherwise a jump in a year would bring back what a wrong clock had stored.
    this.#setBack = undefined;
    this.#it.memory.forgetBefore();
  }

  /**
   * The clock was ahead and was set back. Without this step the prober would ask no host until its clock reaches that
   * time again.
   *
   * @param from the slot that the clock had shown before
   */
  goBackTo(slot: number, from: number): void {
    const { memory, now, log } = this.#it;
    this.#doubtedTo = Math.max(this.#doubtedTo, from);
    this.#setBack ??= this.#jumped ?? "later";
    this.#jumped = undefined;
    this.#closedTo = Math.min(this.#closedTo, hourOf(slot) - HOURS_BACK);
    this.#book.goBackTo(slot);
    memory.goBackTo(dayOf(slot));
    try {
      this.#files.deleteAfter(hourOf(slot));
    } catch (error) {
      log("Observations of the wrong time could not be deleted.", { error });
    }
    this.#inTurn(async () => {
      this.#reopen(slot, await this.#outbox.goBackTo(now()));
    });
    log("The clock was set back. Looks and reports continue from the new time.");
  }

  /**
   * The clock jumped forward. If it was set back before, it was wrong since then, as the clock of a machine is that has
   * not asked for the time yet. So what was stored before is right.
   */
  goForwardTo(slot: number): void {
    if (this.#setBack === undefined) return;
    [this.#jumped, this.#setBack] = [this.#setBack, undefined];
    this.#it.memory.goForwardTo(dayOf(slot));
    this.#it.log("The clock jumped forward. What was stored before it was behind counts again.");
  }

  /** Takes back what was seen before this slot in its hour, if a wrong clock had made a report of it. */
  #reopen(slot: number, reports: readonly RecordBody[]): void {
    const hour = hourOf(slot);
    this.#book.reopen(slot, hourOfReports(reports.filter((it) => it.hour === hour)));
  }

  /** Works on the reports when the work before is done. */
  #inTurn(work: () => Promise<void>): void {
    const turn: Promise<void> = (this.#closing === undefined ? work() : this.#closing.then(work))
      .catch(this.#it.onFault)
      .finally(() => {
        if (this.#closing === turn) this.#closing = undefined;
      });
    this.#closing = turn;
  }

  /** Stores the reports of the hours that are over. Call it at each tick. */
  closeHours(): void {
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
    const { region, folder, keep, memory, now } = this.#it;
    if (this.#jumped !== undefined) {
      await this.#outbox.goForwardTo(now());
      if (this.#jumped === "at its start") await this.#recall(hourOf(slotOf(now())));
      this.#jumped = undefined;
    }
    for (const [of, seen] of this.#book.closeBefore(hour)) {
      await this.#outbox.add(of, makeReports(of, region, seen));
      this.#book.remove(of, seen);
    }
    await writeWhole(path.join(folder, "hosts.json"), JSON.stringify(memory.toJson()));
    await this.#files.tidy(hour, keep);
    await this.#outbox.tidy(hour, keep.days * 24);
  }

  /** Sends the waiting reports. */
  async send(): Promise<void> {
    await this.#closing;
    await this.#outbox.sendAll(this.#it.now());
  }

  /** The last hour that was stored, up to the present one; -1 if there is none. */
  get lastHour(): number {
    return this.#outbox.lastHour(hourOf(slotOf(this.#it.now())));
  }

  /** Parts of reports that are not settled yet. */
  get waiting(): number {
    return this.#outbox.waiting;
  }

  /** The size of the observations on the disk. */
  diskBytes(): Promise<number> {
    return this.#files.size();
  }

  /** Resolves when no work on the reports is running. */
  async idle(): Promise<void> {
    await this.#closing;
  }

  close(): void {
    this.#files.close();
  }
}
