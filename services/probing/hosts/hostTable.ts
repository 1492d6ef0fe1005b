import type { Address } from "tallystick-protocol/address";
import type { DrawnMoments } from "../schedule/drawnMoments.ts";
import { hostKeyOf, type Target } from "../terms/target.ts";
import type { HostMemory } from "./hostMemory.ts";

/** Most agents of a host that are asked for, and most listings of one of them there. */
const MAX_AGENTS = 1_000;
const MAX_LISTINGS = 4;

/** A host, and which agents list an endpoint there, those that registered first before the others. */
export type Host = { key: string; agents: Map<Address, Target[]> };

export type HostTableParameters = {
  maxHosts: number;
  moments: DrawnMoments;
  memory: HostMemory;
  problemOf: (endpoint: string) => string | undefined;
  /** Hosts that are never asked. */
  leaveOut?: readonly string[];
};

/**
 * The hosts of all listings. When there are more than the prober takes, it keeps those that serve somebody and draws the rest by its
 * key: ten thousand listed hosts that do not exist displace none that does.
 */
export class HostTable {
  readonly #parameters: HostTableParameters;
  #hosts = new Map<string, Host>();
  /** Endpoints that are not asked: plain http, a private address, a port of something else. */
  refused = 0;
  /** Hosts beyond the most that are taken. */
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
   * Takes the listings as they are now. Nothing changes when reading them fails.
   *
   * @param day on which the hosts beyond the most are drawn
   */
  async load(listings: AsyncIterable<Target>, day: number): Promise<void> {
    const { maxHosts, moments, memory, problemOf, leaveOut = [] } = this.#parameters;
    const hosts = new Map<string, Host>();
    // How many are looked at before the table is cut: memory is for a stranger to fill.
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
