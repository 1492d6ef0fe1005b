import type { InputIssue } from "./errors.ts";

/** The processes and commands of a node that may have a key. */
type Owner =
  | "settlement"
  | "dispatch"
  | "indexer"
  | "keeper"
  | "prober"
  | "auditing"
  | "notifying"
  | "mcp"
  | "deploy"
  | "postgres"
  | "mirror"
  | "witness";

/** The processes that refuse to start with another process's key. */
export type KeyHolder =
  | "settlement"
  | "dispatch"
  | "indexer"
  | "keeper"
  | "prober"
  | "auditing"
  | "notifying"
  | "mcp"
  | "mirror"
  | "witness";

/** The environment variable of every key of a node, and the only process or command that may have it. */
export const KEYS: { readonly [variable: string]: Owner } = {
  ANCHOR_PRIVATE_KEY: "settlement",
  RELAYER_PRIVATE_KEY: "settlement",
  OPERATOR_PRIVATE_KEY: "settlement",
  CHECKPOINT_PRIVATE_KEY: "settlement",
  LEDGER_STORE_KEY: "settlement",
  CLAIM_ATTESTOR_PRIVATE_KEY: "settlement",
  SETTLEMENT_API_KEYS: "settlement",
  X_API_KEY: "settlement",
  REPORT_KEY: "indexer",
  LOG_PORTAL_KEY: "indexer",
  LOG_HYPERSYNC_KEY: "indexer",
  KEEPER_PRIVATE_KEY: "keeper",
  WITNESS_PRIVATE_KEY: "witness",
  MIRROR_S3_SECRET_ACCESS_KEY: "mirror",
  PROBER_PRIVATE_KEY: "prober",
  AUDIT_OPERATOR_PRIVATE_KEY: "auditing",
  AUDIT_POOL_PRIVATE_KEY: "auditing",
  AUDIT_ARBITER_PRIVATE_KEY: "auditing",
  NOTIFIER_PRIVATE_KEY: "notifying",
  DISPATCH_SETTLEMENT_KEY: "dispatch",
  DISPATCH_API_KEYS: "dispatch",
  TALLYSTICK_PRIVATE_KEY: "mcp",
  TALLYSTICK_API_KEY: "mcp",
  TALLYSTICK_DISPATCH_KEY: "mcp",
  TALLYSTICK_MCP_KEY: "mcp",
  DEPLOYER_PRIVATE_KEY: "deploy",
  POSTGRES_PASSWORD: "postgres",
};

/**
 * Names the keys in a process's environment that the process must not have. A process cannot leak a key that it does
 * not know. This matters most for the processes that answer the public, because attackers try them first.
 *
 * @param environment the process's variables; an empty variable counts as absent
 */
export function keysOfOthers(
  holder: KeyHolder,
  environment: { [name: string]: string | undefined },
): InputIssue[] {
  return Object.entries(KEYS)
    .filter(([name, owner]) => owner !== holder && environment[name])
    .map(([field, owner]) => ({
      field,
      message: `must not be here: it is for ${owner}, and ${holder} does not need it but could leak it`,
    }));
}
