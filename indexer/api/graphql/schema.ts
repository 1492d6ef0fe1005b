import { type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { builder } from "./builder.ts";
import "./agent.ts";
import "./agentList.ts";
import "./listing.ts";
import "./cluster.ts";
import "./clusterGraph.ts";
import "./hire.ts";
import "./escrow.ts";
import "./tierChange.ts";
import "./rating.ts";
import "./fundingGraph.ts";
import "./family.ts";
import "./independence.ts";
import "./receipt.ts";
import "./payment.ts";
import "./ledger.ts";
import "./ledgerEntries.ts";
import "./explain.ts";
import "./params.ts";
import "./auditAssignment.ts";
import "./audit.ts";
import "./auditor.ts";
import "./auditActuation.ts";
import "./auditOperator.ts";
import "./settlementTrust.ts";
import "./steward.ts";
import "./sla.ts";
import "./insights.ts";
import "./market.ts";
import "./agentPast.ts";
import "./meta.ts";
import "./identity.ts";
import "./digest.ts";
import "./subscription.ts";

/** The executable schema. */
export const graphqlSchema: GraphQLSchema = builder.toSchema();

/** Its text, as committed in indexer/schema.graphql. */
export function schemaText(): string {
  return `${printSchema(lexicographicSortSchema(graphqlSchema)).trimEnd()}\n`;
}
