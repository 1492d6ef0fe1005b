import type { Address } from "tallystick-protocol/address";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import { inTurnsOfSites } from "tallystick-runtime/http/inTurnsOfSites";
import type { DrawnMoments } from "../schedule/drawnMoments.ts";
import { hostKeyOf, type Target } from "../terms/target.ts";
import type { HostMemory } from "./hostMemory.ts";
import { longestFirst } from "./longestFirst.ts";

/**
 * The most agents of a host that it did not serve in the last seven days, and the most listings of one agent at a host.
 * Agents that the host served in that time are always kept, and do not count in `MAX_AGENTS`. If there are too many
 * others, half of the places are for those that registered first. The other half are for those that the host was least
 * recently asked for.
 */
const MAX_AGENTS = 1_000;
const MAX_LISTINGS = 4;

/**
 * One of this many places is for a host that serves nobody yet. Otherwise somebody with many hosts that serve only its
 * own agents could keep out all new hosts.
 */
const NEW_SHARE = 10;

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
 * others. The prober's secret key decides the draw, so nobody else can predict it. Listed hosts that do not exist get
 * at most a tenth of the places if the serving hosts need the rest. The sites of serving hosts take turns: each
 * gets a first place before any gets a second one. So a site with many serving hosts does not push out a site with few.
 * For other hosts, sites take no turns, because anybody can invent names of sites.
 */
export class HostTable {
  readonly #parameters: HostTableParameters;
  #hosts = new Map<string, Host>();
  /**
   * The number of listings with an endpoint that is never asked, because of plain http, a private address, a user or a
   * password, or a port of another protocol.
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
   * Replaces the hosts by those of the current listings. The memory then forgets agents that a host was not asked for
   * within a week. It also forgets each host that is not in the table and has no agents left. If reading fails, nothing
   * changes.
   *
   * @param day the day for the draw of hosts above the limit
   */
  async load(listings: AsyncIterable<Target>, day: number): Promise<void> {
    const { maxHosts, moments, memory, problemOf, leaveOut = [] } = this.#parameters;
    const hosts = new Map<string, Host>();
    // The table is already cut during reading, because strangers could otherwise fill the memory with hosts.
    const most = maxHosts * 2;
    let [refused, leftOut] = [0, 0];
    const cut = (): void => {
      const drawn = [...hosts.keys()].map((key) => ({ key, order: moments.orderOf(day, key) }));
      drawn.sort((a, b) => a.order - b.order || (a.key < b.key ? -1 : 1));
      const { serving = [], others = [] } = Object.groupBy(drawn, ({ key }) =>
        memory.serves(key, day) ? "serving" : "others",
      );
      const places = Math.max(maxHosts - others.length, maxHosts - Math.floor(maxHosts / NEW_SHARE));
      const inTurns = inTurnsOfSites(serving, ({ key }) => hostOf(new URL(`https://${key}`)));
      const ranked = [...inTurns.slice(0, places), ...others];
      const kept = new Set(ranked.slice(0, maxHosts).map(({ key }) => key));
      for (const key of hosts.keys()) if (!kept.has(key)) hosts.delete(key);
      leftOut += Math.max(0, drawn.length - maxHosts);
    };
    const cutAgents = ({ key, agents }: Host): void => {
      const unserved = [...agents.keys()].filter((agent) => !memory.hasServed(key, agent, day));
      if (unserved.length <= MAX_AGENTS) return;
      const later = longestFirst(unserved.slice(MAX_AGENTS / 2), key, { memory, moments, day });
      for (const agent of later.slice(MAX_AGENTS / 2)) agents.delete(agent);
    };
    /** By host: the number of agents above which they are cut during the reading. */
    const cutAt = new Map<string, number>();
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
      if (own.length < MAX_LISTINGS) host.agents.set(target.agent, [...own, target]);
      if (host.agents.size > (cutAt.get(key) ?? 2 * MAX_AGENTS)) {
        cutAgents(host);
        cutAt.set(key, host.agents.size + MAX_AGENTS);
      }
      if (hosts.size > most) cut();
    }
    cut();
    for (const host of hosts.values()) cutAgents(host);
    this.#hosts = hosts;
    this.refused = refused;
    this.leftOut = leftOut;
    memory.keepOnly((key) => hosts.has(key), day);
  }
}
