import { canonicalBody } from "tallystick-protocol/json/recordBody";
import type { Sla } from "tallystick-protocol/records/sla";
import type { ApplyContext } from "../../applyContext.ts";
import type { RecordEvent } from "../../events.ts";
import { existingRow } from "../../existingRow.ts";
import type { Row } from "../../tables.ts";
import { dayOf } from "../days.ts";
import { ensureSteward } from "../stewardRow.ts";
import { linesOf } from "./lines.ts";
import { isWeaker, termsOf } from "./terms.ts";

/** The most binding guarantees of one agent, including replaced ones that still bind. */
export const MAX_BINDING = 64;

/**
 * Whether a new SLA would leave more guarantees binding than one agent may have. A guarantee that continues counts
 * once.
 */
export function bindsTooMuch(context: ApplyContext, body: Sla): boolean {
  const known = context.store.get("sla", body.agent_id);
  const present = presentOf(context, known);
  const added = body.guarantees.filter((it) => continuedBy(termsOf(it), present) === undefined);
  return linesOf(known?.binding).length + added.length > MAX_BINDING;
}

/**
 * Stores an agent's new SLA in place of the former one. A guarantee with equal or stronger terms continues
 * the old one and keeps its data. A guarantee that is weakened, dropped or withdrawn still binds for
 * `replacedSeconds`.
 */
export function slaSettled(context: ApplyContext, event: RecordEvent, body: Sla): void {
  const agent = body.agent_id;
  ensureSteward(context, agent);
  const { time } = context.at;
  const known = context.store.get("sla", agent);
  const left = presentOf(context, known);
  let made = known?.made ?? 0;
  const binding = linesOf(known?.binding);
  for (const guarantee of body.guarantees) {
    const terms = termsOf(guarantee);
    const name = nameOf(terms);
    const like = continuedBy(terms, left);
    if (like !== undefined) {
      left.delete(name);
      context.store.update("guarantee", like.id, terms);
      continue;
    }
    const id = `${agent}/${name}/${made++}`;
    context.store.insert("guarantee", {
      ...START,
      ...terms,
      id,
      agent,
      since: time,
      fromDay: dayOf(time) + 1,
      closedDay: dayOf(time),
    });
    binding.push(id);
  }
  const boundUntil = time + context.params.steward.replacedSeconds;
  for (const { id } of left.values()) context.store.update("guarantee", id, { boundUntil });
  const said = {
    record: event.hash,
    version: body.version,
    issuedAt: body.issued_at,
    time,
    body: canonicalBody(event.body),
    made,
    binding: binding.join("\n"),
  };
  if (known !== null) context.store.update("sla", agent, said);
  else
    context.store.insert("sla", {
      ...said,
      id: agent,
      firstDay: dayOf(time),
      breaches: "",
      status: "compliant",
      suspensions: "",
      lastConfirmed: null,
    });
}

/** The guarantees of an agent's present SLA, by metric and window. */
function presentOf(context: ApplyContext, known: Row<"sla"> | null): Map<string, Row<"guarantee">> {
  const present = new Map<string, Row<"guarantee">>();
  for (const id of linesOf(known?.binding)) {
    const it = existingRow(context.store, "guarantee", id);
    if (it.boundUntil === null) present.set(nameOf(it), it);
  }
  return present;
}

/** The present guarantee that new terms continue. Weaker terms continue none. */
function continuedBy(
  terms: ReturnType<typeof termsOf>,
  present: ReadonlyMap<string, Row<"guarantee">>,
): Row<"guarantee"> | undefined {
  const like = present.get(nameOf(terms));
  return like === undefined || isWeaker(terms, like) ? undefined : like;
}

function nameOf({ metric, days }: Pick<Row<"guarantee">, "metric" | "days">): string {
  return `${metric}/${days}`;
}

const START = {
  boundUntil: null,
  openBreach: null,
  lastBreach: null,
  current: null,
  status: "compliant",
  closes: "",
  daysUntilBreach: null,
};
