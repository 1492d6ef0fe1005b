import { hostOf } from "tallystick-protocol/net/publicAddress";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Answer, Question } from "../net/ask.ts";
import { lookUp } from "../net/lookUp.ts";
import type { Policy } from "../net/policy.ts";
import { compareMonitoring, type MonitoringRow } from "./compareMonitoring.ts";
import type { Monitored } from "./readMonitored.ts";

/** The longest wait for an endpoint's answer, in milliseconds. */
const ANSWER_MS = 10_000;

/** The most agents of a round. At one agent per second a round takes at most three hours. */
const MAX_AGENTS = 10_000;

/**
 * The most agents of one host that are asked in a round. Anybody may name a stranger's host. If more agents named a host in
 * the last round, this round draws some of them, so that none is always left out.
 */
const MAX_OF_HOST = 100;

/** The result of asking an agent's own monitoring endpoint. `problem`: why there is nothing to compare. */
export type MonitoringReport = {
  agent: string;
  endpoint: string;
  /** Unix seconds. */
  askedAt: number;
  problem: string | null;
  guarantees: MonitoringRow[];
};

export type MonitoringParameters = {
  monitored: AsyncIterable<Monitored>;
  ask: (question: Question) => Promise<Answer>;
  policy: Policy;
  resolve: (host: string) => Promise<string[]>;
  /** `host:port` of hosts that asked not to be probed. */
  leaveOut: readonly string[];
  userAgent: string;
  /** The reports of the last round. */
  before?: readonly MonitoringReport[];
  /** Gives a number from 0 to below 1. */
  random?: () => number;
  /** Waits between two agents. */
  pause: () => Promise<void>;
  /** Unix seconds. */
  now: () => number;
  signal: AbortSignal;
  log: Log;
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
  const named = Map.groupBy(before, ({ endpoint }) => hostNamed(endpoint));
  const asked = new Map<string, number>();
  let agents = 0;
  for await (const it of monitored) {
    if (signal.aborted || agents++ >= MAX_AGENTS) return;
    const host = hostNamed(it.endpoint);
    const ofHost = asked.get(host) ?? 0;
    if (ofHost >= MAX_OF_HOST || random() * (named.get(host)?.length ?? 0) >= MAX_OF_HOST) {
      const { agent, endpoint } = it;
      note({ agent, endpoint, askedAt: Math.floor(now()), problem: "not_drawn", guarantees: [] });
      continue;
    }
    asked.set(host, ofHost + 1);
    const answer = await textOf(parameters, it.endpoint);
    const guarantees = "text" in answer ? compareMonitoring(answer.text, it.measured) : [];
    const problem = "problem" in answer ? answer.problem : guarantees === undefined ? "other_form" : null;
    const { agent, endpoint } = it;
    const report = { agent, endpoint, askedAt: Math.floor(now()), problem, guarantees: guarantees ?? [] };
    if (report.guarantees.some(({ differs }) => differs))
      log("An agent's own monitoring says something else than what was measured.", { agent, endpoint });
    note(report);
    await pause();
  }
}

/** The host of an endpoint; empty if the endpoint is no URL. */
function hostNamed(endpoint: string): string {
  const url = URL.parse(endpoint);
  return url === null ? "" : hostOf(url);
}

async function textOf(
  { ask, policy, resolve, leaveOut, userAgent, signal }: MonitoringParameters,
  endpoint: string,
): Promise<{ text: string } | { problem: string }> {
  if (policy.problemOf(endpoint) !== undefined) return { problem: "private_address" };
  const url = new URL(endpoint);
  const host = hostOf(url);
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  if (leaveOut.includes(`${host}:${port}`)) return { problem: "left_out" };
  const found = await lookUp(host, policy, resolve);
  if ("refused" in found) return { problem: found.refused };
  try {
    const headers = { accept: "application/json", "user-agent": userAgent };
    const address = found.addresses[0] as string;
    const answer = await ask({ url: endpoint, address, headers, timeoutMs: ANSWER_MS, signal });
    if (answer.status !== 200) return { problem: `http_${answer.status}` };
    return answer.isCut ? { problem: "too_large" } : { text: answer.text };
  } catch {
    return { problem: "unreachable" };
  }
}
