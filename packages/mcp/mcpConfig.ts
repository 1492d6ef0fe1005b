import { type Address, addressSchema } from "tallystick-protocol/address";
import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { InvalidInputError, invalidInputFromZod } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { keysOfOthers } from "tallystick-protocol/keysOfOthers";
import { type LedgerName, ledgerNameSchema } from "tallystick-protocol/records/ledgerName";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { listingSources } from "tallystick-sdk/buyer/listingSources";
import { base, baseSepolia, type PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { createPublicFetch } from "tallystick-sdk/net/publicFetch";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createQueryClient } from "tallystick-sdk/query/createQueryClient";
import type { Fetch } from "tallystick-sdk/requestService";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { createPublicClient, type PublicClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { allowedEscrows, type EscrowSetting, escrowsSchema } from "./escrowSetting.ts";
import { createHireDesk, HANDLE_AFTER_MS } from "./hireDesk.ts";
import type { McpContext, McpWallet, SpendCap } from "./mcpContext.ts";
import { createResumeDesk } from "./resumeDesk.ts";

const environmentSchema = z.object({
  TALLYSTICK_URL: z.url({ protocol: /^https?$/, message: "must be the http or https address of a node" }),
  TALLYSTICK_PRIVATE_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits")
    .transform((text) => text as Hex)
    .optional(),
  TALLYSTICK_SPEND_CAP_USDC: priceUsdcSchema.optional(),
  TALLYSTICK_MAX_PER_HIRE_USDC: priceUsdcSchema.optional(),
  TALLYSTICK_STATE_DIR: z.string().optional(),
  TALLYSTICK_API_KEY: z.string().optional(),
  TALLYSTICK_DISPATCH_URL: z
    .url({ protocol: /^https?$/, message: "must be the http or https address of a dispatcher" })
    .optional(),
  TALLYSTICK_DISPATCH_KEY: z.string().optional(),
  TALLYSTICK_LEDGER: ledgerNameSchema.optional(),
  TALLYSTICK_CHAIN_ID: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, "must be a chain's number")
    .transform(Number)
    .default(8453),
  TALLYSTICK_TOKEN: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(addressSchema)
    .optional(),
  TALLYSTICK_RPC_URL: z
    .url({ protocol: /^https?$/, message: "must be the http or https address of a chain's RPC" })
    .optional(),
  TALLYSTICK_ESCROWS: escrowsSchema.default({}),
  TALLYSTICK_MCP_KEY: z.string().min(16, "must have at least 16 characters").optional(),
  TALLYSTICK_DEV_MODE: z.enum(["0", "1"], { error: "must be 0 or 1" }).default("0"),
});

/** The variables that an MCP server reads. It needs no other variables. */
export const mcpVariables = Object.keys(environmentSchema.shape);

/** The settings of an MCP server. Amounts are in atomic units. */
export type McpConfig = {
  baseUrl: string;
  privateKey: Hex | undefined;
  spendCap: bigint | undefined;
  maxPerHire: bigint | undefined;
  /**
   * The folder that stores the spent budget and unfinished hires. If absent, they are lost when the process
   * ends.
   */
  stateDir: string | undefined;
  apiKey: string | undefined;
  /** The dispatcher and its key: both or none. */
  dispatch: { url: string; key: string } | undefined;
  /** The ledger for which ratings and telemetry are signed. If absent, it is the ledger that the node names first. */
  ledger: LedgerName | undefined;
  network: PaymentNetwork;
  /** The chain's RPC; without it no direct payment is reported as paid. */
  rpcUrl: string | undefined;
  /** The escrows on that chain that may hold the wallet's money, by payment mode. */
  escrows: { [paymentMode: string]: EscrowSetting };
  devMode: boolean;
  /** The key that HTTP callers must send. */
  mcpKey: string | undefined;
};

/**
 * Reads the configuration from the environment. Empty values count as absent.
 *
 * @throws InvalidInputError naming every variable at fault
 */
export function readMcpConfig(environment: { [name: string]: string | undefined }): McpConfig {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const foreign = keysOfOthers("mcp", given);
  if (foreign.length > 0) throw new InvalidInputError({ issues: foreign, code: "invalid_config" });
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) throw invalidInputFromZod(parsed.error, "", "invalid_config");
  const env = parsed.data;
  const cap = env.TALLYSTICK_SPEND_CAP_USDC;
  const perHire = env.TALLYSTICK_MAX_PER_HIRE_USDC;
  if (cap === undefined && perHire !== undefined) {
    throw new InvalidInputError({
      code: "invalid_config",
      issues: [
        { field: "TALLYSTICK_SPEND_CAP_USDC", message: "is required with TALLYSTICK_MAX_PER_HIRE_USDC" },
      ],
    });
  }
  return {
    baseUrl: env.TALLYSTICK_URL.replace(/\/$/, ""),
    privateKey: env.TALLYSTICK_PRIVATE_KEY,
    spendCap: cap === undefined ? undefined : parseUsdc(cap),
    maxPerHire: perHire === undefined ? undefined : parseUsdc(perHire),
    stateDir: env.TALLYSTICK_STATE_DIR,
    apiKey: env.TALLYSTICK_API_KEY,
    dispatch: dispatcherOf(env.TALLYSTICK_DISPATCH_URL, env.TALLYSTICK_DISPATCH_KEY),
    ledger: env.TALLYSTICK_LEDGER,
    network: networkOf(env.TALLYSTICK_CHAIN_ID, env.TALLYSTICK_TOKEN),
    rpcUrl: env.TALLYSTICK_RPC_URL,
    escrows: env.TALLYSTICK_ESCROWS,
    devMode: env.TALLYSTICK_DEV_MODE === "1",
    mcpKey: env.TALLYSTICK_MCP_KEY,
  };
}

