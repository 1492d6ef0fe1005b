import { hostOf } from "tallystick-protocol/net/publicAddress";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Answer, Question } from "../net/ask.ts";
import { lookUp } from "../net/lookUp.ts";
import type { Policy } from "../net/policy.ts";
import type { Pacer } from "../schedule/pacer.ts";
import { isOptedOut } from "../terms/robots.ts";
import { hostKeyOf } from "../terms/target.ts";
import { createAgentDraw } from "./agentDraw.ts";
import { compareMonitoring, type MonitoringRow } from "./compareMonitoring.ts";
import { noteAnswered } from "./noteAnswered.ts";
import type { Monitored } from "./readMonitored.ts";

/** The longest wait for an answer of an endpoint, or of a robots.txt, in milliseconds. */
const ANSWER_MS = 10_000;

/** The longest wait for a turn at an address, in milliseconds. Urgent requests to the same address go first. */
const TURN_MS = 300_000;

/** The most origins whose opt-out is remembered. Those whose robots.txt was read least recently are forgotten first. */
const MAX_OPT_OUTS = 20_000;

/** The result of asking an agent's own monitoring endpoint. `problem`: why there is nothing to compare. */
export type MonitoringReport = {
  agent: string;
  /** If the agent was not drawn, or may not be asked, or the round had no time for it, only the origin of its endpoint. */
  endpoint: string;
  /** Unix seconds. */
  askedAt: number;
  problem: string | null;
  guarantees: MonitoringRow[];
};

export type MonitoringParameters = {
  monitored: AsyncIterable<Monitored>;
  ask: (question: Question) => Promise<Answer>;
  /** Gives each request its turn. The prober's looks take their turns from it too. */
  pacer: Pacer;
  policy: Policy;
  resolve: (host: string) => Promise<string[]>;
  /** `host:port` of hosts that asked not to be probed. */
  leaveOut: readonly string[];
  userAgent: string;
  /** The reports of the last round. If it was cut short, the earlier ones of agents to whom it did not come too. */
  before?: readonly MonitoringReport[];
  /** When the round began to which the newest of these reports belong, in unix seconds. */
  lastBegan?: number;
  /**
   * The origins that asked probers to stay away when their robots.txt was last read. The round changes it. It must outlive
   * the round, because a later one may not ask an agent at this origin.
   */
  optedOut?: Set<string>;
  /** The names of {@link noteAnswered}. The round changes it, and it must outlive the round. */
  answered?: Set<string>;
  /** When the round ends, in unix seconds. Agents that were not asked by then are reported as `no_time`. */
  until?: number;
  /** Gives a number from 0 to below 1. */
  random?: () => number;
  /** Waits between two agents. */
  pause: () => Promise<void>;
  /** Unix seconds. */
  now: () => number;
  signal: AbortSignal;
  log: Log;
  /** The longest wait for a turn at an address, in milliseconds. Tests shorten it. */
  turnMs?: number;
};

/**
 * Asks each agent's own monitoring endpoint (T026) once, one after the other, and compares its figures with
 * the measured ones. No score uses the result. It only shows which agents tell their buyers other figures.
 *
 * @param note receives each report as soon as it is made
 */
export async function monitoringRound(
  parameters: MonitoringParameters,
  note: (report: MonitoringReport) => void,
): Promise<void> {
  const { monitored, before = [], random = Math.random, pause, now, signal, log } = parameters;
  const { until = Number.POSITIVE_INFINITY, answered = new Set(), lastBegan = 0 } = parameters;
  const named = before.filter(({ endpoint }) => refusalOf(parameters, endpoint) === undefined);
  // If the last round had no time for all that were drawn, this one draws as many as it asked. So no agent is always last.
  const isOfLast = ({ askedAt }: MonitoringReport) => askedAt >= lastBegan;
  const wasLate = before.some((it) => it.problem === "no_time" && isOfLast(it));
  const asked = named.filter(
    (it) => it.problem !== "no_time" && it.problem !== "not_drawn" && isOfLast(it),
  ).length;
  const isDrawn = createAgentDraw(
    named.map(({ endpoint }) => endpoint),
    { random, ...(wasLate && { most: Math.max(1, asked) }), answered: new Set(answered) },
  );
  const textOf = createReading(parameters);
  for await (const { agent, endpoint, measured } of monitored) {
    if (signal.aborted) return;
    const reason =
      refusalOf(parameters, endpoint) ??
      (isDrawn(endpoint) ? undefined : "not_drawn") ??
      (now() < until ? undefined : "no_time");
    if (reason !== undefined) {
      const origin = URL.parse(endpoint)?.origin ?? "";
      note({ agent, endpoint: origin, askedAt: Math.floor(now()), problem: reason, guarantees: [] });
      continue;
    }
    const answer = await textOf(endpoint);
    // An answer that the end of the process cut short says nothing about the agent.
    if (signal.aborted) return;
    const guarantees = "text" in answer ? compareMonitoring(answer.text, measured) : [];
    const problem = "problem" in answer ? answer.problem : guarantees === undefined ? "other_form" : null;
    if (problem === null) noteAnswered(answered, endpoint);
    const report = { agent, endpoint, askedAt: Math.floor(now()), problem, guarantees: guarantees ?? [] };
    if (report.guarantees.some(({ differs }) => differs))
      log("An agent's own monitoring says something else than what was measured.", { agent, endpoint });
    note(report);
    await pause();
  }
}

