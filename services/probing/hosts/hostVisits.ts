import { readCustomSchemas } from "tallystick-capabilities/customCapability";
import { validateJson } from "tallystick-capabilities/validateJson";
import type { Address } from "tallystick-protocol/address";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import { lookUp } from "../net/lookUp.ts";
import { dayOf, SLOTS_PER_DAY } from "../schedule/slots.ts";
import { exampleParams } from "../terms/exampleParams.ts";
import { hasTermsInHeaders, judgeAnswer } from "../terms/judgeAnswer.ts";
import { isOptedOut } from "../terms/robots.ts";
import { sampleOfSchema } from "../terms/sampleOfSchema.ts";
import type { Target } from "../terms/target.ts";
import { headersOf, termsRequest } from "../terms/termsRequest.ts";
import type { Host } from "./hostTable.ts";
import { longestFirst } from "./longestFirst.ts";
import { Visit, type VisitParameters } from "./visit.ts";

/** The time limit for robots.txt and for a schema, in milliseconds. */
const SIDE_MS = 10_000;

/** The most steps to check a sample, which is small. No seller's schema may keep the prober from the hosts of others. */
const MAX_SAMPLE_STEPS = 100_000;

/** The statuses by which a seller refuses params that do not fit its schema. */
const REFUSES_PARAMS: readonly number[] = [400, 422];

/** The statuses below 500 that do not say whether there is a schema: forbidden, late, and too many requests. */
const UNREAD: readonly number[] = [403, 408, 429];

/** The most samples of params for custom capabilities in memory. */
const MAX_SAMPLES = 20_000;

/**
 * The work at a host in a slot. It reads robots.txt when that is due. If the host serves an agent, it looks whether the
 * host is up. For each agent that lists the host, it checks once a day whether the payment terms that the host answers
 * name this agent, or its payee, as the receiver. It checks at most one agent in each slot.
 */
export class HostVisits {
  readonly #it: VisitParameters;
  readonly #samples = new Map<string, { [key: string]: unknown } | null>();

  constructor(parameters: VisitParameters) {
    this.#it = parameters;
  }

