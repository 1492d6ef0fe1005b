import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Log } from "tallystick-runtime/stderrLog";
import { ServiceError } from "tallystick-sdk/requestService";
import { writeWhole } from "../observations/writeWhole.ts";

/** How long after the end of its hour a record may be settled, in seconds. Then the hour closes (STEWARD). */
const WINDOW_SECONDS = 7_200;
const HOUR_SECONDS = 3_600;

/**
 * How often settlement may refuse a part before the refusal is final. Settlement's clock may be slow, or settlement
 * may need an upgrade first.
 */
const MAX_REFUSALS = 5;

/** The state of one part of an hour's report. */
export type PartState = "waiting" | "settled" | "refused" | "late";

type Part = { body: RecordBody; state: PartState; hash?: string; refusals?: number };
type Report = { hour: number; parts: Part[] };

export type OutboxParameters = {
  folder: string;
  /** Signs a body and sends it. The same body gives the same record, so settlement stores it once. */
  send: (body: RecordBody) => Promise<{ hash: string }>;
  log: Log;
  /** Called for each part that is not sent any more. */
  onEnd?: (state: PartState) => void;
};

/**
 * The reports on their way to settlement. The report of an hour is stored once, before anything is sent. So a
 * prober that is killed and started again sends the same report, and never a different one.
 */
export class Outbox {
  readonly #parameters: OutboxParameters;
  readonly #waiting = new Map<number, Report>();
  /**
   * The hours that were stored here, without those that {@link goBackTo} removed. A clock that was wrong may have stored
   * hours of the future.
   */
  readonly #stored = new Set<number>();
  /** Reports of later hours that {@link goBackTo} removed. */
  readonly #removed = new Map<number, Report>();
  #round: Promise<void> | undefined;

  constructor(parameters: OutboxParameters) {
    this.#parameters = parameters;
  }

  /**
   * The last hour that was stored; -1 if there is none.
   *
   * @param most hours after this one are ignored
   */
  lastHour(most = Number.POSITIVE_INFINITY): number {
    let last = -1;
    for (const hour of this.#stored) if (hour <= most && hour > last) last = hour;
    return last;
  }

  /** Parts that are not settled yet. */
  get waiting(): number {
    return [...this.#waiting.values()].flatMap(({ parts }) => parts.filter(isWaiting)).length;
  }

  #fileOf(hour: number): string {
    return path.join(this.#parameters.folder, `${hour}.json`);
  }

  /** Restores the reports of an earlier process. */
  async open(): Promise<void> {
    for (const hour of await this.#hours()) {
      this.#stored.add(hour);
      const report = await this.#read(hour).catch((error: unknown) => {
        // A damaged report stops no prober. It is not made again, because a part of it may have been sent.
        if (!(error instanceof SyntaxError)) throw error;
        this.#parameters.log("A report is damaged, so it is not sent any more.", { hour, error });
        return undefined;
      });
      if (report?.parts.some(isWaiting)) this.#waiting.set(hour, report);
    }
  }

