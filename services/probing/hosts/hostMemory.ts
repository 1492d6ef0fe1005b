import type { Address } from "tallystick-protocol/address";
import { addressSchema } from "tallystick-protocol/address";
import { z } from "zod";
import type { Observation } from "../observations/observation.ts";
import { dayOf } from "../schedule/slots.ts";

/** For how many UTC days an agent counts as served by a host after the prober found it there. */
const SERVED_DAYS = 7;

/** How long the clock must have shown a day before anything counts as old on that day, in milliseconds. */
const SURE_MS = 3_600_000;

type Entry = {
  /** For each agent, the last UTC day on which the host's payment terms named it, or its payee, as the receiver. */
  served: Map<Address, number>;
  /** For each agent, the last day on which the prober asked the host for it. */
  asked: Map<Address, number>;
  /** The last day on which robots.txt was read, and whether it asks the prober to stay away. */
  robotsDay: number | undefined;
  optedOut: boolean;
  /** The listing by which a look last found the host up. All looks use it while the host answers. */
  good: string | undefined;
  /**
   * How many looks in a row found the host down, or could not be made. After an odd number the next look uses another
   * listing, and after an even number the good one. Somebody with many bad listings at a shared host cannot make two of
   * them follow each other.
   */
  failures: number;
  /** A number that chooses the other listing. */
  turn: number;
  /** Whether the last look found the host up. When several hosts share an IP address, the hosts that were up go first. */
  wasUp: boolean;
};

const kept = z.record(
  z.string(),
  z.object({
    served: z.record(addressSchema, z.int()),
    asked: z.record(addressSchema, z.int()),
    robotsDay: z.int().optional(),
    optedOut: z.boolean(),
    good: z.string().optional(),
  }),
);

/** The memory of a prober about hosts, from day to day. */
export class HostMemory {
  readonly #entries = new Map<string, Entry>();
  /** All days as they were before {@link goBackTo} replaced some of them. */
  #before: ReturnType<HostMemory["toJson"]> | undefined;
  /** The days of the last hour and the one before them, and when each was told. */
  readonly #told: { day: number; at: number }[] = [];
  readonly #elapsed: () => number;

  /** @param elapsed milliseconds that never go back */
  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  #of(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = {
        served: new Map(),
        asked: new Map(),
        robotsDay: undefined,
        optedOut: false,
        good: undefined,
        failures: 0,
        turn: 0,
        wasUp: true,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  hasServed(key: string, agent: Address, day: number): boolean {
    const last = this.#entries.get(key)?.served.get(agent);
    return last !== undefined && last > day - SERVED_DAYS;
  }

  /** Whether a host served anybody within the last seven days. Only such hosts are looked at in each slot. */
  serves(key: string, day: number): boolean {
    const served = this.#entries.get(key)?.served;
    return served !== undefined && [...served.values()].some((last) => last > day - SERVED_DAYS);
  }

  /** Adds an observation of an earlier process. */
  recall(it: Observation): void {
    const day = dayOf(it.slot);
    if (it.what === "served") this.noteServed(it.host, it.agent, day);
    if (it.what === "unserved") this.noteAsked(it.host, it.agent, day);
    if (it.what === "robots") this.noteRobots(it.host, day, it.optedOut);
    if (it.what === "up" || it.what === "down") this.noteLook(it.host, it.what === "up");
  }

  /** @returns whether it is the first time on that day */
  noteServed(key: string, agent: Address, day: number): boolean {
    const entry = this.#of(key);
    entry.asked.set(agent, day);
    const isFirst = entry.served.get(agent) !== day;
    entry.served.set(agent, day);
    return isFirst;
  }

  noteAsked(key: string, agent: Address, day: number): void {
    this.#of(key).asked.set(agent, day);
  }

  /** The last day on which the host was asked for an agent; undefined when it never was. */
  askedOn(key: string, agent: Address): number | undefined {
    return this.#entries.get(key)?.asked.get(agent);
  }

  noteRobots(key: string, day: number, optedOut: boolean | undefined): void {
    const entry = this.#of(key);
    entry.robotsDay = day;
    // If robots.txt cannot be read, the last known state stays.
    if (optedOut !== undefined) entry.optedOut = optedOut;
  }

  robotsDay(key: string): number | undefined {
    return this.#entries.get(key)?.robotsDay;
  }

  isOptedOut(key: string): boolean {
    return this.#entries.get(key)?.optedOut ?? false;
  }

