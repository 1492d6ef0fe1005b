import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { isAddress } from "viem";

/** The USDC that Circle deployed, by chain id. */
const USDC: Record<number, Address> = {
  1: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
  8453: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  84532: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
};

/** The chain to fork, and the contracts to use there. */
export type ForkSettings = {
  url: string;
  /** The block to fork; by default a recent block. */
  blockNumber?: number;
  /** The token to use; by default the chain's USDC. */
  token?: Address;
  /** An account with enough of the token. Necessary only if the tests cannot mint the token. */
  holder?: Address;
  /** A HireEscrow on that chain, with its token and guardian. By default the tests deploy an escrow on the fork. */
  escrow?: Address;
  /** An AnchoredLedger on that chain; undefined if no ledger is tested. */
  ledger?: Address;
};

/**
 * Reads FORK_URL, FORK_BLOCK, FORK_TOKEN, FORK_HOLDER, FORK_ESCROW and FORK_LEDGER.
 *
 * @returns undefined without FORK_URL
 * @throws TallystickError `bad_fork_setting`
 */
export function readForkSettings(env: NodeJS.ProcessEnv): ForkSettings | undefined {
  const url = env.FORK_URL;
  if (!url) return undefined;
  const settings: ForkSettings = { url };
  if (env.FORK_BLOCK) {
    if (!/^\d+$/.test(env.FORK_BLOCK)) throw bad("FORK_BLOCK", env.FORK_BLOCK, "a block number in decimal");
    settings.blockNumber = Number(env.FORK_BLOCK);
  }
  if (env.FORK_TOKEN) settings.token = readAddress("FORK_TOKEN", env.FORK_TOKEN);
  if (env.FORK_HOLDER) settings.holder = readAddress("FORK_HOLDER", env.FORK_HOLDER);
  if (env.FORK_ESCROW) settings.escrow = readAddress("FORK_ESCROW", env.FORK_ESCROW);
  if (env.FORK_LEDGER) settings.ledger = readAddress("FORK_LEDGER", env.FORK_LEDGER);
  if (settings.escrow && settings.token) {
    throw new TallystickError({
      code: "bad_fork_setting",
      message: "FORK_TOKEN is named beside FORK_ESCROW, whose token is settled.",
      hint: "Leave out FORK_TOKEN.",
      field: "FORK_TOKEN",
    });
  }
  return settings;
}

/**
 * The token to use on a chain.
 *
 * @throws TallystickError `unknown_usdc`
 */
export function tokenOf(settings: ForkSettings, chainId: number): Address {
  const token = settings.token ?? USDC[chainId];
  if (token !== undefined) return token;
  throw new TallystickError({
    code: "unknown_usdc",
    message: `The address of USDC on chain ${chainId} is not known here.`,
    hint: "Name the token in FORK_TOKEN.",
  });
}

function readAddress(field: string, value: string): Address {
  if (!isAddress(value, { strict: false })) throw bad(field, value, "an address: 0x and 40 hex digits");
  return value.toLowerCase() as Address;
}

function bad(field: string, value: string, wanted: string): TallystickError {
  return new TallystickError({
    code: "bad_fork_setting",
    message: `${field} is "${value}", and should be ${wanted}.`,
    hint: `Correct ${field}.`,
    field,
  });
}
