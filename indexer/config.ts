import type { LogForm, LogRegistries } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { PUBLISHED_IMPLEMENTATIONS, registriesSetting } from "tallystick-protocol/erc8004/registries";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import { keysOfOthers } from "tallystick-protocol/keysOfOthers";
import { defineParams, type Params } from "tallystick-protocol/records/params";
import { recordTypeNames } from "tallystick-protocol/records/recordTypes";
import { type Environment, variablesIn } from "tallystick-runtime/configuration/readEnvironment";
import { addressSetting, proxiesSetting } from "tallystick-runtime/configuration/settings";
import { SOCKETS_PER_ADDRESS } from "tallystick-runtime/http/limitSockets";
import { z } from "zod";
import { PUBLIC_CHAINS } from "./publicChains.ts";

/** The source of a ledger's entries: a settlement service, or a folder with `ledger.jsonl`. */
export type SegmentSourceConfig = { kind: "http"; url: string } | { kind: "folder"; path: string };

/**
 * `all`: every transfer of the token is indexed, from START_BLOCK on. `relevant`: only transfers that matter
 * are read, from the token's first block on. Final transfers come from the sources in `history`, the
 * preferred one first, and last from the chain's RPC.
 */
export type TransfersConfig =
  | { form: "all" }
  | {
      form: "relevant";
      firstBlock: number;
      history: HistorySourceConfig[];
      agree: boolean;
      /** The number of ticks in which each watched wallet is compared with its balance once; 0: never. */
      checkRounds: number;
    };

/** A source of final transfers: another RPC, a dataset of SQD's portal, or a HyperSync server. */
export type HistorySourceConfig =
  | { kind: "rpc"; url: string }
  /** `key` is sent as a bearer token; undefined: none. */
  | { kind: "portal" | "hypersync"; url: string; key: string | undefined };

/** All settings of the indexer. {@link readConfig} makes it once. */
export type IndexerConfig = {
  databaseUrl: string;
  databaseSchema: string;
  port: number;
  rpcUrl: string;
  chainId: number;
  pollingIntervalMs: number;
  /**
   * The number of blocks in one request. Null: found by trial. That fails if a few hundred blocks have more
   * than 10 MiB of logs.
   */
  logsBlockRange: number | null;
  startBlock: number;
  token: Address;
  /** Which transfers of the token are read. */
  transfers: TransfersConfig;
  anchoredLedger: Address | null;
  /** The registries of ERC-8004 whose events are read, and the implementations that are understood; null: none. */
  registries: LogRegistries | null;
  /** Ledger id → where its entries are read. Only these ledgers are followed. */
  ledgers: ReadonlyMap<Hex, SegmentSourceConfig>;
  /**
   * The address to which settlement routes are forwarded, without a trailing slash; null: they answer 503.
   */
  settlementUrl: string | null;
  /** The number of trusted proxies in front of this process. They name the client of each request. */
  trustedProxies: number;
  /** The limits of one address; 0 for no limit. */
  clientLimits: { points: number; streams: number; sockets: number };
  /** The price of insights and the receiver of the payment; null: they are free. */
  insights: { amount: bigint; payTo: Address; facilitator: string } | null;
  /** The key that signs trust reports (Ed25519), 32 bytes; null: no reports. */
  reportKey: Uint8Array | null;
  /** The EIP-712 domain of the token, which payers sign for. */
  tokenDomain: { name: string; version: string };
  /** The first parameters and trust roots, in force until the operator publishes others. */
  params: Params;
};

const LEDGER_ID = /^0x[0-9a-f]{64}$/;

const ledgerIdText = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(z.string().regex(LEDGER_ID, "must be 0x and 64 hex digits"))
  .transform((text) => text as Hex);

/** A value for a header, so it must be one line. */
const bearerToken = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[\x21-\x7e]+$/, "must be one line without spaces");

const httpUrl = z
  .string()
  .refine((text) => ["http:", "https:"].includes(protocolOf(text)), "must be an http:// or https:// URL")
  .transform((text) => text.replace(/\/+$/, ""));

const integer = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]*)$/, "must be a whole number")
    .transform(Number)
    .refine((it) => it >= least && it <= most, `must be from ${least} to ${most}`);

/** `a,b,c`, spaces and empty items ignored. */
const listOf = <Item>(item: z.ZodType<Item, string>) =>
  z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .pipe(z.array(item));

/** `key=value`, split at the first `=`. */
const pair = z.string().transform((text, context): [string, string] => {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  context.addIssue({ code: "custom", message: `must be KEY=VALUE, not "${text}"` });
  return z.NEVER;
});

