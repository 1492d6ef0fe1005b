import type { SQL } from "drizzle-orm";
import { isNull, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { feedback, feedbackResponse, identityLink, registry } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import type { RowList } from "./list.ts";

/**
 * The registries that this node reads: the identity registry, then the reputation registry. An empty list if it
 * reads none.
 */
export function registriesRead(db: Database): Promise<Row<"registry">[]> {
  return db.select().from(registry).orderBy(registry.id);
}

/** The identities that a wallet has now, or ever had, the latest first. */
export function linksOfWallet(wallet: string, which: "current" | "all"): RowList<Row<"identityLink">> {
  return {
    table: identityLink,
    of: { name: `identities ${which}`, column: identityLink.wallet, id: wallet },
    order: [identityLink.fromBlock, identityLink.fromLog, identityLink.id],
    direction: "desc",
    filter: which === "current" ? isNull(identityLink.untilBlock) : undefined,
  };
}

/** The wallets that an identity ever had, the latest first. */
export function linksOfIdentity(identity: string): RowList<Row<"identityLink">> {
  return {
    table: identityLink,
    of: { name: "wallets of an identity", column: identityLink.identity, id: identity },
    order: [identityLink.fromBlock, identityLink.fromLog, identityLink.id],
    direction: "desc",
  };
}

/**
 * The feedback for an identity, or only the feedback from the time in which it had one wallet, the latest
 * first.
 */
export function feedbackOf(
  of: { identity: string } | { link: string },
  standing: string | null | undefined,
): RowList<Row<"feedback">> {
  const [column, id] =
    "link" in of ? ([feedback.link, of.link] as const) : ([feedback.identity, of.identity] as const);
  const isStanding = sql`${feedback.standing} = ${standing} AND NOT ${feedback.isRevoked}`;
  return {
    table: feedback,
    of: { name: `feedback of ${column.name} ${standing ?? "any"}`, column, id },
    order: [feedback.block, feedback.log, feedback.id],
    direction: "desc",
    filter: standing == null ? undefined : isStanding,
  };
}

/** The responses to a feedback, the oldest first. */
export function responsesTo(id: string): RowList<Row<"feedbackResponse">> {
  return {
    table: feedbackResponse,
    of: { name: "responses to", column: feedbackResponse.feedback, id },
    order: [feedbackResponse.block, feedbackResponse.log, feedbackResponse.id],
    direction: "asc",
  };
}

/** The condition that a wallet has an identity now. It makes one look-up for each row. */
export function hasIdentity(wallet: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM ${identityLink} WHERE ${identityLink.wallet} = ${wallet} AND ${identityLink.untilBlock} IS NULL)`;
}
