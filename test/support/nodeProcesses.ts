import path from "node:path";
import { mcpVariables, readMcpConfig } from "tallystick-mcp/mcpConfig";
import type { KeyHolder } from "tallystick-protocol/keysOfOthers";
import { indexerVariables, readConfig as readIndexer } from "../../indexer/config.ts";
import { keeperVariables, readKeeperConfig } from "../../scripts/keeper/config.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { auditingVariables, readAuditingConfig } from "../../services/auditing/config.ts";
import { dispatchVariables, readDispatchConfig } from "../../services/dispatch/config.ts";
import { notifierVariables, readNotifierConfig } from "../../services/notifying/config.ts";
import { proberVariables, readProberConfig } from "../../services/probing/config.ts";
import { readConfig as readSettlement, settlementVariables } from "../../services/settlement/config.ts";
import { mirrorVariables, readMirrorConfig } from "../../services/settlement/mirror/mirrorConfig.ts";
import { readWitnessConfig, witnessVariables } from "../../services/witness/config.ts";

const witnessLogs = path.join(repositoryRoot, "test/witness/logs.policy");
const hex = (digit: string, length: number) => `0x${digit.repeat(length)}`;

/** For each process of a node: its variables, the function that reads them, and the fewest settings that work. */
export const PROCESSES: {
  [name in KeyHolder]: {
    variables: string[];
    read: (environment: Record<string, string>) => unknown;
    works: Record<string, string>;
  };
} = {
  settlement: { variables: settlementVariables, read: readSettlement, works: {} },
  indexer: {
    variables: indexerVariables,
    read: readIndexer,
    works: {
      DATABASE_URL: "postgres://user@localhost/node",
      RPC_URL: "http://localhost:8545",
      CHAIN_ID: "31337",
      TOKEN_ADDRESS: hex("7", 40),
    },
  },
  keeper: {
    variables: keeperVariables,
    read: readKeeperConfig,
    works: {
      RPC_URL: "http://localhost:8545",
      CHAIN_ID: "31337",
      ESCROWS: `${hex("e", 40)}=provider`,
      KEEPER_PRIVATE_KEY: hex("1", 64),
    },
  },
  prober: {
    variables: proberVariables,
    read: readProberConfig,
    works: { PROBER_PRIVATE_KEY: hex("1", 64), PROBER_CONTACT: "probes@example.com" },
  },
  auditing: {
    variables: auditingVariables,
    read: readAuditingConfig,
    works: {
      RPC_URL: "http://localhost:8545",
      CHAIN_ID: "31337",
      TOKEN_ADDRESS: hex("7", 40),
      AUDIT_OPERATOR_PRIVATE_KEY: hex("1", 64),
      AUDIT_POOL_PRIVATE_KEY: hex("2", 64),
      AUDIT_BUDGET_USDC: "50",
    },
  },
  notifying: {
    variables: notifierVariables,
    read: readNotifierConfig,
    works: { NOTIFIER_PRIVATE_KEY: hex("1", 64) },
  },
  dispatch: {
    variables: dispatchVariables,
    read: readDispatchConfig,
    works: {
      DISPATCH_MODELS_FILE: path.join(repositoryRoot, "services/dispatch/models.example.yaml"),
      DISPATCH_SETTLEMENT_URL: "http://localhost:42070",
      DISPATCH_SETTLEMENT_KEY: "settlement-key-01",
      DISPATCH_API_KEYS: "acme=acme-key-0123456789",
    },
  },
  mcp: {
    variables: mcpVariables,
    read: readMcpConfig,
    works: { TALLYSTICK_URL: "http://localhost:42069", TALLYSTICK_PRIVATE_KEY: hex("1", 64) },
  },
  mirror: {
    variables: mirrorVariables,
    read: readMirrorConfig,
    works: {
      MIRROR_VKEY: "ledger.example/log+08cdf2f9+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR",
    },
  },
  witness: {
    variables: witnessVariables,
    read: readWitnessConfig,
    works: { WITNESS_NAME: "witness.example/w1", WITNESS_LOGS: witnessLogs },
  },
};
