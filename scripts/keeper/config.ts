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
import { base, baseSepolia } from "tallystick-sdk/chain/paymentNetwork";
import { z } from "zod";

/** The settings of a keeper. */
export type KeeperConfig = {
  rpcUrl: string;
  chainId: number;
  escrow: Address;
  /** The token that the escrow must hold; absent if the chain's token is not known. */
  token?: Address;
  privateKey: Hex;
  host: string;
  port: number;
  /** The folder that stores instructions until they are carried out. */
  folder: string;
  startBlock: bigint;
  roundMs: number;
  /** The keeper relays only hires that pay the published fee to this account; absent: it relays all hires. */
  feeRecipient?: Address;
  /** The smallest amount of a hire that the keeper relays, in atomic units. */
  minAmount: bigint;
  /** The most gas per day and buyer for deposits and deliveries. Each hire that pays the fee adds to it. */
  gasPerBuyer: number;
  /** The most gas per day and contract wallet for signed instructions that fail. */
  gasPerWallet: number;
  /** The most requests of one address per minute; 0 for no limit. */
  requestsPerAddress: number;
  /** How many trusted proxies are in front of the keeper. They name the client's address. */
  trustedProxies: number;
};

const wholeNumber = wholeNumberSetting(15);

const environmentSchema = z.object({
  RPC_URL: httpSetting,
  CHAIN_ID: wholeNumber,
  ESCROWS: z.string().default(""),
  TOKEN_ADDRESS: addressSetting.optional(),
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

/** The variables that a keeper reads. It needs no others. */
export const keeperVariables = Object.keys(environmentSchema.shape);

/**
 * Reads a keeper's configuration from environment variables. An empty variable counts as absent.
 *
 * @param escrow the contract to keep; needed when `ESCROWS` names several
 * @throws InvalidInputError naming every variable at fault
 */
export function readKeeperConfig(environment: Environment, escrow?: string): KeeperConfig {
  const it = readEnvironment(environment, environmentSchema, "keeper");
  const known = [base, baseSepolia].find(({ chainId }) => chainId === it.CHAIN_ID);
  const token = it.TOKEN_ADDRESS ?? known?.token;
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
    ...(token !== undefined && { token }),
    ...(it.KEEPER_FEE_RECIPIENT !== undefined && { feeRecipient: it.KEEPER_FEE_RECIPIENT }),
  };
}

/** The escrow to keep: the one that the caller names, otherwise the only one in `ESCROWS`. */
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
      ? `must name one escrow; it names ${named.length}, so choose one by --escrow`
      : "must be 0x and 40 hex digits";
  const field = wanted === undefined ? "ESCROWS" : "--escrow";
  throw new InvalidInputError({ code: "invalid_configuration", issues: [{ field, message }] });
}
