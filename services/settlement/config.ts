import path from "node:path";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { addressProblem } from "tallystick-protocol/net/publicAddress";
import { addressOf } from "tallystick-protocol/signatures/signHash";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  addressSetting,
  httpSetting,
  portSetting,
  privateKeySetting,
  proxiesSetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";
import type { SettlementMode } from "./engine/settlementEngine.ts";
import type { RateLimitConfig } from "./http/rateLimits.ts";
import { readKeyFiles } from "./signingKeys/readKeyFiles.ts";
import type { SignerCommand } from "./signingKeys/runSigner.ts";
import { addressOfKey, type SigningKey } from "./signingKeys/signingKey.ts";
import type { SharedStoreConfig } from "./standby/openSharedStore.ts";
import { readWitnessing, type WitnessingConfig } from "./witnessing/witnessingConfig.ts";

export type AnchoringConfig = {
  /** The key that signs for the writer: the writer's own key, or a key that the writer accepts if it is a contract. */
  key: SigningKey;
  /** The present writer: a wallet key or a contract (ERC-1271). */
  writer: Address;
  /** The first writer. It is part of the ledger's id and never changes. */
  firstWriter: Address;
  /** The key of the account that sends the anchors and pays for them. */
  relayer: SigningKey;
  /**
   * A folder on a disk other than the ledger's. It remembers the anchors that were signed for another account
   * to send; absent when the writer sends them itself.
   */
  wordsDir?: string;
  /**
   * The account that may announce another writer; the zero address for nobody. It is part of the ledger's id.
   */
  guardian: Address;
  contract: Address;
  rpcUrl: string;
  chainId: number;
  intervalSeconds: number;
  maxEntries: number;
  /** How many blocks must follow an anchor before the writer signs its head in a checkpoint. */
  confirmations: number;
  /**
   * How far the clock may be from a new block's time, in seconds. If the difference is larger, writes are refused.
   * 0: not checked.
   */
  clockLimitSeconds: number;
};

/** The key that attests claims, and the access to X's API. */
export type ClaimsConfig = { privateKey: Hex; xApiUrl: string; xApiKey: string };

/** All settings of the service. */
export type SettlementConfig = {
  mode: SettlementMode;
  host: string;
  port: number;
  ledgerDir: string;
  /** The ledger's id on chain, which names its folder; `local` when it is not anchored. */
  ledger: Hex | "local";
  origin: string;
  apiKeys: string[];
  /** The file of keys that `tallystick keys` writes. */
  keysFile: string;
  rateLimits: RateLimitConfig;
  /** The institutional rules; absent: only the two thresholds below. */
  rulesFile?: string;
  minConfidence: number;
  maxDriftAllowed: number;
  devMode: boolean;
  rpcUrl?: string;
  /** The account whose reviews and parameters are settled. */
  operator?: Address;
  /** Signs pulses for the operator; absent: no pulses. */
  operatorPrivateKey?: Hex;
  /** Seconds between pulses; 0 for none. */
  pulseIntervalSeconds: number;
  /** The Ed25519 seed for checkpoints. If it is absent, a key is kept in the ledger's folder. */
  checkpointPrivateKey?: Hex;
  claims?: ClaimsConfig;
  anchoring?: AnchoringConfig;
  witnessing?: WitnessingConfig;
  /**
   * The database in which the machines of this ledger commit their entries; absent if there is only one
   * machine.
   */
  sharedStore?: SharedStoreConfig;
  /** The folder in which the log is written as files for a static host; absent: no files are written. */
  staticLogDir?: string;
  /**
   * The share of one core for comparing the index, and whether writes wait after a start until every line was
   * read.
   */
  verification: { share: number; beforeWrites: boolean };
  /** The account that sends notices to buyers and may read their addresses; absent: no notices are sent. */
  notifier?: Address;
};

/** The chain id of Hardhat and Anvil. There each transaction makes a block, and anybody may set its time. */
const LOCAL_CHAIN = 31_337;

