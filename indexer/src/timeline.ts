import type { Store } from "./derive/store.ts";
import type { Row } from "./derive/tables.ts";

/** What happened, for those who follow a node live: the row it is about, and the agents that it concerns. */
export type Moment = {
  kind: "hire" | "rating" | "tier_change" | "anchor";
  /** Id of the row in the table of that kind. */
  subject: string;
  /** Who it is about: the seller, the rated one, the agent; the ledger of an anchor. */
  agent: string;
  /** The other side, if there is one. */
  counterpart: string | null;
};

/** The store, telling of what is worth telling as it is written. */
export function observed(store: Store, note: (moment: Moment) => void): Store {
  return {
    get: (table, id) => store.get(table, id),
    insert: async (table, row) => {
      await store.insert(table, row);
      if (table === "hire") {
        const { id, seller, buyer } = row as Row<"hire">;
        note({ kind: "hire", subject: id, agent: seller, counterpart: buyer });
      } else if (table === "tierChange") {
        const { id, agent } = row as Row<"tierChange">;
        note({ kind: "tier_change", subject: id, agent, counterpart: null });
      }
    },
    update: async (table, id, change) => {
      await store.update(table, id, change);
      // A rating counts once its hire does, which may be later than it was written.
      if (table !== "rating" || (change as Partial<Row<"rating">>).status !== "counted") return;
      const rating = await store.get("rating", id);
      if (rating === null) return;
      note({ kind: "rating", subject: id, agent: rating.ratee, counterpart: rating.rater });
    },
  };
}

/**
 * The key of the `n`th thing that an event at `position` brought about: sorts as the log does, and within an event by `n`.
 *
 * @param position the event's `positionKey`
 */
export function timelineKey(position: string, n: number): string {
  return `${position}/${String(n).padStart(6, "0")}`;
}

/** The key of an anchor: before everything that its entries bring about, which follows at the same log. */
export function anchorKey({ block, log }: { block: number; log: number }): string {
  const digits = (value: number, width: number) => String(value).padStart(width, "0");
  return timelineKey([digits(block, 12), digits(log + 1, 8), digits(0, 16)].join("/"), 0);
}
