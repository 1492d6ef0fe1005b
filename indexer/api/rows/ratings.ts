import { and, eq } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { rating } from "../../ponder.schema.ts";
import type { RowList } from "./list.ts";

const latestFirst = { table: rating, order: [rating.time, rating.id], direction: "desc" } as const;

/** The ratings that somebody received, the latest first. */
export function ratingsOf(address: string): RowList<Row<"rating">> {
  return { ...latestFirst, of: { name: "ratings of", column: rating.ratee, id: address } };
}

/** The ratings that an agent's stars are made of: by buyers of counted hires, in the window or of all time. */
export function countedRatings(address: string, span: "window" | "all"): RowList<Row<"rating">> {
  return {
    ...latestFirst,
    of: { name: `ratings counted ${span}`, column: rating.ratee, id: address },
    filter: and(
      eq(rating.side, "buyer"),
      eq(rating.status, "counted"),
      span === "window" ? eq(rating.inWindow, true) : undefined,
    ),
  };
}