const share = z.coerce.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1");
const wholeNumber = wholeNumberSetting(9);
const privateKey = privateKeySetting.optional();
const keyFile = z.string().optional();
/** A program and its arguments, as a JSON list. No shell reads it. */
const commandSetting = z.string().transform((text, context): SignerCommand => {
  try {
    return z.tuple([z.string().min(1)], z.string()).parse(JSON.parse(text));
  } catch {
    context.addIssue({ code: "custom", message: 'must be a JSON list: ["/path/to/program", "argument"]' });
    return z.NEVER;
  }
});
const postgresSetting = z.url({
  protocol: /^postgres(?:ql)?$/,
  message: "must be a postgres:// address",
});
const flagUnless = (otherwise: "0" | "1") =>
  z
    .enum(["0", "1", "false", "true"])
    .default(otherwise)
    .transform((text) => text === "1" || text === "true");
const flag = flagUnless("0");

const environmentSchema = z.object({
  SETTLEMENT_MODE: z.enum(["sandbox", "staging", "production"]).optional(),
  SETTLEMENT_HOST: z.string().default("127.0.0.1"),
  SETTLEMENT_PORT: portSetting.default(42_070),
  LEDGER_DIR: z.string().default("./.tallystick/ledger"),
  LEDGER_ORIGIN: z
    .string()
    .regex(
      /^[^\s+]{1,255}$/,
      "must have 1 to 255 characters, without spaces and plus signs (C2SP tlog-checkpoint)",
    )
    .default("tallystick.local/ledger"),
  SETTLEMENT_API_KEYS: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((key) => key.trim())
        .filter((key) => key !== ""),
    ),
  MIN_CONFIDENCE: share.default(0.85),
  MAX_DRIFT_ALLOWED: share.default(0.15),
  KEYS_FILE: z.string().optional(),
  RATE_LIMIT_PER_KEY: wholeNumber.default(6_000),
  // Ten per second are more than a seller needs. Each request may cost a signature check.
  RATE_LIMIT_PER_ADDRESS: wholeNumber.default(600),
  // The same limit as an indexer's: a hundred per second, or 1.6 MB.
  RATE_LIMIT_READS: wholeNumber.default(6_000),
  TRUST_PROXY: proxiesSetting("this service").default(0),
  RULES_FILE: z.string().optional(),
  DEV_MODE: flag,
  OPERATOR: addressSetting.optional(),
  OPERATOR_PRIVATE_KEY: privateKey,
  OPERATOR_PRIVATE_KEY_FILE: keyFile,
  PULSE_INTERVAL_SECONDS: wholeNumber
    .refine((seconds) => seconds <= 86_400, "must be at most 86400")
    .default(300),
  CHECKPOINT_PRIVATE_KEY: privateKey,
  CHECKPOINT_PRIVATE_KEY_FILE: keyFile,
  CLAIM_ATTESTOR_PRIVATE_KEY: privateKey,
  X_API_URL: httpSetting.default("https://api.x.com"),
  X_API_KEY: z.string().optional(),
  ANCHOR_PRIVATE_KEY: privateKey,
  ANCHOR_PRIVATE_KEY_FILE: keyFile,
  ANCHOR_SIGNER: commandSetting.optional(),
  ANCHOR_SIGNER_ADDRESS: addressSetting.optional(),
  ANCHOR_WRITER: addressSetting.optional(),
  LEDGER_FIRST_WRITER: addressSetting.optional(),
  RELAYER_PRIVATE_KEY: privateKey,
  RELAYER_PRIVATE_KEY_FILE: keyFile,
  ANCHOR_WORDS_DIR: z.string().optional(),
  ANCHORED_LEDGER: addressSetting.optional(),
  LEDGER_GUARDIAN: addressSetting.default(ZERO_ADDRESS),
  RPC_URL: httpSetting.optional(),
  CHAIN_ID: wholeNumber.optional(),
  ANCHOR_INTERVAL_SECONDS: z.coerce.number().positive("must be more than 0").max(86_400).default(30),
  ANCHOR_CONFIRMATIONS: wholeNumber.refine((count) => count <= 64, "must be at most 64").optional(),
  CLOCK_LIMIT_SECONDS: wholeNumber.optional(),
  ANCHOR_MAX_ENTRIES: wholeNumber.refine((count) => count > 0, "must be at least 1").default(1_000),
  WITNESS_POLICY: z.string().optional(),
  WITNESS_REQUIRED: flag,
  STATIC_LOG_DIR: z.string().optional(),
  LEDGER_STORE_URL: postgresSetting.optional(),
  LEDGER_STORE_KEY: privateKey,
  LEDGER_STORE_KEY_FILE: keyFile,
  LEDGER_LEASE_SECONDS: z.coerce
    .number()
    .min(1, "must be from 1 to 300")
    .max(300, "must be from 1 to 300")
    .default(10),
  INDEX_CHECK_SHARE: share.default(0.5),
  READ_BEFORE_WRITES: flagUnless("1"),
  NOTIFIER: addressSetting.optional(),
});