/** The environment variables, as the README and .env.example list them. Sizes of addresses and ids are checked here. */
const environmentSchema = z.object({
  DATABASE_URL: z
    .string()
    .refine(
      (text) => ["postgres:", "postgresql:"].includes(protocolOf(text)),
      "must be a postgres:// or postgresql:// URL",
    ),
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,44}$/, "must be 1 to 45 lower-case letters, digits and underscores")
    .default("tallystick"),
  INDEXER_PORT: integer(1, 65_535).default(42_069),
  RPC_URL: httpUrl,
  CHAIN_ID: integer(1),
  POLLING_INTERVAL_MS: integer(100, 600_000).default(1_000),
  LOGS_BLOCK_RANGE: integer(1, 100_000).optional(),
  START_BLOCK: integer(0).default(0),
  TOKEN_ADDRESS: addressSetting,
  TRANSFERS: z.enum(["all", "relevant"], { error: "must be all or relevant" }).optional(),
  TOKEN_FIRST_BLOCK: integer(0).optional(),
  LOG_PORTAL_URL: httpUrl.optional(),
  LOG_PORTAL_KEY: bearerToken.optional(),
  LOG_HYPERSYNC_URL: httpUrl.optional(),
  LOG_HYPERSYNC_KEY: bearerToken.optional(),
  LOG_RPC_URLS: listOf(httpUrl),
  BALANCE_CHECK_TICKS: integer(0, 100_000).default(100),
  LOG_SOURCES_AGREE: z.enum(["true", "false"], { error: "must be true or false" }).default("false"),
  ESCROWS: listOf(pair.pipe(z.tuple([addressSetting, z.string().min(1).max(31)]))),
  ANCHORED_LEDGER: addressSetting.optional(),
  LEDGERS: listOf(pair.pipe(z.tuple([ledgerIdText, z.string().transform(segmentSource)]))),
  ERC8004_REGISTRIES: registriesSetting.optional(),
  ERC8004_IMPLEMENTATIONS: listOf(addressSetting),
  OPERATOR: addressSetting.optional(),
  CLAIM_ATTESTORS: listOf(addressSetting),
  AUDIT_ARBITERS: listOf(addressSetting),
  HUBS: listOf(addressSetting),
  FEE_RECIPIENTS: listOf(addressSetting),
  BOUND_LEDGERS: listOf(ledgerIdText),
  TICK_BLOCKS: integer(1).default(150),
  SETTLEMENT_URL: httpUrl.optional(),
  TRUST_PROXY: proxiesSetting("settlement, this indexer among them").default(0),
  POINTS_PER_ADDRESS: integer(0, 1_000_000).default(6_000),
  STREAMS_PER_ADDRESS: integer(0, 100_000).default(32),
  SOCKETS_PER_ADDRESS: integer(0, 100_000).default(SOCKETS_PER_ADDRESS),
  TOKEN_NAME: z.string().default("USD Coin"),
  TOKEN_VERSION: z.string().default("2"),
  INSIGHTS_PRICE_USDC: priceUsdcSchema.refine((text) => /[1-9]/.test(text), "must be more than 0").optional(),
  INSIGHTS_PAY_TO: addressSetting.optional(),
  X402_FACILITATOR_URL: httpUrl.optional(),
  REPORT_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits")
    .transform((text) => fromHex(text))
    .optional(),
});

type Settings = z.infer<typeof environmentSchema>;

/** The variables that the indexer and its replicas read. They need no others. */
export const indexerVariables = Object.keys(environmentSchema.shape);

/**
 * Reads the configuration from environment variables. An empty variable counts as absent.
 *
 * @throws InvalidInputError naming every variable that is missing or wrong, all at once
 */
export function readConfig(env: Environment): IndexerConfig {
  const present = variablesIn(env);
  const result = environmentSchema.safeParse(present);
  const wrong = result.success
    ? invariants.flatMap((invariant) => invariant(result.data))
    : result.error.issues.map((issue) => ({
        field: String(issue.path[0]),
        message:
          present[String(issue.path[0])] === undefined
            ? "is missing"
            : `${issue.path.length > 1 ? `item ${Number(issue.path[1]) + 1} ` : ""}${issue.message}`,
      }));
  const issues = [...wrong, ...keysOfOthers("indexer", present)];
  if (!result.success || issues.length > 0) throw configError(issues);

  const it = result.data;
  const ledgers = new Map(it.LEDGERS);
  return {
    databaseUrl: it.DATABASE_URL,
    databaseSchema: it.DATABASE_SCHEMA,
    port: it.INDEXER_PORT,
    rpcUrl: it.RPC_URL,
    chainId: it.CHAIN_ID,
    pollingIntervalMs: it.POLLING_INTERVAL_MS,
    logsBlockRange: it.LOGS_BLOCK_RANGE ?? null,
    startBlock: it.START_BLOCK,
    token: it.TOKEN_ADDRESS,
    transfers: transfersOf(it),
    anchoredLedger: it.ANCHORED_LEDGER ?? null,
    registries: registriesOf(it),
    ledgers,
    settlementUrl: it.SETTLEMENT_URL ?? null,
    // TRUST_PROXY counts the proxies in front of settlement. This process is one of them, so it has one fewer in
    // front of it.
    trustedProxies: Math.max(0, it.TRUST_PROXY - 1),
    clientLimits: {
      points: it.POINTS_PER_ADDRESS,
      streams: it.STREAMS_PER_ADDRESS,
      sockets: it.SOCKETS_PER_ADDRESS,
    },
    tokenDomain: { name: it.TOKEN_NAME, version: it.TOKEN_VERSION },
    insights: insightsOf(it),
    reportKey: it.REPORT_KEY ?? null,
    params: defineParams({
      tickBlocks: it.TICK_BLOCKS,
      operator: it.OPERATOR ?? null,
      claimAttestors: it.CLAIM_ATTESTORS,
      auditArbiters: it.AUDIT_ARBITERS,
      hubs: it.HUBS,
      feeRecipients: it.FEE_RECIPIENTS,
      escrows: Object.fromEntries(it.ESCROWS),
      ledgers: Object.fromEntries([...ledgers.keys()].map((id) => [id, recordTypeNames])),
      boundLedgers: it.BOUND_LEDGERS,
    }),
  };
}

