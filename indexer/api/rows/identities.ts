import type { SQL } from "drizzle-orm";
import { isNull, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { feedback, feedbackResponse, identityLink, registry } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import type { RowList } from "./list.ts";

/** The registries that this node reads, the identities' first; none when it reads none. */
export function registriesRead(db: Database): Promise<Row<"registry">[]> {
  return db.select().from(registry).orderBy(registry.id);
}

/** The identities that a wallet stands for now, or ever did, the latest first. */
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

/** What was said of an identity, or of one while one wallet stood for it, the latest first. */
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

/** What was answered to a feedback, the first first. */
export function responsesTo(id: string): RowList<Row<"feedbackResponse">> {
  return {
    table: feedbackResponse,
    of: { name: "responses to", column: feedbackResponse.feedback, id },
    order: [feedbackResponse.block, feedbackResponse.log, feedbackResponse.id],
    direction: "asc",
  };
}

/** That a wallet stands for an identity now: a look-up for each row. */
export function hasIdentity(wallet: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM ${identityLink} WHERE ${identityLink.wallet} = ${wallet} AND ${identityLink.untilBlock} IS NULL)`;
}