/** The chain and its token. The default is USDC on Base and on Base Sepolia; another chain needs the token's address. */
function networkOf(chainId: number, token: Address | undefined): PaymentNetwork {
  const known = [base, baseSepolia].find((network) => network.chainId === chainId);
  if (known === undefined && token === undefined) {
    throw new InvalidInputError({
      code: "invalid_config",
      issues: [
        {
          field: "TALLYSTICK_TOKEN",
          message: `is required for chain ${chainId}: the addresses of USDC on Base and Base Sepolia are known, and no others`,
        },
      ],
    });
  }
  return { ...(known ?? base), chainId, ...(token !== undefined && { token }) };
}

/** Reads the dispatcher's URL and key; undefined if there is none. */
function dispatcherOf(url: string | undefined, key: string | undefined): McpConfig["dispatch"] {
  if (url !== undefined && key !== undefined) return { url, key };
  if (url === undefined && key === undefined) return undefined;
  const names = ["TALLYSTICK_DISPATCH_URL", "TALLYSTICK_DISPATCH_KEY"] as const;
  const [missing, given] = url === undefined ? names : [names[1], names[0]];
  throw new InvalidInputError({
    code: "invalid_config",
    issues: [{ field: missing, message: `is required with ${given}` }],
  });
}

/**
 * Makes the context of the tools from the configuration.
 *
 * @param store stores the budget and unfinished hires across restarts; without it they are lost when the
 * process ends
 */
export function createMcpContext(
  config: McpConfig,
  options: { store?: KeyValueStore; fetch?: Fetch; now?: () => number; client?: PublicClient } = {},
): McpContext {
  const { baseUrl, privateKey, apiKey, dispatch, devMode, rpcUrl } = config;
  const { store, fetch, now = Date.now } = options;
  const client =
    options.client ?? (rpcUrl ? createPublicClient({ transport: rpcTransport(rpcUrl) }) : undefined);
  const ask = fetch ?? globalThis.fetch.bind(globalThis);
  const sellerFetch = fetch || devMode ? ask : createPublicFetch();
  const account = privateKey && privateKeyToAccount(privateKey);
  const wallet: McpWallet | undefined = account && {
    account,
    address: account.address.toLowerCase() as Address,
  };
  const query = createQueryClient({ baseUrl, fetch: ask });
  return {
    baseUrl,
    query,
    wallet,
    spend:
      wallet &&
      spendCapOf(config, wallet, { store, fetch: ask, sellerFetch, now, ...(client && { client }) }),
    apiKey,
    dispatch,
    offers: new Map(),
    counters: new Map(),
    listings: listingSources({ node: query, sellerFetch, devMode, client }),
    desk: createHireDesk(now),
    resumes: createResumeDesk(),
    handleAfterMs: HANDLE_AFTER_MS,
    devMode,
    fetch: ask,
    chain: client,
    sellerFetch,
    now,
  };
}

function spendCapOf(
  { baseUrl, network, ledger, escrows, spendCap: total, maxPerHire, devMode }: McpConfig,
  { account, address }: McpWallet,
  {
    store,
    fetch,
    sellerFetch,
    now,
    client,
  }: {
    store: KeyValueStore | undefined;
    fetch: Fetch;
    sellerFetch: Fetch;
    now: () => number;
    client?: PublicClient;
  },
): SpendCap | undefined {
  if (total === undefined) return undefined;
  const budget = store ? storeBudget({ store, name: `mcp-${address}`, limit: total }) : memoryBudget(total);
  const buyer = createBuyer({
    account,
    baseUrl,
    network,
    budget,
    escrows: allowedEscrows(escrows, fetch),
    devMode,
    fetch,
    sellerFetch,
    now,
    ...(ledger !== undefined && { ledger }),
    ...(client && { client }),
    ...(store && { journal: store }),
  });
  return {
    budget,
    total,
    perHire: maxPerHire ?? total,
    paymentModes: ["direct", ...Object.keys(escrows)],
    buyer,
  };
}