function insightsOf(env: Settings): IndexerConfig["insights"] {
  const { INSIGHTS_PRICE_USDC: price, INSIGHTS_PAY_TO: payTo, X402_FACILITATOR_URL: facilitator } = env;
  if (price === undefined || payTo === undefined || facilitator === undefined) return null;
  return { amount: parseUsdc(price), payTo, facilitator };
}

function registriesOf(env: Settings): IndexerConfig["registries"] {
  const { ERC8004_REGISTRIES: registries, ERC8004_IMPLEMENTATIONS: more } = env;
  if (registries === undefined) return null;
  const { identity, reputation } = registries;
  return { identity, reputation, implementations: [...new Set([...PUBLISHED_IMPLEMENTATIONS, ...more])] };
}

/** On a chain with millions of transfers a day, nobody wants all of them on disk. */
function formOf({ TRANSFERS, CHAIN_ID }: Settings): LogForm {
  return TRANSFERS ?? (PUBLIC_CHAINS.includes(CHAIN_ID) ? "relevant" : "all");
}

function transfersOf(env: Settings): TransfersConfig {
  if (formOf(env) === "all") return { form: "all" };
  const { LOG_PORTAL_URL: portal, LOG_HYPERSYNC_URL: hypersync } = env;
  const indexed = [
    portal === undefined ? [] : [{ kind: "portal", url: portal, key: env.LOG_PORTAL_KEY } as const],
    hypersync === undefined
      ? []
      : [{ kind: "hypersync", url: hypersync, key: env.LOG_HYPERSYNC_KEY } as const],
  ].flat();
  return {
    form: "relevant",
    firstBlock: env.TOKEN_FIRST_BLOCK ?? 0,
    history: [...indexed, ...env.LOG_RPC_URLS.map((url) => ({ kind: "rpc", url }) as const)],
    agree: env.LOG_SOURCES_AGREE === "true",
    checkRounds: env.BALANCE_CHECK_TICKS,
  };
}

type Invariant = (env: Settings) => InputIssue[];

/** The rules between variables. Each returns what is wrong, or undefined. */
const invariants: Invariant[] = [
  followedLedgersHaveTheirContract,
  contractsDoNotOverlap,
  escrowsAreNamedOnce,
  ledgersAreNamedOnce,
  hubsAreNoContractsOfOurs,
  settlementIsAnotherServer,
  aPriceIsPaidToSomebody,
  aKeyHasItsSource,
  sourcesAgreeWithAnother,
  theTokenIsThereAtTheStart,
  registriesAreOnThisChain,
];

function followedLedgersHaveTheirContract(env: Settings): InputIssue[] {
  if (env.LEDGERS.length === 0 || env.ANCHORED_LEDGER !== undefined) return [];
  return [{ field: "ANCHORED_LEDGER", message: "is missing: LEDGERS names ledgers that are anchored in it" }];
}

function contractsDoNotOverlap(env: Settings): InputIssue[] {
  const seen = new Map<Address, string>([[env.TOKEN_ADDRESS, "TOKEN_ADDRESS"]]);
  const issues: InputIssue[] = [];
  const claim = (field: string, address: Address) => {
    const other = seen.get(address);
    if (other !== undefined && other !== field) issues.push({ field, message: `${address} is ${other} too` });
    else seen.set(address, field);
  };
  if (env.ANCHORED_LEDGER !== undefined) claim("ANCHORED_LEDGER", env.ANCHORED_LEDGER);
  for (const [escrow] of env.ESCROWS) claim("ESCROWS", escrow);
  if (env.ERC8004_REGISTRIES !== undefined) {
    claim("ERC8004_REGISTRIES", env.ERC8004_REGISTRIES.identity);
    claim("ERC8004_REGISTRIES", env.ERC8004_REGISTRIES.reputation);
  }
  return issues;
}

