import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { formatDecimal } from "tallystick-protocol/records/decimalSchema";
import { MAX_MONITORED_AGENTS } from "tallystick-protocol/records/monitoring";
import type { MonitoringReport } from "./monitoringRound.ts";

/** Of which guarantees agents were last told to differ, by their names; agents that were never told, or differ no more, are not there. */
export type Told = { [agent: string]: string };

/** Figures from here on are no figures that anybody measures. */
const BEYOND = 1e12;

/**
 * The bodies of `monitoring` records in which a day's round is told, and what is told then. An agent is told anew only when other guarantees differ
 * than before: an agent that always differs costs the ledger one line.
 *
 * @param day unix seconds / 86400
 */
export function differencesToTell(
  reports: readonly MonitoringReport[],
  before: Told,
  day: number,
): { bodies: RecordBody[]; told: Told } {
  const told = { ...before };
  const news: [string, RecordBody][] = [];
  for (const { agent, endpoint, askedAt, problem, guarantees } of reports) {
    // Who does not answer says nothing else than before.
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

/** As records write figures; null for what is none. */
function figureOf(value: number | null): string | null {
  if (value === null || !(value >= 0 && value < BEYOND)) return null;
  return formatDecimal(BigInt(Math.round(value * 1e9)));
}
