import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { formatDecimal } from "tallystick-protocol/records/decimalSchema";
import { MAX_MONITORED_AGENTS } from "tallystick-protocol/records/monitoring";
import type { MonitoringReport } from "./monitoringRound.ts";

/**
 * What was last reported about each agent: the guarantees for which the agent's own figure differs from the measured
 * figure, as one text of names. Agents without a reported difference are missing.
 */
export type ReportedDifferences = { [agent: string]: string };

/** Figures of this size or more are not real measurements. */
const BEYOND = 1e12;

/**
 * Makes the bodies of `monitoring` records for a day's round. An agent is reported again only when the list of its
 * differing guarantees has changed. So an agent that always differs in the same guarantees is in one record only.
 *
 * @param before what was reported before this round
 * @param day unix seconds / 86400
 * @returns the bodies, and `told`: what is reported once the bodies are settled
 */
export function differencesToTell(
  reports: readonly MonitoringReport[],
  before: ReportedDifferences,
  day: number,
): { bodies: RecordBody[]; told: ReportedDifferences } {
  const told = { ...before };
  const news: [string, RecordBody][] = [];
  for (const { agent, endpoint, askedAt, problem, guarantees } of reports) {
    // If there is nothing to compare, the reported differences of this agent stay as they are.
    if (problem !== null) continue;
    const differing = new Map(
      guarantees.flatMap((it) => (it.differs ? [[`${it.metric}/${it.window}`, it] as const] : [])),
    );
    const names = [...differing.keys()].sort().join(" ");
    if (names === (told[agent] ?? "")) continue;
    if (names === "") delete told[agent];
    else told[agent] = names;
    const differences = [...differing.values()].map(({ metric, window, measured, claimed }) => ({
      ...{ metric, measurement_window: window },
      measured: figureOf(measured.current),
      claimed: figureOf(claimed?.current ?? null),
    }));
    news.push([agent, { endpoint, asked_at: askedAt, differences }]);
  }
  const bodies: RecordBody[] = [];
  for (let at = 0; at < news.length; at += MAX_MONITORED_AGENTS) {
    const agents = Object.fromEntries(news.slice(at, at + MAX_MONITORED_AGENTS));
    bodies.push({ day, part: bodies.length, agents });
  }
  return { bodies, told };
}

/** A value in the form that records use; null if the value is missing, negative or too large. */
function figureOf(value: number | null): string | null {
  if (value === null || !(value >= 0 && value < BEYOND)) return null;
  return formatDecimal(BigInt(Math.round(value * 1e9)));
}
