import type { Address } from "tallystick-protocol/address";
import { concatHex, encodeFunctionData, type Hex, numberToHex, parseAbi, size } from "viem";

/** Gas that a wallet gets to judge a signature, always exactly so much: what it answers must not depend on who asks. */
export const WALLET_GAS = 3_000_000;

/** What the probe may use in all: the wallet's part, a 64th of it that the EVM holds back, and what carrying the signature costs. */
export const PROBE_GAS = 6_000_000n;

/** Longest signature that is asked about, in bytes: code that creates a contract has at most 49,152 (EIP-3860). */
export const LONGEST_SIGNATURE = 40_000;

/** What the probe answers, as its one word. */
export const VERDICTS = { no: 0n, yes: 1n, noContract: 2n, noState: 3n, tooLittleGas: 4n } as const;

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

/** Below this the call would not get all of its gas: a 64th stays behind, and the call itself costs something. */
const GAS_NEEDED = Math.ceil((WALLET_GAS * 64) / 63) + 10_000;

const byte = (value: number): Hex => numberToHex(value, { size: 1 });
const push = (value: number, bytes: number): Hex =>
  concatHex([byte(0x5f + bytes), numberToHex(value, { size: bytes })]);

const CODECOPY = "0x39";
const EXTCODESIZE = "0x3b";
const RETURNDATASIZE = "0x3d";
const [LT, EQ, ISZERO, AND, SHL, MLOAD, MSTORE] = [
  "0x10",
  "0x14",
  "0x15",
  "0x16",
  "0x1b",
  "0x51",
  "0x52",
] as Hex[];
const [JUMPI, GAS, JUMPDEST, RETURN, STATICCALL] = ["0x57", "0x5a", "0x5b", "0xf3", "0xfa"] as Hex[];

/** Gives back the word on the stack. */
const giveBack: Hex[] = [push(0, 1), MSTORE as Hex, push(32, 1), push(0, 1), RETURN as Hex];

/** Where a jump ends that gives back a verdict. */
const landing = (verdict: bigint): Hex[] => [JUMPDEST as Hex, push(Number(verdict), 1), ...giveBack];

/**
 * A program for `eth_call` (as the `data` of a call to nobody) that asks a contract wallet for a signature (ERC-1271) and
 * gives back one of {@link VERDICTS}.
 *
 * The wallet is called from within the EVM, with a fixed gas, and only a word of its answer is read. So whatever it does
 * (revert, burn its gas, hit an invalid opcode, return a megabyte) comes back as an answer, and every error of the
 * `eth_call` itself is the provider's. What the error texts of this or that client mean never has to be guessed: some say
 * of a pruned state that the execution reverted, and of an invalid opcode the same as of a failure of their own.
 *
 * @param witness a contract that is known to be there; where it has no code either, the provider has no state (some then
 * answer as if every account were empty)
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
  const [noState, noContract, tooLittleGas] = [
    VERDICTS.noState,
    VERDICTS.noContract,
    VERDICTS.tooLittleGas,
  ].map(landing) as [Hex[], Hex[], Hex[]];
  const bytesOf = (part: Hex[]): number => size(concatHex(part));
  const program = (end: number): Hex[] => {
    const places = [noState, noContract, tooLittleGas].map((_, n, all) =>
      push(Math.max(0, end - bytesOf(all.slice(n).flat())), 2),
    ) as [Hex, Hex, Hex];
    return [
      // The question to memory, behind the word that the answer goes to.
      [push(length, 3), push(end, 3), push(32, 1), CODECOPY],
      witness === signer ? [] : [address(witness), EXTCODESIZE, ISZERO, places[0], JUMPI],
      [address(signer), EXTCODESIZE, ISZERO, places[1], JUMPI],
      [push(GAS_NEEDED, 4), GAS, LT, places[2], JUMPI],
      [
        push(32, 1),
        push(0, 1),
        push(length, 3),
        push(32, 1),
        address(signer),
        push(WALLET_GAS, 4),
        STATICCALL,
      ],
      // It succeeded, with at least a word, and that is the magic value and nothing else.
      [RETURNDATASIZE, push(31, 1), LT, AND],
      [push(0x1626ba7e, 4), push(224, 1), SHL, push(0, 1), MLOAD, EQ, AND],
      giveBack,
      noState,
      noContract,
      tooLittleGas,
    ].flat() as Hex[];
  };
  // Every part has the same size whatever the numbers in it are.
  return concatHex([...program(bytesOf(program(0))), question]);
}
