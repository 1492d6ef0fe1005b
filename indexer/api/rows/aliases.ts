import { eq } from "ponder";
import { steward } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";

/** Agents whose latest attestation claims an alias. At most two, because two already make the alias ambiguous. */
export async function claimantsOf(db: Database, alias: string): Promise<string[]> {
  const found = await db.select({ id: steward.id }).from(steward).where(eq(steward.alias, alias)).limit(2);
  return found.map(({ id }) => id);
}
