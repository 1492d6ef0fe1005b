import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { concatHex, numberToHex, type PublicClient, size, sliceHex, toFunctionSelector } from "viem";
import { ChainError } from "../errors.ts";

/**
 * The result of a call: whether it succeeded, the gas that it used, and the name of the escrow's own error if it
 * gave one.
 */
export type TriedCall = { done: boolean; gasUsed: bigint; error: string | undefined };

/** Gas for the program itself: creating a contract and carrying its bytes, at most 49,152 of them (EIP-3860). */
const PROGRAM_GAS = 1_000_000n;

/**
 * Tries a call without sending it (`eth_call`), with exactly `gas`, as an item of a batch would run.
 *
 * A program that runs once makes the call from within the EVM. So everything that the call does comes back as a
 * result: a revert, burnt gas, an invalid opcode, an answer of a megabyte. Every error of the `eth_call` then comes
 * from the RPC, and never looks like a refusal. The call costs the RPC at most `gas`. An `eth_estimateGas` for a
 * wallet that burns all its gas would cost the gas of a whole block.
 *
 * @param call.blockNumber the block after which it is tried. Default: the latest
 * @throws ChainError `chain_unreachable`: the chain cannot be asked
 */
export async function tryCall(
  client: Pick<PublicClient, "call">,
  call: { to: Address; data: Hex; gas: bigint; blockNumber?: bigint },
): Promise<TriedCall> {
  let data: Hex | undefined;
  try {
    const gas = call.gas + call.gas / 63n + PROGRAM_GAS;
    const { blockNumber } = call;
    ({ data } = await client.call({
      ...{ data: program(call), gas },
      ...(blockNumber !== undefined && { blockNumber }),
    }));
  } catch (cause) {
    throw unreachable("The chain could not be asked for the result of a call.", cause);
  }
  if (!isHex(data, 128)) throw unreachable("The RPC gives an impossible result for a call.");
  const word = (n: number): bigint => BigInt(sliceHex(data, 32 * n, 32 * (n + 1)));
  // The caller keeps 1/64 of the gas (EIP-150). An RPC that reduced the gas has tried another call.
  if ((word(3) / 64n) * 63n < call.gas)
    throw unreachable(`The RPC gives an eth_call less than ${call.gas} gas.`);
  return { done: word(0) === 1n, gasUsed: word(1), error: errorName(sliceHex(data, 64, 68)) };
}

/**
 * The bytes of a program that makes the call and returns four words: whether the call succeeded, the gas that it
 * used, the first 4 bytes of its answer, and the gas at the start.
 */
function program({ to, data, gas }: { to: Address; data: Hex; gas: bigint }): Hex {
  const length = numberToHex(size(data), { size: 3 });
  const before = (end: number): Hex =>
    concatHex([
      ...["0x62", length, "0x62", numberToHex(end, { size: 3 }), "0x600039"], // CODECOPY what is sent
      "0x5a", // GAS
      ...["0x60006000", "0x62", length, "0x60006000", "0x73", to],
      ...["0x63", numberToHex(gas, { size: 4 }), "0xf1"], // CALL
      "0x5a8203", // GAS, DUP3, SUB: what it took
      "0x602052600052", // MSTORE both
      "0x6000604052", // clears the third word, which may hold a part of the call's data
      "0x60033d1160021b600060403e", // RETURNDATACOPY 4 bytes if more than 3 were answered
      "0x606052", // MSTORE the gas at first
      "0x60806000f3", // RETURN
    ] as Hex[]);
  // The length of the program does not depend on the numbers in it.
  return concatHex([before(size(before(0))), data]);
}

const errors = new Map<string, string>(
  hireEscrowAbi
    .filter((item) => item.type === "error")
    .map(({ name, inputs }) => [toFunctionSelector(`${name}(${inputs.map(({ type }) => type)})`), name]),
);

/** The name of one of the contract's own errors. A wallet or a token may have returned anything. */
function errorName(selector: Hex): string | undefined {
  return errors.get(selector);
}

/** The error for a question that the chain did not answer. */
export function unreachable(message: string, cause?: unknown): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message,
    hint: "Nothing was sent. Try again later.",
    cause,
  });
}
