import { concatHex, encodeFunctionData, type Hex, numberToHex, parseAbi, size } from "viem";
import type { Address } from "../address.ts";

/**
 * The gas that a wallet gets to check a signature. It is always the same, because the answer must not depend
 * on who asks.
 */
export const WALLET_GAS = 3_000_000;

/**
 * The gas of the whole probe: the wallet's part, the 64th that the EVM holds back, and the cost of the
 * signature's data.
 */
export const PROBE_GAS = 6_000_000n;

/**
 * The longest signature of a question, in bytes. Init code has at most 49,152 bytes (EIP-3860), and the probe
 * contains the signature.
 */
export const MAX_SIGNATURE_BYTES = 40_000;

/** The possible answers of the probe, which is one word. */
export const VERDICTS = {
  no: 0n,
  yes: 1n,
  noContract: 2n,
  noState: 3n,
  tooLittleGas: 4n,
  otherTerms: 5n,
} as const;

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

/**
 * The gas that must be left when the probe calls the wallet. It is more than {@link WALLET_GAS}, because the EVM
 * holds back a 64th and the call itself costs gas.
 */
const GAS_NEEDED = Math.ceil((WALLET_GAS * 64) / 63) + 10_000;

const byte = (value: number): Hex => numberToHex(value, { size: 1 });
const push = (value: number, bytes: number): Hex =>
  concatHex([byte(0x5f + bytes), numberToHex(value, { size: bytes })]);

const CODECOPY = "0x39";
const EXTCODESIZE = "0x3b";
const RETURNDATASIZE = "0x3d";
const [ORIGIN, GASPRICE, BASEFEE] = ["0x32", "0x3a", "0x48"] as Hex[];
const [LT, EQ, ISZERO, AND, OR, SHL, MLOAD, MSTORE] = [
  "0x10",
  "0x14",
  "0x15",
  "0x16",
  "0x17",
  "0x1b",
  "0x51",
  "0x52",
] as Hex[];
const [JUMPI, GAS, JUMPDEST, RETURN, STATICCALL] = ["0x57", "0x5a", "0x5b", "0xf3", "0xfa"] as Hex[];

/** Ends the program. Its result is the word on top of the stack. */
const giveBack: Hex[] = [push(0, 1), MSTORE as Hex, push(32, 1), push(0, 1), RETURN as Hex];

/** The target of a jump that returns a verdict. */
const landing = (verdict: bigint): Hex[] => [JUMPDEST as Hex, push(Number(verdict), 1), ...giveBack];

/**
 * A program for `eth_call` (the `data` of a call without a receiver). It asks a contract wallet about a
 * signature (ERC-1271) and returns one of {@link VERDICTS}.
 *
 * The wallet is called inside the EVM, with a fixed amount of gas, and only one word of its answer is read. So
 * everything that the wallet does becomes an answer: a revert, burnt gas, an invalid opcode, a result of a megabyte.
 * Every error of the `eth_call` itself then comes from the provider, and the error texts of clients need not be
 * interpreted. Some clients report a pruned state as a revert, and an invalid opcode as if the client itself had
 * failed.
 *
 * The call must come from the zero address and have the gas price 0. Then a wallet sees no sender, no gas price and no
 * base fee. If a wallet would see other values, the probe does not ask the wallet, because the answer must not depend
 * on the provider.
 *
 * @param witness a contract that is known to exist. A provider that finds no code there has no state of the block. Some
 * of these providers answer as if every account were empty
 */
export function walletProbe(
  { signer, hash, signature }: { signer: Address; hash: Hex; signature: Hex },
  witness: Address = signer,
): Hex {
  const question = encodeFunctionData({
    abi: erc1271Abi,
    functionName: "isValidSignature",
    args: [hash, signature],
  });
  const length = size(question);
  const address = (of: Address): Hex => concatHex([byte(0x73), of]);
  const landings = [VERDICTS.noState, VERDICTS.noContract, VERDICTS.otherTerms, VERDICTS.tooLittleGas].map(
    landing,
  );
  const bytesOf = (part: Hex[]): number => size(concatHex(part));
  const program = (end: number): Hex[] => {
    const [noState, noContract, otherTerms, tooLittleGas] = landings.map((_, n, all) =>
      push(Math.max(0, end - bytesOf(all.slice(n).flat())), 2),
    ) as [Hex, Hex, Hex, Hex];
    return [
      // Copies the question to memory, after the word for the answer.
      [push(length, 3), push(end, 3), push(32, 1), CODECOPY],
      witness === signer ? [] : [address(witness), EXTCODESIZE, ISZERO, noState, JUMPI],
      [address(signer), EXTCODESIZE, ISZERO, noContract, JUMPI],
      [ORIGIN, GASPRICE, OR, BASEFEE, OR, otherTerms, JUMPI],
      [push(GAS_NEEDED, 4), GAS, LT, tooLittleGas, JUMPI],
      [
        push(32, 1),
        push(0, 1),
        push(length, 3),
        push(32, 1),
        address(signer),
        push(WALLET_GAS, 4),
        STATICCALL,
      ],
      // The call succeeded, its answer has at least one word, and this word is exactly the magic value.
      [RETURNDATASIZE, push(31, 1), LT, AND],
      [push(0x1626ba7e, 4), push(224, 1), SHL, push(0, 1), MLOAD, EQ, AND],
      giveBack,
      ...landings,
    ].flat() as Hex[];
  };
  // The size of every part is fixed, so the program can be built twice.
  return concatHex([...program(bytesOf(program(0))), question]);
}