function escrowsAreNamedOnce(env: Settings): InputIssue[] {
  return duplicates(env.ESCROWS.map(([escrow]) => escrow)).map((escrow) => ({
    field: "ESCROWS",
    message: `names ${escrow} twice`,
  }));
}

function ledgersAreNamedOnce(env: Settings): InputIssue[] {
  return duplicates(env.LEDGERS.map(([id]) => id)).map((id) => ({
    field: "LEDGERS",
    message: `names ${id} twice`,
  }));
}

/**
 * An address cannot be a hub and an escrow: a hub's transfers are never hire payments, but an escrow has its
 * own events for them.
 */
function hubsAreNoContractsOfOurs(env: Settings): InputIssue[] {
  const ours = new Set<string>([env.TOKEN_ADDRESS, ...env.ESCROWS.map(([escrow]) => escrow)]);
  return env.HUBS.filter((hub) => ours.has(hub)).map((hub) => ({
    field: "HUBS",
    message: `${hub} is the token or an escrow`,
  }));
}

/** Forwarding a route to this process itself would never end. */
function settlementIsAnotherServer(env: Settings): InputIssue[] {
  if (env.SETTLEMENT_URL === undefined) return [];
  const url = new URL(env.SETTLEMENT_URL);
  const here = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].includes(url.hostname);
  if (!here || url.port !== String(env.INDEXER_PORT)) return [];
  return [{ field: "SETTLEMENT_URL", message: `is this server: INDEXER_PORT is ${env.INDEXER_PORT} too` }];
}

function aPriceIsPaidToSomebody(env: Settings): InputIssue[] {
  if (env.INSIGHTS_PRICE_USDC === undefined) return [];
  return (["INSIGHTS_PAY_TO", "X402_FACILITATOR_URL"] as const)
    .filter((field) => env[field] === undefined)
    .map((field) => ({ field, message: "is missing: INSIGHTS_PRICE_USDC asks for payments" }));
}

function aKeyHasItsSource(env: Settings): InputIssue[] {
  return (["PORTAL", "HYPERSYNC"] as const).flatMap((name) =>
    env[`LOG_${name}_KEY`] === undefined || env[`LOG_${name}_URL`] !== undefined
      ? []
      : [{ field: `LOG_${name}_KEY`, message: `is for a source of transfers: set LOG_${name}_URL too` }],
  );
}

function sourcesAgreeWithAnother(env: Settings): InputIssue[] {
  if (env.LOG_SOURCES_AGREE === "false") return [];
  const [first, second] = [
    env.LOG_PORTAL_URL,
    env.LOG_HYPERSYNC_URL,
    ...env.LOG_RPC_URLS,
    env.RPC_URL,
  ].filter((it) => it !== undefined);
  const field = "LOG_SOURCES_AGREE";
  if (second === undefined) {
    const message = "needs another source: set LOG_PORTAL_URL, LOG_HYPERSYNC_URL or LOG_RPC_URLS too";
    return [{ field, message }];
  }
  if (first !== second) return [];
  return [{ field, message: "compares the first two sources, and these are the same address" }];
}

function theTokenIsThereAtTheStart(env: Settings): InputIssue[] {
  if ((env.TOKEN_FIRST_BLOCK ?? 0) <= env.START_BLOCK) return [];
  return [{ field: "TOKEN_FIRST_BLOCK", message: `must not be after START_BLOCK, ${env.START_BLOCK}` }];
}

function registriesAreOnThisChain(env: Settings): InputIssue[] {
  const chainId = env.ERC8004_REGISTRIES?.chainId ?? env.CHAIN_ID;
  if (chainId === env.CHAIN_ID) return [];
  return [
    { field: "ERC8004_REGISTRIES", message: `is of the chain ${chainId}, and CHAIN_ID is ${env.CHAIN_ID}` },
  ];
}

function configError(issues: InputIssue[]): InvalidInputError {
  const lines = issues.map(({ field, message }) => `  ${field} ${message}`);
  return new InvalidInputError({
    issues,
    code: "invalid_configuration",
    message: `The indexer's configuration is not complete:\n${lines.join("\n")}`,
    hint: "Set these environment variables; .env.example explains each.",
  });
}

function segmentSource(text: string): SegmentSourceConfig {
  const isUrl = ["http:", "https:"].includes(protocolOf(text));
  return isUrl ? { kind: "http", url: text.replace(/\/+$/, "") } : { kind: "folder", path: text };
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : "";
}

function duplicates<T>(values: T[]): T[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}