/** The keys that may be in a file. */
const KEYS_IN_FILES = Object.keys(environmentSchema.shape)
  .filter((name) => name.endsWith("_KEY_FILE"))
  .map((name) => name.slice(0, -"_FILE".length));

/** The variables that settlement reads. It needs no others. */
export const settlementVariables = Object.keys(environmentSchema.shape);

/**
 * Reads the configuration from environment variables. An empty variable counts as absent. Without `ANCHOR_PRIVATE_KEY`
 * and `ANCHOR_SIGNER` the ledger is not anchored.
 *
 * @throws InvalidInputError naming every variable at fault
 */
export function readConfig(environment: Environment): SettlementConfig {
  const given = readKeyFiles(environment, KEYS_IN_FILES);
  const env = readEnvironment(given, environmentSchema, "settlement");
  const anchoring = readAnchoring(env);
  const claims = readClaims(env);
  const operator = readOperator(env);
  const witnessing = readWitnesses(env);
  const sharedStore = readSharedStore(env);
  // Private networks in listings are for tests only.
  const mode = env.SETTLEMENT_MODE ?? (env.DEV_MODE ? "staging" : "production");
  if (mode === "production" && env.DEV_MODE)
    refuse("DEV_MODE", "must not be set when SETTLEMENT_MODE is production");
  return {
    mode,
    host: env.SETTLEMENT_HOST,
    port: env.SETTLEMENT_PORT,
    ledgerDir: env.LEDGER_DIR,
    ledger: anchoring
      ? ledgerId({ ...anchoring, writer: anchoring.firstWriter, origin: env.LEDGER_ORIGIN })
      : "local",
    origin: env.LEDGER_ORIGIN,
    apiKeys: env.SETTLEMENT_API_KEYS,
    keysFile: env.KEYS_FILE ?? keysFileIn(env.LEDGER_DIR),
    rateLimits: {
      perKey: env.RATE_LIMIT_PER_KEY,
      perAddress: env.RATE_LIMIT_PER_ADDRESS,
      reads: env.RATE_LIMIT_READS,
      trustedProxies: env.TRUST_PROXY,
    },
    ...(env.RULES_FILE !== undefined && { rulesFile: env.RULES_FILE }),
    minConfidence: env.MIN_CONFIDENCE,
    maxDriftAllowed: env.MAX_DRIFT_ALLOWED,
    devMode: env.DEV_MODE,
    ...(env.RPC_URL !== undefined && { rpcUrl: env.RPC_URL }),
    ...(operator !== undefined && { operator }),
    ...(env.OPERATOR_PRIVATE_KEY !== undefined && { operatorPrivateKey: env.OPERATOR_PRIVATE_KEY }),
    pulseIntervalSeconds: env.PULSE_INTERVAL_SECONDS,
    ...(env.CHECKPOINT_PRIVATE_KEY !== undefined && { checkpointPrivateKey: env.CHECKPOINT_PRIVATE_KEY }),
    ...(claims && { claims }),
    ...(anchoring && { anchoring }),
    ...(witnessing && { witnessing }),
    ...(sharedStore && { sharedStore }),
    ...(env.STATIC_LOG_DIR !== undefined && { staticLogDir: env.STATIC_LOG_DIR }),
    verification: { share: env.INDEX_CHECK_SHARE, beforeWrites: env.READ_BEFORE_WRITES },
    ...(env.NOTIFIER !== undefined && { notifier: env.NOTIFIER }),
  };
}

