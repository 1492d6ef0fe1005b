import { eq, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { clusterIsNamed } from "./clusters.ts";
import { prepared } from "./prepared.ts";

/** The agent at an address, with the cluster that it joined first; undefined when the address is not an agent. */
export async function agentWithCluster(
  db: Database,
  address: string,
): Promise<{ agent: Row<"agent">; cluster: Row<"cluster"> | null } | undefined> {
  const { agent, cluster } = schema;
  const statement = prepared(db, "agent", () =>
    db
      .select({ agent, cluster })
      .from(agent)
      .leftJoin(cluster, clusterIsNamed)
      .where(eq(agent.id, sql.placeholder("address")))
      .prepare("agent"),
  );
  const [found] = await statement.execute({ address });
  return found;
}
