import type { Row } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";

/**
 * The kinds of events of audits. An audit is drawn, ends and is decided by its operator. An assignment is
 * made and gets a verdict.
 */
export type AuditMoment =
  | "audit_drawn"
  | "audit_assigned"
  | "audit_verdict"
  | "audit_ended"
  | "audit_decided";

/** One event for clients that follow a node live: the changed row, and the agents that it concerns. */
export type Moment = {
  kind: "hire" | "rating" | "tier_change" | "anchor" | "sla_step" | AuditMoment;
  /** Id of the row, in the table that belongs to `kind`. */
  subject: string;
  /** The subject: the seller, the rated agent, the agent or the auditor. For an anchor it is the ledger. */
  agent: string;
  /** The other party, if there is one: the buyer or the rater. For an assignment it is the operator. */
  counterpart: string | null;
};

/** The changes of an event that are published, in the order in which they happened. */
export function momentsOf(changes: readonly RowChange[]): Moment[] {
  return changes.flatMap(({ table, before, after }): Moment[] => {
    if (table === "hire" && before === null) {
      const { id, seller, buyer } = after as Row<"hire">;
      return [{ kind: "hire", subject: id, agent: seller, counterpart: buyer }];
    }
    if (table === "tierChange") {
      const { id, agent } = after as Row<"tierChange">;
      return [{ kind: "tier_change", subject: id, agent, counterpart: null }];
    }
    if (table === "rating") {
      const { id, status, ratee, rater } = after as Row<"rating">;
      // A rating counts only when its hire counts. This may be later than the rating itself.
      if (status !== "counted" || (before as Row<"rating"> | null)?.status === "counted") return [];
      return [{ kind: "rating", subject: id, agent: ratee, counterpart: rater }];
    }
    if (table === "breachStep") {
      const { id, agent } = after as Row<"breachStep">;
      return [{ kind: "sla_step", subject: id, agent, counterpart: null }];
    }
    if (table === "audit") return auditMoments(before as Row<"audit"> | null, after as Row<"audit">);
    if (table === "auditAssignment") {
      const { id, auditor, operator, verdict } = after as Row<"auditAssignment">;
      const about = { subject: id, agent: auditor, counterpart: operator };
      if (before === null) return [{ kind: "audit_assigned", ...about }];
      const isNew = verdict !== null && (before as Row<"auditAssignment">).verdict === null;
      return isNew ? [{ kind: "audit_verdict", ...about }] : [];
    }
    return [];
  });
}

function auditMoments(before: Row<"audit"> | null, after: Row<"audit">): Moment[] {
  const { id, seller, buyer, status, drawnBlock, closedTime, decision, cause } = after;
  const about = { subject: id, agent: seller, counterpart: buyer };
  const isDrawn = drawnBlock !== null && (before?.drawnBlock ?? null) === null && cause !== "history";
  // An audit that passed can fail later, when its seller signs something that contradicts it.
  const hasEnded = closedTime !== null && before?.status !== status;
  const isDecided = decision !== null && (before?.decision ?? null) === null;
  return [
    ...(isDrawn ? [{ kind: "audit_drawn", ...about } as const] : []),
    ...(hasEnded ? [{ kind: "audit_ended", ...about } as const] : []),
    ...(isDecided ? [{ kind: "audit_decided", ...about } as const] : []),
  ];
}

/**
 * The key of effect number `n` of an event at `position`: it sorts like the log, and within an event by `n`.
 *
 * @param position the event's `positionKey`
 */
export function timelineKey(position: string, n: number): string {
  return `${position}/${String(n).padStart(6, "0")}`;
}

/** The key of an anchor. It comes before the effects of the anchor's entries, which have the same log. */
export function anchorKey({ block, log }: { block: number; log: number }): string {
  const digits = (value: number, width: number) => String(value).padStart(width, "0");
  return timelineKey([digits(block, 12), digits(log + 1, 8), digits(0, 16)].join("/"), 0);
}