/** The default place of the API keys, unless KEYS_FILE names another. */
export function keysFileIn(ledgerDir: string): string {
  return path.join(ledgerDir, "keys.json");
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }], code: "invalid_configuration" });
}

/** Invariant: the operator's key belongs to the operator. */
function readOperator(env: z.output<typeof environmentSchema>): Address | undefined {
  const { OPERATOR: operator, OPERATOR_PRIVATE_KEY: key } = env;
  if (key === undefined) return operator;
  const address = addressOf(key);
  if (operator !== undefined && operator !== address)
    refuse("OPERATOR_PRIVATE_KEY", `is not ${operator}'s, but ${address}'s`);
  return address;
}

/** Invariant: a service that attests claims can ask X, and sends X's key only to a public server. */
function readClaims(env: z.output<typeof environmentSchema>): ClaimsConfig | undefined {
  const { CLAIM_ATTESTOR_PRIVATE_KEY: privateKey, X_API_URL: xApiUrl, X_API_KEY: xApiKey } = env;
  if (privateKey === undefined) return undefined;
  if (xApiKey === undefined) refuse("X_API_KEY", "must be set when CLAIM_ATTESTOR_PRIVATE_KEY is");
  const problem = env.DEV_MODE ? undefined : addressProblem(xApiUrl);
  if (problem !== undefined) refuse("X_API_URL", `${problem}, without DEV_MODE`);
  return { privateKey, xApiUrl, xApiKey };
}

/** Invariant: a quorum needs its witnesses. */
function readWitnesses(env: z.output<typeof environmentSchema>): WitnessingConfig | undefined {
  const { WITNESS_POLICY: file, WITNESS_REQUIRED: required, DEV_MODE: devMode, LEDGER_ORIGIN: origin } = env;
  if (file !== undefined) return readWitnessing(file, { required, devMode, origin });
  if (required) refuse("WITNESS_POLICY", "must be set when WITNESS_REQUIRED is");
  return undefined;
}

/**
 * Invariant: machines that share a ledger have the same keys. And access to the database alone is not enough
 * to make valid rows.
 */
function readSharedStore(env: z.output<typeof environmentSchema>): SharedStoreConfig | undefined {
  const { LEDGER_STORE_URL: url, LEDGER_STORE_KEY: key, LEDGER_LEASE_SECONDS: leaseSeconds } = env;
  if (url === undefined && key === undefined) return undefined;
  if (url === undefined) refuse("LEDGER_STORE_URL", "must be set when LEDGER_STORE_KEY is");
  if (key === undefined)
    refuse(
      "LEDGER_STORE_KEY",
      "must be set when LEDGER_STORE_URL is: 0x and 64 random hex digits, the same on every machine",
    );
  if (env.CHECKPOINT_PRIVATE_KEY === undefined)
    refuse(
      "CHECKPOINT_PRIVATE_KEY",
      "must be set when LEDGER_STORE_URL is: followers know the ledger by it, whichever machine writes",
    );
  if (env.SETTLEMENT_MODE === "sandbox")
    refuse("LEDGER_STORE_URL", "must not be set in a sandbox, which writes nothing");
  return { url, key, leaseSeconds };
}