  /**
   * Called when a wrong clock was set back. Removes the reports of hours that are not over, so that these hours can be
   * reported when they are over. A report stays if settlement has a part of it. A report that was too late only by the
   * wrong clock is sent again.
   *
   * @param now unix seconds
   * @returns the bodies of the removed reports
   */
  async goBackTo(now: number): Promise<RecordBody[]> {
    // A round that is running writes its report at its end.
    await this.#round?.catch(() => {});
    const removed: RecordBody[] = [];
    for (const hour of [...this.#stored]) {
      if (isTooLate(hour, now)) continue;
      // The wrong clock may have deleted the file, because the report seemed to be old.
      const parts = (await this.#read(hour).catch(() => undefined))?.parts ?? [];
      if (now >= (hour + 1) * HOUR_SECONDS) await this.#sendAgain(hour, parts);
      else if (!parts.some(({ state }) => state === "settled")) {
        await rm(this.#fileOf(hour), { force: true });
        this.#stored.delete(hour);
        this.#waiting.delete(hour);
        removed.push(...parts.map(({ body }) => body));
        if (now < hour * HOUR_SECONDS) this.#removed.set(hour, { hour, parts });
      }
    }
    return removed;
  }

  /**
   * Called when the clock jumped forward. So the clock was wrong before the jump. For each hour that the clock jumped
   * over, stores the removed report again.
   *
   * @param now unix seconds
   */
  async goForwardTo(now: number): Promise<void> {
    for (const [hour, report] of this.#removed) {
      if (now < (hour + 1) * HOUR_SECONDS) continue;
      if (!this.#stored.has(hour)) {
        await writeWhole(this.#fileOf(hour), JSON.stringify(report));
        this.#stored.add(hour);
        if (report.parts.some(isWaiting)) this.#waiting.set(hour, report);
      }
      this.#removed.delete(hour);
    }
  }

  /** Called when an hour begins. The clock that made a report of it before was wrong. */
  forgetRemoved(hour: number): void {
    this.#removed.delete(hour);
  }

  /** Sends again the parts that counted as too late. */
  async #sendAgain(hour: number, parts: Part[]): Promise<void> {
    const late = parts.filter(({ state }) => state === "late");
    if (late.length === 0) return;
    for (const part of late) part.state = "waiting";
    await writeWhole(this.#fileOf(hour), JSON.stringify({ hour, parts }));
    this.#waiting.set(hour, { hour, parts });
  }

  async #read(hour: number): Promise<Report> {
    return JSON.parse(await readFile(this.#fileOf(hour), "utf8")) as Report;
  }

  async #hours(): Promise<number[]> {
    const names = await readdir(this.#parameters.folder);
    return names.flatMap((name) => (/^\d+\.json$/.test(name) ? [Number.parseInt(name, 10)] : []));
  }

  /** Stores the parts of an hour. An hour that is already stored is not changed. */
  async add(hour: number, bodies: RecordBody[]): Promise<void> {
    if (this.#stored.has(hour)) return;
    const report: Report = { hour, parts: bodies.map((body) => ({ body, state: "waiting" })) };
    await writeWhole(this.#fileOf(hour), JSON.stringify(report));
    this.#stored.add(hour);
    this.#waiting.set(hour, report);
  }

  /**
   * Sends the waiting parts, the oldest first. Only one round runs at a time. A call during a round waits for
   * its end.
   *
   * @param now unix seconds
   */
  async sendAll(now: number): Promise<void> {
    this.#round ??= this.#sendAll(now).finally(() => {
      this.#round = undefined;
    });
    await this.#round;
  }

  async #sendAll(now: number): Promise<void> {
    for (const report of [...this.#waiting.values()].sort((a, b) => a.hour - b.hour)) {
      const isReached = await this.#sendReport(report, now);
      await writeWhole(this.#fileOf(report.hour), JSON.stringify(report));
      if (!report.parts.some(isWaiting)) this.#waiting.delete(report.hour);
      if (!isReached) return;
    }
  }

  /** @returns false if a part could not be sent; then the round ends */
  async #sendReport({ hour, parts }: Report, now: number): Promise<boolean> {
    const { send, log, onEnd } = this.#parameters;
    const isLate = isTooLate(hour, now);
    for (const [index, part] of parts.entries()) {
      if (!isWaiting(part)) continue;
      try {
        if (isLate) part.state = "late";
        else Object.assign(part, { state: "settled", hash: (await send(part.body)).hash });
      } catch (error) {
        // Any other fault may be a temporary one of the network, of settlement, or of the node.
        if (!isRefusal(error)) {
          log("A report could not be sent; it is tried again.", { hour, part: index, error });
          return false;
        }
        log("Settlement refused a report.", { hour, part: index, error });
        part.refusals = (part.refusals ?? 0) + 1;
        if (part.refusals < MAX_REFUSALS) continue;
        part.state = "refused";
      }
      if (isLate) log("A report came too late to count.", { hour, part: index });
      onEnd?.(part.state);
    }
    return true;
  }

  /** Deletes reports that are older than this many hours. */
  async tidy(hour: number, hours: number): Promise<void> {
    for (const of of await this.#hours())
      if (of < hour - hours && !this.#waiting.has(of)) await rm(this.#fileOf(of), { force: true });
  }
}

/** Whether the hour closed before this time, so that its report counts no more. */
function isTooLate(hour: number, now: number): boolean {
  return now > (hour + 1) * HOUR_SECONDS + WINDOW_SECONDS;
}

function isWaiting({ state }: Part): boolean {
  return state === "waiting";
}

/** Whether settlement checked a record and refused it. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.status >= 400 &&
    error.status < 500 &&
    ![401, 403, 404, 408, 425, 429].includes(error.status)
  );
}
