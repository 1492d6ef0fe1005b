import type { Address } from "tallystick-protocol/address";
import type { DrawnMoments } from "../schedule/drawnMoments.ts";
import { hostKeyOf, type Target } from "../terms/target.ts";
import type { HostMemory } from "./hostMemory.ts";

/**
 * The most agents of a host, and the most listings of one agent at a host. Agents that the host served in the last
 * seven days are always kept, also above `MAX_AGENTS`.
 */
const MAX_AGENTS = 1_000;
const MAX_LISTINGS = 4;

/** A host, and the agents that list an endpoint there, in the order in which they registered. */
export type Host = { key: string; agents: Map<Address, Target[]> };

export type HostTableParameters = {
  maxHosts: number;
  moments: DrawnMoments;
  memory: HostMemory;
  problemOf: (endpoint: string) => string | undefined;
  /** Hosts that the prober never asks. */
  leaveOut?: readonly string[];
};

/**
 * The hosts of all listings. If there are too many, the prober keeps those that serve somebody, and draws some of the
 * others. The prober's secret key decides the draw, so nobody else can predict it. Ten thousand listed hosts that do not
 * exist cannot push out a host that serves somebody.
 */
export class HostTable {
  readonly #parameters: HostTableParameters;
  #hosts = new Map<string, Host>();
  /**
   * The number of endpoints that are never asked: plain http, a private address, or a port of another
   * protocol.
   */
  refused = 0;
  /**
   * How many hosts above the limit were left out by the last {@link load}. A host can count several times: it is cut
   * during the reading, and a later listing names it again.
   */
  leftOut = 0;

  constructor(parameters: HostTableParameters) {
    this.#parameters = parameters;
  }

  get size(): number {
    return this.#hosts.size;
  }

  get(key: string): Host | undefined {
    return this.#hosts.get(key);
  }

  /** Every listing that is kept. */
  targets(): Target[] {
    return [...this.#hosts.values()].flatMap(({ agents }) => [...agents.values()].flat());
  }

  keys(): IterableIterator<string> {
    return this.#hosts.keys();
  }

  /**
   * Replaces the hosts by those of the current listings. The memory then forgets hosts that are not listed. If reading
   * fails, nothing changes.
   *
   * @param day the day for the draw of hosts above the limit
   */
  async load(listings: AsyncIterable<Target>, day: number): Promise<void> {
    const { maxHosts, moments, memory, problemOf, leaveOut = [] } = this.#parameters;
    const hosts = new Map<string, Host>();
    // The table is already cut during reading, because strangers could otherwise fill the memory with hosts.
    const most = maxHosts * 2;
    let [refused, leftOut] = [0, 0];
    const rankOf = (key: string): number => (memory.serves(key, day) ? -1 : moments.orderOf(day, key));
    const cut = (): void => {
      const ranked = [...hosts.keys()].map((key) => ({ key, rank: rankOf(key) }));
      ranked.sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1));
      for (const { key } of ranked.slice(maxHosts)) hosts.delete(key);
      leftOut += Math.max(0, ranked.length - maxHosts);
    };
    for await (const target of listings) {
      const key = problemOf(target.endpoint) === undefined ? hostKeyOf(target.endpoint) : undefined;
      if (key === undefined) {
        refused++;
        continue;
      }
      if (leaveOut.includes(key)) continue;
      const host = hosts.get(key) ?? { key, agents: new Map() };
      hosts.set(key, host);
      const own = host.agents.get(target.agent) ?? [];
      const isKnown = own.length > 0 || memory.hasServed(key, target.agent, day);
      if (!isKnown && host.agents.size >= MAX_AGENTS) continue;
      if (own.length < MAX_LISTINGS) host.agents.set(target.agent, [...own, target]);
      if (hosts.size > most) cut();
    }
    cut();
    this.#hosts = hosts;
    this.refused = refused;
    this.leftOut = leftOut;
    memory.keepOnly((key) => hosts.has(key), day);
  }
}