  /** Whether there is work at a host in a slot. A host that serves nobody is only asked once a day for each agent. */
  isDue(host: Host, slot: number): boolean {
    const { memory } = this.#it;
    if (this.#isRobotsDue(host.key, slot)) return true;
    if (memory.isOptedOut(host.key)) return false;
    return memory.serves(host.key, dayOf(slot)) || this.#agentDue(host, slot) !== undefined;
  }

  /**
   * Does the work that is due. The visit is written down before its first request.
   *
   * @param isWanted tells whether a request may still be sent: the slot is running, and the uplink is not lost
   * @throws when the disk refuses an observation
   */
  async visit(host: Host, slot: number, isWanted: () => boolean): Promise<void> {
    const { memory, metrics } = this.#it;
    const [first] = [...host.agents.values()].flat();
    const hostname = first && hostOf(new URL(first.endpoint));
    if (hostname === undefined) return;
    const found = await lookUp(hostname, this.#it.policy, this.#it.resolve);
    if ("refused" in found && found.refused === "private_address") return metrics.countLook("private");
    const visit = new Visit(this.#it, { host, slot, found, isWanted });
    if (this.#isRobotsDue(host.key, slot)) await this.#readRobots(visit, first as Target);
    if (memory.isOptedOut(host.key)) return;
    if (memory.serves(host.key, dayOf(slot))) await this.#look(visit);
    const agent = this.#agentDue(host, slot);
    if (agent !== undefined) await this.#askFor(visit, agent);
  }

  #isRobotsDue(key: string, slot: number): boolean {
    return this.#isDueToday(this.#it.memory.robotsDay(key), `robots ${key}`, slot);
  }

  #isDueToday(last: number | undefined, what: string, slot: number): boolean {
    const day = dayOf(slot);
    if (last === undefined) return true;
    return last < day && this.#it.moments.slotOfDay(day, what) <= slot % SLOTS_PER_DAY;
  }

  /**
   * The next agent to ask for. Agents that the host served before come first. For the others there are two orders,
   * which take turns from slot to slot. In the first order the agent that registered first comes first, so new agents
   * that list somebody's host come after older agents. In the second order the agent that the host was least recently
   * asked for comes first. Otherwise a few hundred agents would always come before a new agent.
   */
  #agentDue({ key, agents }: Host, slot: number): Address | undefined {
    const { memory, moments } = this.#it;
    const day = dayOf(slot);
    const due: Address[] = [];
    for (const agent of agents.keys()) {
      const last = memory.askedOn(key, agent);
      if (last === day || !this.#isDueToday(last, `${key} ${agent}`, slot)) continue;
      if (memory.hasServed(key, agent, day)) return agent;
      due.push(agent);
    }
    return (slot % 2 === 0 ? due : longestFirst(due, key, { memory, moments, day }))[0];
  }

  async #readRobots(visit: Visit, { endpoint }: Target): Promise<void> {
    const { memory, asker } = this.#it;
    const url = new URL("/robots.txt", endpoint).href;
    const reply = await visit.ask({ url, headers: headersOf(asker), timeoutMs: SIDE_MS });
    if (reply === "skipped" || (await visit.isOurs(reply))) return;
    const text = "answer" in reply && reply.answer.status === 200 ? reply.answer.text : undefined;
    const isUnknown = "failed" in reply || reply.answer.status >= 500;
    const optedOut = isUnknown ? undefined : text !== undefined && isOptedOut(text);
    visit.record({ what: "robots", optedOut });
    memory.noteRobots(visit.host.key, dayOf(visit.slot), optedOut);
  }

  /**
   * One look at the host, by the listing that answered last. After a failure the next look uses another listing that the
   * host serves.
   */
  async #look(visit: Visit): Promise<void> {
    const { memory, metrics } = this.#it;
    const { key, agents } = visit.host;
    const day = dayOf(visit.slot);
    const served = [...agents].filter(([agent]) => memory.hasServed(key, agent, day));
    const targets = served.flatMap(([, listings]) => listings);
    const target = memory.listingFor(key, targets, listingName);
    if (target === undefined) return;
    const outcome = await this.#terms(visit, target);
    if (outcome === "skipped" || outcome === "unfit") {
      const isForNow = outcome === "unfit";
      if (isForNow || this.#hasNoParams(target)) memory.passOver(key, listingName(target), isForNow);
      return metrics.countLook("dropped");
    }
    if (outcome === "ours") {
      visit.record({ what: "ours" });
      return metrics.countLook("ours");
    }
    metrics.countLook(outcome.up ? "up" : "down");
    memory.noteLook(key, outcome.up, listingName(target));
    if (!outcome.up) return visit.record({ what: "down", why: outcome.why });
    visit.record({ what: "up", milliseconds: Math.round(outcome.milliseconds) });
    if (outcome.serves) this.#noteServed(visit, target.agent);
  }

  /** Checks for one agent whether the payment terms that the host answers name it, or its payee, as the receiver. */
  async #askFor(visit: Visit, agent: Address): Promise<void> {
    const listings = visit.host.agents.get(agent) ?? [];
    const target = listings[dayOf(visit.slot) % Math.max(1, listings.length)];
    if (target === undefined) return;
    const outcome = await this.#terms(visit, target);
    // An agent for which no request can be made must not block the other agents.
    if (outcome === "unfit" || (outcome === "skipped" && this.#hasNoParams(target)))
      return this.#it.memory.noteAsked(visit.host.key, agent, dayOf(visit.slot));
    if (outcome === "skipped" || outcome === "ours") return;
    if (outcome.up && outcome.serves) return this.#noteServed(visit, agent);
    visit.record({ what: "unserved", agent });
    this.#it.memory.noteAsked(visit.host.key, agent, dayOf(visit.slot));
  }

  /** Whether a look at this listing cannot be made, because no params that fit its schema were found. */
  #hasNoParams(target: Target): boolean {
    return this.#samples.get(sampleKey(target)) === null;
  }

  #noteServed(visit: Visit, agent: Address): void {
    const isFirst = this.#it.memory.noteServed(visit.host.key, agent, dayOf(visit.slot));
    if (isFirst) visit.record({ what: "served", agent });
  }

