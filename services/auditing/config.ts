import { type Address, addressSchema } from "tallystick-protocol/address";
import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  addressSetting,
  httpSetting,
  portSetting,
  privateKeySetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { z } from "zod";

/** All settings of an operator's process. Amounts are atomic units. */
export type AuditingConfig = {
  nodeUrl: string;
  rpcUrl: string;
  network: PaymentNetwork;
  escrows: readonly Address[];
  /** The key that signs records for the operator. */
  operatorKey: Hex;
  /** The key that pays the auditors, and the gas. */
  poolKey: Hex;
  /** The arbiter's key. It refunds held escrows that name the arbiter's account. */
  arbiterKey?: Hex;
  /** The folder of the process's stored state. */
  folder: string;
  host: string;
  port: number;
  roundMs: number;
  /** The most that may be paid to auditors in a period of 30 days. The periods do not overlap. */
  budget: bigint;
  /** The smallest payment to an auditor. A smaller debt waits until it is large enough. */
  least: bigint;
  /** Whether an auditor that asks for its fee gets it before it judges. */
  payBefore: boolean;
  confirmations: number;
  /** A file with the canaries to arrange. */
  canariesFile?: string;
  devMode: boolean;
};

/** The chain id of Hardhat and Anvil. Such a chain undoes no block, so one confirmation is enough. */
const LOCAL_CHAIN = 31_337;

const wholeNumber = wholeNumberSetting(9);
const flag = (byDefault: "0" | "1") =>
  z
    .enum(["0", "1", "false", "true"])
    .default(byDefault)
    .transform((text) => text === "1" || text === "true");
const usdc = z
  .string()
  .refine((text) => priceUsdcSchema.safeParse(text).success, "must be an amount like 0.01")
  .transform((text) => parseUsdc(text));

const environmentSchema = z.object({
  AUDIT_NODE_URL: httpSetting.default("http://127.0.0.1:42069"),
  RPC_URL: httpSetting,
  CHAIN_ID: wholeNumberSetting(15),
  TOKEN_ADDRESS: addressSetting,
  TOKEN_NAME: z.string().default("USD Coin"),
  TOKEN_VERSION: z.string().default("2"),
  ESCROWS: z.string().default(""),
  AUDIT_OPERATOR_PRIVATE_KEY: privateKeySetting,
  AUDIT_POOL_PRIVATE_KEY: privateKeySetting,
  AUDIT_ARBITER_PRIVATE_KEY: privateKeySetting.optional(),
  AUDIT_DIR: z.string().default("./.tallystick/auditing"),
  AUDIT_HOST: z.string().default("127.0.0.1"),
  AUDIT_PORT: portSetting.default(42_073),
  AUDIT_ROUND_MS: wholeNumber.refine((ms) => ms >= 100, "must be at least 100").default(60_000),
  AUDIT_BUDGET_USDC: usdc,
  AUDIT_LEAST_USDC: usdc.default(50_000n),
  AUDIT_PAY_BEFORE: flag("1"),
  AUDIT_CONFIRMATIONS: wholeNumber
    .refine((count) => count >= 1 && count <= 128, "must be from 1 to 128")
    .optional(),
  AUDIT_CANARIES: z.string().optional(),
  DEV_MODE: flag("0"),
});

/** The variables that the process reads. It needs no others. */
export const auditingVariables = Object.keys(environmentSchema.shape);

/**
 * Reads the configuration from environment variables. An empty variable counts as absent.
 *
 * @throws InvalidInputError naming the variables at fault. `ESCROWS` is checked only when the others are right
 */
export function readAuditingConfig(environment: Environment): AuditingConfig {
  const env = readEnvironment(environment, environmentSchema, "auditing");
  const local = env.CHAIN_ID === LOCAL_CHAIN;
  return {
    nodeUrl: env.AUDIT_NODE_URL,
    rpcUrl: env.RPC_URL,
    network: {
      chainId: env.CHAIN_ID,
      token: env.TOKEN_ADDRESS,
      name: env.TOKEN_NAME,
      version: env.TOKEN_VERSION,
    },
    escrows: escrowsIn(env.ESCROWS),
    operatorKey: env.AUDIT_OPERATOR_PRIVATE_KEY,
    poolKey: env.AUDIT_POOL_PRIVATE_KEY,
    ...(env.AUDIT_ARBITER_PRIVATE_KEY !== undefined && { arbiterKey: env.AUDIT_ARBITER_PRIVATE_KEY }),
    folder: env.AUDIT_DIR,
    host: env.AUDIT_HOST,
    port: env.AUDIT_PORT,
    roundMs: env.AUDIT_ROUND_MS,
    budget: env.AUDIT_BUDGET_USDC,
    least: env.AUDIT_LEAST_USDC,
    payBefore: env.AUDIT_PAY_BEFORE,
    confirmations: env.AUDIT_CONFIRMATIONS ?? (local ? 1 : 64),
    ...(env.AUDIT_CANARIES !== undefined && { canariesFile: env.AUDIT_CANARIES }),
    devMode: env.DEV_MODE,
  };
}

/** The contracts of `ESCROWS`: `0x…=provider`, comma separated. */
function escrowsIn(text: string): Address[] {
  const named = text.split(",").flatMap((entry) => entry.split("=")[0]?.trim().toLowerCase() || []);
  const read = z.array(addressSchema).safeParse(named);
  if (read.success) return read.data;
  const issues = [{ field: "ESCROWS", message: "must be addresses with their providers: 0x…=id" }];
  throw new InvalidInputError({ code: "invalid_configuration", issues });
}
