import { agentRow, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { existingRow } from "./existingRow.ts";
import { addNumber, removeNumber } from "./orderedSet.ts";
import { formatRational } from "./rational.ts";
import { medianOf } from "./statistics.ts";
import type { Row } from "./tables.ts";

/**
 * Counts a hire of a capability that enters the window (`by` 1), or leaves it (−1). The capabilities in the window have
 * numbered places. When one leaves, the last takes its place. So they can all be read without reading older ones.
 * The median is taken over the amounts that buyers paid in (SHP §9.2).
 */
export function changeCapability(
  context: ApplyContext,
  { seller, amount: price, outcome }: Pick<Row<"hire">, "seller" | "amount" | "outcome">,
  capability: string,
  by: 1 | -1,
): void {
  const id = `${seller}/${capability}`;
  const row = context.store.get("capability", id);
  const windowHires = (row?.windowHires ?? 0) + by;
  const windowSuccesses = (row?.windowSuccesses ?? 0) + (outcome === "success" ? by : 0);
  (by === 1 ? addNumber : removeNumber)(context.store, `price/${id}`, price);
  const median = windowHires === 0 ? null : medianOf(context.store, `price/${id}`, windowHires);
  const medianPrice = median === null ? null : formatRational(median);
  const place = row?.place ?? null;
  context.store.put("capability", {
    ...{ id, agent: seller, capability, windowHires, windowSuccesses, medianPrice },
    place: windowHires === 0 ? null : (place ?? takePlace(context, seller, capability)),
  });
  if (windowHires === 0 && place !== null) leavePlace(context, seller, place);
}

/** The capability of an agent at a place below the number of its capabilities. */
export function capabilityAt(context: ApplyContext, agent: string, place: number): Row<"capability"> {
  const { capability } = existingRow(context.store, "capabilityPlace", placeId(agent, place));
  return existingRow(context.store, "capability", `${agent}/${capability}`);
}

function takePlace(context: ApplyContext, agent: string, capability: string): number {
  const { capabilities: place } = agentRow(context, agent);
  context.store.put("capabilityPlace", { id: placeId(agent, place), capability });
  updateAgent(context, agent, { capabilities: place + 1 });
  return place;
}

function leavePlace(context: ApplyContext, agent: string, place: number): void {
  const last = agentRow(context, agent).capabilities - 1;
  updateAgent(context, agent, { capabilities: last });
  if (place === last) return;
  const { id, capability } = capabilityAt(context, agent, last);
  context.store.put("capabilityPlace", { id: placeId(agent, place), capability });
  context.store.update("capability", id, { place });
}

function placeId(agent: string, place: number): string {
  return `${agent}/${place}`;
}