  async #terms(visit: Visit, target: Target): Promise<Terms> {
    const params = exampleParams(target.capability) ?? (await this.#sample(visit, target));
    // A look without params cannot be made. It says nothing about the host.
    if (params === "skipped" || params === null) return "skipped";
    const question = termsRequest(target, params === "unread" ? {} : params, this.#it.asker);
    const reply = await visit.ask({ ...question, isEnough: hasTermsInHeaders });
    const ended = this.#it.clock();
    if (reply === "skipped") return "skipped";
    if (await visit.isOurs(reply)) return "ours";
    if ("failed" in reply) return { up: false, why: reply.failed };
    const judgement = judgeAnswer(reply.answer, target);
    if (params === "unread" && REFUSES_PARAMS.includes(reply.answer.status)) return "unfit";
    // The seller may have changed its schema, so it is read again before the next look.
    if (!judgement.up) this.#samples.delete(sampleKey(target));
    return judgement.up ? { ...judgement, milliseconds: ended - reply.begun } : judgement;
  }

  /**
   * Makes params for a custom capability from the schema that its seller publishes; null if no fitting params
   * are found. `unread`: the schema could not be read, so it is unknown whether the seller has one.
   */
  async #sample(
    visit: Visit,
    target: Target,
  ): Promise<{ [key: string]: unknown } | null | "skipped" | "unread"> {
    const { capability, endpoint } = target;
    const key = sampleKey(target);
    const known = this.#samples.get(key);
    if (known !== undefined) return known;
    const path = `/capabilities/${encodeURIComponent(capability)}/schema`;
    const url = `${endpoint.replace(/\/$/, "")}${path}`;
    const reply = await visit.ask({ url, headers: headersOf(this.#it.asker), timeoutMs: SIDE_MS });
    if (reply === "skipped") return "skipped";
    // The next look asks again.
    if ("failed" in reply || UNREAD.includes(reply.answer.status) || reply.answer.status >= 500)
      return "unread";
    // A seller without a schema must accept any params.
    const sample = reply.answer.status === 200 ? fittingSample(capability, reply.answer.text) : {};
    if (this.#samples.size >= MAX_SAMPLES) this.#samples.clear();
    this.#samples.set(key, sample);
    return sample;
  }
}

/**
 * The outcome of a request for terms. `skipped`: it was not sent. `ours`: it failed, but the failure is the prober's
 * own, such as a lost uplink (`visit.isOurs`). `unfit`: the seller's schema could not be read, and the seller refused
 * the params. All three say nothing about the host.
 */
type Terms =
  | "skipped"
  | "ours"
  | "unfit"
  | { up: false; why: string }
  | { up: true; serves: boolean; milliseconds: number };

const listingName = ({ agent, capability, paymentMode }: Target): string =>
  `${agent} ${capability} ${paymentMode}`;

const sampleKey = ({ endpoint, capability }: Target): string => `${endpoint} ${capability}`;

function fittingSample(capability: string, text: string): { [key: string]: unknown } | null {
  try {
    const { input } = readCustomSchemas(capability, tryForeignJson(text));
    const sample = sampleOfSchema(input);
    const issues = validateJson(input, sample, "params", MAX_SAMPLE_STEPS);
    return issues.length === 0 ? (sample as { [key: string]: unknown }) : null;
  } catch {
    return null;
  }
}
