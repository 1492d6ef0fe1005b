import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { mcpVariables, readMcpConfig } from "tallystick-mcp/mcpConfig";
import type { InvalidInputError } from "tallystick-protocol/errors";
import { KEYS, type KeyHolder, keysOfOthers } from "tallystick-protocol/keysOfOthers";
import { indexerVariables, readConfig as readIndexer } from "../../indexer/config.ts";
import { keeperVariables, readKeeperConfig } from "../../scripts/keeper/config.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { auditingVariables, readAuditingConfig } from "../../services/auditing/config.ts";
import { dispatchVariables, readDispatchConfig, vendorKeys } from "../../services/dispatch/config.ts";
import { notifierVariables, readNotifierConfig } from "../../services/notifying/config.ts";
import { proberVariables, readProberConfig } from "../../services/probing/config.ts";
import { readConfig as readSettlement, settlementVariables } from "../../services/settlement/config.ts";
import { mirrorVariables, readMirrorConfig } from "../../services/settlement/mirror/mirrorConfig.ts";
import { readWitnessConfig, witnessVariables } from "../../services/witness/config.ts";

const witnessLogs = path.join(repositoryRoot, "test/witness/logs.policy");
const hex = (digit: string, length: number) => `0x${digit.repeat(length)}`;

/** What each process reads, and settings with which it starts. */
const PROCESSES: {
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

describe("the keys of a node's processes", () => {
  // Many a shell has the keys of vendors of models: no process is kept from starting by them.
  const isKey = (name: string) =>
    /(^|_)(KEYS?|PASSWORD|SECRET|MNEMONIC|SEED)$/.test(name) &&
    name !== "RATE_LIMIT_PER_KEY" &&
    !vendorKeys.includes(name);

  it("are listed, each with the one process that gets it", () => {
    const listed = readFileSync(path.join(repositoryRoot, ".env.example"), "utf8");
    const settings = [...listed.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = ""]) => name);
    expect(settings.filter(isKey)).to.have.members(Object.keys(KEYS));
    for (const [name, { variables }] of Object.entries(PROCESSES)) {
      for (const variable of variables.filter(isKey)) expect(KEYS[variable], variable).to.equal(name);
    }
    for (const [key, owner] of Object.entries(KEYS)) {
      if (owner in PROCESSES) expect(PROCESSES[owner as KeyHolder].variables).to.include(key);
    }
  });

  for (const [name, { read, works }] of Object.entries(PROCESSES)) {
    it(`are refused by ${name} with their names if they belong to another process`, () => {
      read(works);
      const own = Object.keys(KEYS).filter((key) => KEYS[key] === name);
      for (const key of Object.keys(KEYS)) {
        if (own.includes(key)) continue;
        let error: InvalidInputError | undefined;
        try {
          read({ ...works, [key]: hex("2", 64) });
        } catch (thrown) {
          error = thrown as InvalidInputError;
        }
        expect(error?.issues.map(({ field }) => field)).to.deep.equal([key]);
        // A message may end in a log.
        expect(JSON.stringify(error)).to.not.contain("222");
        read({ ...works, [key]: "" });
      }
    });
  }

  it("are all reported at once", () => {
    const all = Object.fromEntries(Object.keys(KEYS).map((key) => [key, "x"]));
    const others = Object.keys(KEYS).filter((key) => KEYS[key] !== "indexer");
    expect(keysOfOthers("indexer", all).map(({ field }) => field)).to.have.members(others);
  });
});