  get optedOut(): number {
    return [...this.#entries.values()].filter(({ optedOut }) => optedOut).length;
  }

  /** @param listing the name of the listing that the look used, if it is known */
  noteLook(key: string, isUp: boolean, listing?: string): void {
    const entry = this.#of(key);
    entry.wasUp = isUp;
    entry.failures = isUp ? 0 : entry.failures + 1;
    if (isUp) entry.good = listing ?? entry.good;
    // After a failure of the good listing, the choice of the other listing stays as it is.
    else if (listing === undefined || listing !== entry.good) entry.turn++;
  }

  /**
   * Called when there are no params for a listing, so that the next look uses another one.
   *
   * @param isForNow whether there may be params later, because the schema could not be read. The good listing stays good
   */
  passOver(key: string, listing: string, isForNow = false): void {
    const entry = this.#of(key);
    const isGood = entry.good === listing;
    // The choice of the other listing stays as it is.
    if (isGood && isForNow) return void entry.failures++;
    entry.turn++;
    if (isGood) entry.good = undefined;
    else entry.failures++;
  }

  /** Chooses the listing for the next look; undefined if there is none. */
  listingFor<Listing>(
    key: string,
    listings: readonly Listing[],
    nameOf: (listing: Listing) => string,
  ): Listing | undefined {
    const { good, failures, turn } = this.#of(key);
    const best = listings.find((it) => nameOf(it) === good);
    const others = listings.filter((it) => it !== best);
    if (best !== undefined && (failures % 2 === 0 || others.length === 0)) return best;
    return others[turn % Math.max(1, others.length)];
  }

  wasUp(key: string): boolean {
    return this.#entries.get(key)?.wasUp ?? true;
  }

  /**
   * Forgets agents that a host was not asked for within a week. Then forgets each host that has no listing and no
   * agents left. A clock that is days ahead for less than an hour makes it forget nothing.
   */
  keepOnly(isListed: (key: string) => boolean, day: number): void {
    const surely = this.#surely(day);
    for (const [key, { served, asked }] of this.#entries) {
      for (const days of [served, asked])
        for (const [agent, last] of days) if (last <= surely - SERVED_DAYS) days.delete(agent);
      // A host without a listing is kept until all its agents are forgotten. So if a listing is missing for an hour
      // and comes back, the prober does not ask the host for the same agent again on the same day.
      if (!isListed(key) && served.size === 0 && asked.size === 0) this.#entries.delete(key);
    }
  }

  /** The earliest of the days that were told in the last hour; no day at all in the first hour of a process. */
  #surely(day: number): number {
    const at = this.#elapsed();
    this.#told.push({ day, at });
    while ((this.#told[1]?.at ?? at) <= at - SURE_MS) this.#told.shift();
    const isSure = this.#told.some((it) => it.at <= at - SURE_MS);
    return isSure ? Math.min(...this.#told.map((it) => it.day)) : Number.NEGATIVE_INFINITY;
  }

  /** A day that is later than this one was noted by a wrong clock. It is replaced by this day. */
  goBackTo(day: number): void {
    const before = this.toJson();
    for (const entry of this.#entries.values()) {
      for (const days of [entry.served, entry.asked])
        for (const [agent, last] of days)
          if (last > day) {
            days.set(agent, day);
            this.#before ??= before;
          }
      if (entry.robotsDay !== undefined) entry.robotsDay = Math.min(entry.robotsDay, day);
    }
  }

  /** Called when the clock jumped forward to this day. The days that {@link goBackTo} replaced count again. */
  goForwardTo(day: number): void {
    for (const [key, { served, asked }] of Object.entries(this.#before ?? {})) {
      const entry = this.#of(key);
      for (const [days, before] of [
        [entry.served, served],
        [entry.asked, asked],
      ] as const)
        for (const [agent, last] of Object.entries(before) as [Address, number][])
          if (last <= day && last > (days.get(agent) ?? -1)) days.set(agent, last);
    }
    this.#before = undefined;
  }

  /** The days that {@link goBackTo} replaced do not come back. */
  forgetBefore(): void {
    this.#before = undefined;
  }

  toJson(): z.input<typeof kept> {
    return Object.fromEntries(
      [...this.#entries].map(([key, { served, asked, robotsDay, optedOut, good }]) => [
        key,
        {
          served: Object.fromEntries(served),
          asked: Object.fromEntries(asked),
          ...(robotsDay !== undefined && { robotsDay }),
          ...(good !== undefined && { good }),
          optedOut,
        },
      ]),
    );
  }

  /** Restores the result of `toJson`. @throws ZodError when it is something else */
  take(json: unknown): void {
    for (const [key, { served, asked, robotsDay, optedOut, good }] of Object.entries(kept.parse(json))) {
      const entry = this.#of(key);
      entry.served = new Map(Object.entries(served)) as Map<Address, number>;
      entry.asked = new Map(Object.entries(asked)) as Map<Address, number>;
      entry.robotsDay = robotsDay;
      entry.optedOut = optedOut;
      entry.good = good;
    }
  }
}
