import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { concatHex, encodeFunctionData, type Hex, toHex } from "viem";
import type { LocalChain } from "../support/localChain.ts";
import { allowanceSlot, balanceSlot } from "./actors.ts";

/** In a generated log, wallets from this number on are strangers. */
const FIRST_STRANGER = 1_000n;
const STRANGERS = 500;
/**
 * A contract that moves the money of a crowd of strangers, so that thousands of transfers need only a few transactions.
 */
export const CROWD: Address = "0xc40d000000000000000000000000000000c40d00";
const CALLS_PER_TRANSACTION = 250;
export const CROWD_GAS = 12_000_000n;
const RICH = toHex(10n ** 15n, { size: 32 });
const ENDLESS = toHex(2n ** 256n - 1n, { size: 32 });

/** Whether a wallet of a generated log is a stranger. */
export function isStranger(address: Address): boolean {
  const n = BigInt(address);
  return n >= FIRST_STRANGER && n < FIRST_STRANGER + BigInt(STRANGERS);
}

/** Whether an event is a transfer between two strangers. Such a transfer has no effect on any agent. */
export function isOfCrowd(event: DeriveEvent): event is TransferEvent {
  return event.kind === "transfer" && isStranger(event.from) && isStranger(event.to);
}

/**
 * The address on the chain that a stranger of a log has, as a member of the crowd. Members are the same in all logs.
 */
function member(stranger: Address): Address {
  return `0xc40d${stranger.slice(6)}`;
}

/** Whether an address on the chain is a member of the crowd. */
export function isMember(address: Address): boolean {
  return address.startsWith("0xc40d");
}

/** Puts the contract on the chain, and gives the crowd money without a transfer. */
export async function prepareCrowd(chain: LocalChain): Promise<void> {
  const members = Array.from({ length: STRANGERS }, (_, n) =>
    member(`0x${(FIRST_STRANGER + BigInt(n)).toString(16).padStart(40, "0")}`),
  );
  await chain.store(chain.token, [
    ...members.map((it) => [balanceSlot(it), RICH] as const),
    ...members.map((it) => [allowanceSlot(it, CROWD), ENDLESS] as const),
  ]);
  await chain.client.setCode({ address: CROWD, bytecode: codeOf(chain.token) });
}

/** The call data of the transactions with which the contract makes these transfers. */
export function crowdCalls(transfers: readonly TransferEvent[]): Hex[] {
  const calls = transfers.map(({ from, to, value }) =>
    encodeFunctionData({
      abi: testUsdcAbi,
      functionName: "transferFrom",
      args: [member(from), member(to), BigInt(value)],
    }),
  );
  const all: Hex[] = [];
  for (let n = 0; n < calls.length; n += CALLS_PER_TRANSACTION) {
    all.push(concatHex(calls.slice(n, n + CALLS_PER_TRANSACTION)));
  }
  return all;
}

/**
 * The code of a contract that calls the token with each hundred bytes of its call data, and fails if one call fails.
 */
function codeOf(token: Address): Hex {
  return concatHex([
    // i = 0; while (i < calldatasize) {
    "0x60005b36811015603b57",
    // calldatacopy(0, i, 100); if (!call(gas, token, 0, 0, 100, 0, 0)) goto failed;
    "0x6064816000376000600060646000600073",
    token,
    "0x5af115603d57",
    // i += 100; } stop; failed: revert(0, 0)
    "0x606401600256",
    "0x5b005b60006000fd",
  ]);
}
