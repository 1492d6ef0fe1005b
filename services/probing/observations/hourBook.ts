import type { Address } from "tallystick-protocol/address";
import { bitOf, hourOf } from "../schedule/slots.ts";
import type { Observation } from "./observation.ts";

/**
 * One hour of a report. Each host has twelve bits for the slots with a look, and twelve bits for the slots in which
 * it was found down. Each agent has the hosts that served it.
 */
export type Hour = {
  looks: Map<string, { looked: number; down: number }>;
  served: Map<Address, Set<string>>;
};

/**
 * The observations of hours that are not reported yet, and the hosts that were already asked in the running
 * slot.
 */
export class HourBook {
  readonly #hours = new Map<number, Hour>();
  #slot = -1;
  #asked = new Set<string>();
  /** The first hour that is not reported yet. */
  #first = 0;

  note(it: Observation): void {
    if (it.what === "ask") {
      if (it.slot > this.#slot) [this.#slot, this.#asked] = [it.slot, new Set()];
      if (it.slot === this.#slot) this.#asked.add(it.host);
      return;
    }
    // An hour is reported once. A later observation for it is dropped.
    if (hourOf(it.slot) < this.#first) return;
    if (it.what === "up" || it.what === "down") {
      const looks = this.#hour(it.slot).looks;
      const { looked, down } = looks.get(it.host) ?? { looked: 0, down: 0 };
      const bit = bitOf(it.slot);
      looks.set(it.host, { looked: looked | bit, down: it.what === "down" ? down | bit : down });
    }
    if (it.what === "served") {
      const { served } = this.#hour(it.slot);
      served.set(it.agent, (served.get(it.agent) ?? new Set()).add(it.host));
    }
  }

  /** Whether a host was asked in a slot, with any outcome. */
  wasAsked(slot: number, host: string): boolean {
    return slot === this.#slot && this.#asked.has(host);
  }

  #hour(slot: number): Hour {
    const hour = hourOf(slot);
    const found = this.#hours.get(hour) ?? { looks: new Map(), served: new Map() };
    this.#hours.set(hour, found);
    return found;
  }

  /**
   * The hours before this one, the oldest first. From now on they do not change. They stay in the book until `remove`,
   * because the disk may refuse their report.
   */
  closeBefore(hour: number): [number, Hour][] {
    this.#first = Math.max(this.#first, hour);
    return [...this.#hours].filter(([of]) => of < hour).sort(([a], [b]) => a - b);
  }

  /** Removes an hour whose report is stored. */
  remove(of: number, stored: Hour): void {
    // If the clock was set back meanwhile, the book may have new observations of this hour.
    if (this.#hours.get(of) === stored) this.#hours.delete(of);
  }

  /** Called when a wrong clock was set back to this slot. Removes what was noted for this slot and later ones. */
  goBackTo(slot: number): void {
    const past = bitOf(slot) - 1;
    for (const [hour, { looks }] of this.#hours) {
      if (hour > hourOf(slot)) this.#hours.delete(hour);
      if (hour !== hourOf(slot)) continue;
      for (const [host, { looked, down }] of looks) {
        if ((looked & past) === 0) looks.delete(host);
        else looks.set(host, { looked: looked & past, down: down & past });
      }
    }
    this.#first = Math.min(this.#first, hourOf(slot));
    if (this.#slot > slot) [this.#slot, this.#asked] = [-1, new Set()];
  }

  /**
   * Adds the observations of this hour from before this slot. A wrong clock had closed the hour, and the report was not
   * sent.
   */
  reopen(slot: number, { looks, served }: Hour): void {
    if (looks.size + served.size === 0) return;
    const hour = this.#hour(slot);
    const past = bitOf(slot) - 1;
    for (const [host, seen] of looks) {
      const { looked, down } = hour.looks.get(host) ?? { looked: 0, down: 0 };
      const [more, moreDown] = [seen.looked & past, seen.down & past];
      if (more !== 0) hour.looks.set(host, { looked: looked | more, down: down | moreDown });
    }
    for (const [agent, hosts] of served)
      hour.served.set(agent, new Set([...(hour.served.get(agent) ?? []), ...hosts]));
  }

  /** Removes the hours before this one, which were reported before a restart. */
  skipTo(hour: number): void {
    this.#first = Math.max(this.#first, hour);
    for (const of of this.#hours.keys()) if (of < this.#first) this.#hours.delete(of);
  }
}
