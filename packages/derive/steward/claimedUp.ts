import { MAX_HOSTS_OF_AGENT, type Uptime } from "tallystick-protocol/records/uptime";
import type { ApplyContext } from "../applyContext.ts";
import { ensureSteward } from "./stewardRow.ts";

/** The slots of an hour in which an agent's host was up, as the agent itself claims. */
export type ClaimedUp = { hour: number; host: string; up: number };

/** Stores an agent's own monitoring. For each hour and host only its first claim counts (T013). */
export function claimedUp(context: ApplyContext, agent: string, { hour, hosts }: Uptime): void {
  const row = ensureSteward(context, agent);
  if (row === null) return;
  const claims = parseClaims(row.claims);
  for (const [host, [looked, down]] of Object.entries(hosts).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const ofHour = claims.filter((it) => it.hour === hour);
    if (ofHour.length >= MAX_HOSTS_OF_AGENT || ofHour.some((it) => it.host === host)) continue;
    claims.push({ hour, host, up: looked & ~down });
  }
  context.store.update("steward", agent, { claims: formatClaims(claims) });
}

export function parseClaims(text: string): ClaimedUp[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [hour, host, up] = line.split(" ") as [string, string, string];
    return { hour: Number(hour), host, up: Number(up) };
  });
}

export function formatClaims(claims: readonly ClaimedUp[]): string {
  return claims.map(({ hour, host, up }) => `${hour} ${host} ${up}`).join("\n");
}
