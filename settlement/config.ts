import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { type Address, addressSchema } from "../protocol/address.ts";
import { InvalidInputError, invalidInputFromZod } from "../protocol/errors.ts";
import type { Hex } from "../protocol/hex.ts";
import { ledgerId } from "../protocol/ledger/anchor.ts";

/** Where and how the ledger is anchored. */
export type AnchoringConfig = {
  privateKey: Hex;
  writer: Address;
  contract: Address;
  rpcUrl: string;
  chainId: number;
  intervalSeconds: number;
  maxEntries: number;
};

/** Everything the service is told from outside. */
export type SettlementConfig = {
  host: string;
  port: number;
  ledgerDir: string;
  /** The ledger's id on chain, which names its folder; `local` when it is not anchored. */
  ledger: Hex | "local";
  origin: string;
  apiKeys: string[];
  minConfidence: number;
  maxDriftAllowed: number;
  devMode: boolean;
  rpcUrl?: string;
  anchoring?: AnchoringConfig;
};

const share = z.coerce.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1");
const wholeNumber = z
  .string()
  .regex(/^[0-9]{1,9}$/, "must be a whole number")
  .transform(Number);
const contractAddress = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);

const environmentSchema = z.object({
  SETTLEMENT_HOST: z.string().default("127.0.0.1"),
  SETTLEMENT_PORT: wholeNumber.refine((port) => port < 65_536, "must be below 65536").default(42_070),
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
  DEV_MODE: z
    .enum(["0", "1", "false", "true"])
    .default("0")
    .transform((text) => text === "1" || text === "true"),
  ANCHOR_PRIVATE_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits")
    .transform((text) => text as Hex)
    .optional(),
  ANCHORED_LEDGER: contractAddress.optional(),
  RPC_URL: z.url({ protocol: /^https?$/, message: "must be an http or https address" }).optional(),
  CHAIN_ID: wholeNumber.optional(),
  ANCHOR_INTERVAL_SECONDS: z.coerce.number().positive("must be more than 0").max(86_400).default(30),
  ANCHOR_MAX_ENTRIES: wholeNumber.refine((count) => count > 0, "must be at least 1").default(1_000),
});

/**
 * Reads the configuration from environment variables; an empty one counts as absent. Without `ANCHOR_PRIVATE_KEY` the
 * ledger is not anchored.
 *
 * @throws InvalidInputError naming every variable at fault
 */
export function readConfig(environment: { [name: string]: string | undefined }): SettlementConfig {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) throw invalidInputFromZod(parsed.error, "", "invalid_configuration");
  const env = parsed.data;
  const anchoring = readAnchoring(env);
  return {
    host: env.SETTLEMENT_HOST,
    port: env.SETTLEMENT_PORT,
    ledgerDir: env.LEDGER_DIR,
    ledger: anchoring ? ledgerId({ ...anchoring, origin: env.LEDGER_ORIGIN }) : "local",
    origin: env.LEDGER_ORIGIN,
    apiKeys: env.SETTLEMENT_API_KEYS,
    minConfidence: env.MIN_CONFIDENCE,
    maxDriftAllowed: env.MAX_DRIFT_ALLOWED,
    devMode: env.DEV_MODE,
    ...(env.RPC_URL !== undefined && { rpcUrl: env.RPC_URL }),
    ...(anchoring && { anchoring }),
  };
}

/** Invariant: whoever anchors says with which contract, on which chain, and by which RPC. */
function readAnchoring(env: z.output<typeof environmentSchema>): AnchoringConfig | undefined {
  if (env.ANCHOR_PRIVATE_KEY === undefined) return undefined;
  const { ANCHORED_LEDGER: contract, RPC_URL: rpcUrl, CHAIN_ID: chainId } = env;
  const issues = Object.entries({ ANCHORED_LEDGER: contract, RPC_URL: rpcUrl, CHAIN_ID: chainId })
    .filter(([, value]) => value === undefined)
    .map(([field]) => ({ field, message: "must be set when ANCHOR_PRIVATE_KEY is" }));
  if (contract === undefined || rpcUrl === undefined || chainId === undefined) {
    throw new InvalidInputError({ issues, code: "invalid_configuration" });
  }
  return {
    privateKey: env.ANCHOR_PRIVATE_KEY,
    writer: privateKeyToAccount(env.ANCHOR_PRIVATE_KEY).address.toLowerCase() as Address,
    contract,
    rpcUrl,
    chainId,
    intervalSeconds: env.ANCHOR_INTERVAL_SECONDS,
    maxEntries: env.ANCHOR_MAX_ENTRIES,
  };
}
