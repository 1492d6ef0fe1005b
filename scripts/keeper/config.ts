import type { Address } from "tallystick-protocol/address";
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
import { z } from "zod";

/** What a keeper is told from outside. */
export type KeeperConfig = {
  rpcUrl: string;
  chainId: number;
  escrow: Address;
  privateKey: Hex;
  host: string;
  port: number;
  /** Where instructions are kept until they are carried out. */
  folder: string;
  startBlock: bigint;
  roundMs: number;
  /** Who must be paid the published fee by hires that are to be relayed; absent: all are. */
  feeRecipient?: Address;
  /** The least amount of such a hire, in atomic units. */
  minAmount: bigint;
  /** Gas in a day for the deposits and deliveries of a buyer that no fee has paid for yet. */
  gasPerBuyer: number;
  /** Gas in a day for words of a contract wallet that fail. */
  gasPerWallet: number;
  /** Requests of one address in a minute; 0 for no limit. */
  requestsPerAddress: number;
  /** How many proxies stand in front and say who asks. */
  trustedProxies: number;
};

const wholeNumber = wholeNumberSetting(15);

const environmentSchema = z.object({
  RPC_URL: httpSetting,
  CHAIN_ID: wholeNumber,
  ESCROWS: z.string().default(""),
  START_BLOCK: wholeNumber.default(0),
  KEEPER_PRIVATE_KEY: privateKeySetting,
  KEEPER_HOST: z.string().default("127.0.0.1"),
  KEEPER_PORT: portSetting.default(42_071),
  KEEPER_DIR: z.string().default("./.tallystick/keeper"),
  KEEPER_ROUND_MS: wholeNumber.refine((ms) => ms >= 100, "must be at least 100").default(2_000),
  KEEPER_FEE_RECIPIENT: addressSetting.optional(),
  KEEPER_MIN_AMOUNT_USDC: z
    .string()
    .refine((text) => priceUsdcSchema.safeParse(text).success, "must be an amount like 0.01")
    .default("0.01"),
  KEEPER_GAS_PER_BUYER: wholeNumber.default(1_000_000),
  KEEPER_GAS_PER_WALLET: wholeNumber.default(200_000),
  KEEPER_REQUESTS_PER_ADDRESS: wholeNumber.default(1_200),
  KEEPER_TRUST_PROXY: wholeNumber.refine((count) => count <= 10, "must be at most 10").default(0),
});

/** The variables that a keeper reads; no others need to be in its environment. */
export const keeperVariables = Object.keys(environmentSchema.shape);

/**
 * Reads a keeper's configuration from environment variables; an empty one counts as absent.
 *
 * @param escrow the contract, when `ESCROWS` names several
 * @throws InvalidInputError naming every variable at fault
 */
export function readKeeperConfig(environment: Environment, escrow?: string): KeeperConfig {
  const it = readEnvironment(environment, environmentSchema, "keeper");
  return {
    rpcUrl: it.RPC_URL,
    chainId: it.CHAIN_ID,
    escrow: escrowIn(it.ESCROWS, escrow),
    privateKey: it.KEEPER_PRIVATE_KEY,
    host: it.KEEPER_HOST,
    port: it.KEEPER_PORT,
    folder: it.KEEPER_DIR,
    startBlock: BigInt(it.START_BLOCK),
    roundMs: it.KEEPER_ROUND_MS,
    minAmount: parseUsdc(it.KEEPER_MIN_AMOUNT_USDC),
    gasPerBuyer: it.KEEPER_GAS_PER_BUYER,
    gasPerWallet: it.KEEPER_GAS_PER_WALLET,
    requestsPerAddress: it.KEEPER_REQUESTS_PER_ADDRESS,
    trustedProxies: it.KEEPER_TRUST_PROXY,
    ...(it.KEEPER_FEE_RECIPIENT !== undefined && { feeRecipient: it.KEEPER_FEE_RECIPIENT }),
  };
}

/** The one escrow that is kept: the one asked for, else the only one that `ESCROWS` names. */
function escrowIn(escrows: string, wanted: string | undefined): Address {
  const named = escrows
    .split(",")
    .map((entry) => entry.split("=")[0]?.trim() ?? "")
    .filter((text) => text !== "");
  const chosen = wanted === undefined && named.length === 1 ? named[0] : wanted;
  const read = addressSetting.safeParse(chosen);
  if (read.success) return read.data;
  const message =
    chosen === undefined
      ? `must name one escrow, or --escrow has to say which of ${named.length}`
      : "must be 0x and 40 hex digits";
  const field = wanted === undefined ? "ESCROWS" : "--escrow";
  throw new InvalidInputError({ code: "invalid_configuration", issues: [{ field, message }] });
}
