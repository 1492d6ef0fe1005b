import type { Row } from "tallystick-derive/tables";
import { tierChange } from "../../ponder.schema.ts";
import type { RowList } from "./list.ts";

/** Tier changes of one agent, or of all, the latest first. */
export function tierChangeList(address?: string | null): RowList<Row<"tierChange">> {
  return {
    table: tierChange,
    of: address ? { name: "tier changes of", column: tierChange.agent, id: address } : undefined,
    order: [tierChange.block, tierChange.id],
    direction: "desc",
  };
}