/** Why an endpoint is never asked; undefined if it may be. */
function refusalOf(
  { policy, leaveOut }: Pick<MonitoringParameters, "policy" | "leaveOut">,
  endpoint: string,
): string | undefined {
  if (policy.problemOf(endpoint) !== undefined) return "private_address";
  return leaveOut.includes(hostKeyOf(endpoint) ?? "") ? "left_out" : undefined;
}

/**
 * Makes a function that reads an endpoint. It reads the robots.txt of each origin once, before its first endpoint. Anybody
 * can name a stranger's host, so a host that asks probers to stay away gets nothing but this request.
 */
function createReading({
  ask,
  pacer,
  policy,
  resolve,
  userAgent,
  before = [],
  optedOut = new Set(),
  signal,
  turnMs = TURN_MS,
}: MonitoringParameters) {
  /** Why the endpoints of an origin are not asked in this round; undefined if they may be. */
  const problems = new Map<string, string | undefined>();
  // An earlier version kept opt-outs only in the reports.
  for (const { endpoint, problem } of before)
    if (problem === "opted_out") optedOut.add(new URL(endpoint).origin);

  /** Addresses at which a turn did not come in time. Nothing more is asked there in this round. */
  const crowded = new Set<string>();

  async function read(url: string, address: string): Promise<Answer | { problem: string }> {
    const headers = { accept: "application/json", "user-agent": userAgent };
    const isWanted = () => !signal.aborted && !crowded.has(address);
    const question = { url, address, headers, timeoutMs: ANSWER_MS, signal };
    if (!isWanted()) return { problem: "dropped" };
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => {
      crowded.add(address);
      late.resolve(undefined);
    }, turnMs);
    const work = (): Promise<Answer> => {
      clearTimeout(timer);
      return ask(question);
    };
    const reply = pacer
      .run({ key: address, isUrgent: false, isWanted }, work)
      .catch(() => ({ problem: "unreachable" }))
      .finally(() => clearTimeout(timer));
    return (await Promise.race([reply, late.promise])) ?? { problem: "dropped" };
  }

  async function robotsProblem({ origin }: URL, address: string): Promise<string | undefined> {
    const answer = await read(`${origin}/robots.txt`, address);
    // If the file cannot be read, the last known state stays.
    if ("problem" in answer) return optedOut.has(origin) ? "opted_out" : answer.problem;
    const isOut =
      answer.status >= 500 ? optedOut.has(origin) : answer.status === 200 && isOptedOut(answer.text);
    optedOut.delete(origin);
    if (!isOut) return undefined;
    optedOut.add(origin);
    for (const oldest of optedOut) if (optedOut.size > MAX_OPT_OUTS) optedOut.delete(oldest);
    return "opted_out";
  }

  return async (endpoint: string): Promise<{ text: string } | { problem: string }> => {
    const url = new URL(endpoint);
    const found = await lookUp(hostOf(url), policy, resolve);
    if ("refused" in found) return { problem: optedOut.has(url.origin) ? "opted_out" : found.refused };
    const address = found.addresses[0] as string;
    if (!problems.has(url.origin)) problems.set(url.origin, await robotsProblem(url, address));
    const problem = problems.get(url.origin);
    if (problem !== undefined) return { problem };
    const answer = await read(endpoint, address);
    if ("problem" in answer) return answer;
    if (answer.status !== 200) return { problem: `http_${answer.status}` };
    return answer.isCut ? { problem: "too_large" } : { text: answer.text };
  };
}
