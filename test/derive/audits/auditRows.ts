import type { ApplyContext } from "tallystick-derive/applyContext";
import { emptyRow } from "tallystick-derive/emptyRow";
import { append } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import { wallet } from "../eventLog.ts";

export const [SELLER, BUYER, OPERATOR] = [1, 2, 20].map(wallet) as [string, string, string];
export const CAPABILITY = "text.translate";

/** An audit of the hire `h`, whose first attempt was assigned. */
export const auditOf = (more: Partial<Row<"audit">> = {}): Row<"audit"> => ({
  ...emptyRow("audit"),
  ...{ id: "h", hire: "h", operator: OPERATOR, capability: CAPABILITY, verificationVersion: "v0" },
  ...{ seller: SELLER, buyer: BUYER, amount: 10n, ppm: 5, cause: "sample", status: "assigned" },
  ...{ round: 1, attempt: 1, verdicts: "", ...more },
});

/** Stores an assignment of an audit. */
export function assign(
  context: ApplyContext,
  { hire, id: audit }: Row<"audit">,
  more: Partial<Row<"auditAssignment">> = {},
): Row<"auditAssignment"> {
  const { round = 1, attempt = 1 } = more;
  const row = {
    ...emptyRow("auditAssignment"),
    ...{ id: `${hire}/${round}/${attempt}`, hire, audit, round, attempt, operator: OPERATOR },
    ...{ auditor: wallet(100), auditorType: "auditor", passedOver: "", clusters: "{}", families: "{}" },
    ...{ host: "auditor.example", ...more },
  };
  context.store.insert("auditAssignment", row);
  append(context.store, `assignments/${hire}`, row.id);
  return row;
}

/** Stores an offer of an auditor. */
export function offered(
  context: ApplyContext,
  agent: string,
  more: Partial<Row<"auditor">> = {},
): Row<"auditor"> {
  const row = {
    ...emptyRow("auditor"),
    ...{ id: `${OPERATOR}/${agent}`, agent, operator: OPERATOR, capabilities: CAPABILITY },
    ...{ host: "auditor.example", endpoint: "https://auditor.example", isActive: true, issuedAt: 1, ...more },
  };
  context.store.insert("auditor", row);
  return row;
}
