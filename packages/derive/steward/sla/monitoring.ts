import { canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { type Monitoring, parseMonitoring } from "tallystick-protocol/records/monitoring";
import type { ApplyContext } from "../../applyContext.ts";
import type { Reading } from "../../audits/reading.ts";
import type { RecordEvent } from "../../events.ts";
import { DAY } from "../days.ts";

/**
 * Reads a record in which a prober says where the figures of agents' own monitoring endpoints differ from the measured
 * ones (T026). The differences are shown with the SLA, and no figure depends on them.
 */
export function readMonitoring(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseMonitoring(event.body);
  if (!context.params.steward.probers.includes(event.signer)) return `signer ${event.signer} is no prober`;
  if (body.day * DAY > context.at.time) return "body.day has not begun";
  for (const [agent, { asked_at: askedAt }] of Object.entries(body.agents))
    if (askedAt > context.at.time) return `body.agents.${agent}.asked_at is later than the record itself`;
  return () => monitoringSettled(context, event, body);
}

/**
 * Stores a prober's newest differences for each agent that has an SLA. An agent that had no difference so far gets no
 * row.
 */
function monitoringSettled(context: ApplyContext, event: RecordEvent, { agents }: Monitoring): void {
  for (const [agent, { endpoint, asked_at: askedAt, differences }] of Object.entries(agents)) {
    const id = `${agent}/${event.signer}`;
    const known = context.store.get("slaMonitoring", id);
    if (known === null && (differences.length === 0 || context.store.get("sla", agent) === null)) continue;
    if (known !== null && known.askedAt >= askedAt) continue;
    const told = {
      ...{ endpoint, askedAt, record: event.hash, time: context.at.time },
      differences: canonicalBody({ differences } as RecordBody),
    };
    if (known !== null) context.store.update("slaMonitoring", id, told);
    else context.store.insert("slaMonitoring", { id, agent, prober: event.signer, ...told });
  }
}