/** Invariant: anchoring needs a contract, a chain and an RPC. */
function readAnchoring(env: z.output<typeof environmentSchema>): AnchoringConfig | undefined {
  const key = readAnchorKey(env);
  const { RELAYER_PRIVATE_KEY: relayerKey } = env;
  if (key === undefined) {
    if (env.ANCHOR_WRITER !== undefined || relayerKey !== undefined)
      refuse("ANCHOR_PRIVATE_KEY", "must be set when ANCHOR_WRITER or RELAYER_PRIVATE_KEY is");
    return undefined;
  }
  const relayer: SigningKey = relayerKey ? { kind: "private", privateKey: relayerKey } : key;
  const { ANCHORED_LEDGER: contract, RPC_URL: rpcUrl, CHAIN_ID: chainId } = env;
  const issues = Object.entries({ ANCHORED_LEDGER: contract, RPC_URL: rpcUrl, CHAIN_ID: chainId })
    .filter(([, value]) => value === undefined)
    .map(([field]) => ({ field, message: "must be set when ANCHOR_PRIVATE_KEY is" }));
  if (contract === undefined || rpcUrl === undefined || chainId === undefined) {
    throw new InvalidInputError({ issues, code: "invalid_configuration" });
  }
  const writer = env.ANCHOR_WRITER ?? addressOfKey(key);
  const wordsDir = addressOfKey(relayer) === writer ? undefined : readWordsDir(env);
  return {
    key,
    writer,
    firstWriter: env.LEDGER_FIRST_WRITER ?? writer,
    relayer,
    ...(wordsDir !== undefined && { wordsDir }),
    guardian: env.LEDGER_GUARDIAN,
    contract,
    rpcUrl,
    chainId,
    intervalSeconds: env.ANCHOR_INTERVAL_SECONDS,
    maxEntries: env.ANCHOR_MAX_ENTRIES,
    confirmations: env.ANCHOR_CONFIRMATIONS ?? (chainId === LOCAL_CHAIN ? 0 : 12),
    clockLimitSeconds: env.CLOCK_LIMIT_SECONDS ?? (chainId === LOCAL_CHAIN ? 0 : 120),
  };
}

/**
 * Invariant: one key signs, in this process or behind a command. For a command, the account must be given.
 */
function readAnchorKey(env: z.output<typeof environmentSchema>): SigningKey | undefined {
  const { ANCHOR_PRIVATE_KEY: privateKey, ANCHOR_SIGNER: command, ANCHOR_SIGNER_ADDRESS: address } = env;
  if (command === undefined && address !== undefined)
    refuse("ANCHOR_SIGNER", "must be set when ANCHOR_SIGNER_ADDRESS is");
  if (command === undefined) return privateKey && { kind: "private", privateKey };
  if (privateKey !== undefined) refuse("ANCHOR_SIGNER", "must not be set when ANCHOR_PRIVATE_KEY is");
  if (address === undefined)
    refuse(
      "ANCHOR_SIGNER_ADDRESS",
      "must be set when ANCHOR_SIGNER is: the account whose signatures it gives",
    );
  return { kind: "command", address, command };
}

/**
 * Invariant: anchors that are signed for another account to send are remembered on another disk, so that an
 * old image of the ledger's disk does not lose them.
 */
function readWordsDir(env: z.output<typeof environmentSchema>): string {
  const { ANCHOR_WORDS_DIR: wordsDir, LEDGER_DIR: ledgerDir } = env;
  const why =
    "another account sends the anchors, and a signed anchor must be remembered after a loss of the ledger's disk";
  if (wordsDir === undefined)
    refuse("ANCHOR_WORDS_DIR", `must be set to a folder on another disk than LEDGER_DIR: ${why}`);
  const fromLedger = path.relative(path.resolve(ledgerDir), path.resolve(wordsDir));
  if (!fromLedger.startsWith("..")) refuse("ANCHOR_WORDS_DIR", `must not lie in LEDGER_DIR: ${why}`);
  return wordsDir;
}
