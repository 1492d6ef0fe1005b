import type { Address } from "tallystick-protocol/address";
import { concatHex, type Hex, numberToHex, size } from "viem";

/** The behaviours of a wallet when an escrow asks it to check a signature (ERC-1271). */
export const MOODS = {
  saysYes: 0,
  burnsGas: 1,
  reverts: 2,
  hitsInvalidOpcode: 3,
  answersMegabytes: 4,
  saysNo: 5,
} as const;
export type Mood = keyof typeof MOODS;

/** Added to a mood: the wallet has this mood only in transactions, and says yes to every `eth_call`. */
export const ONLY_ON_CHAIN = 16;

/** A jump's target, or a jump to it. */
type Part = Hex | { label: string } | { to: string };

/**
 * The init code of a contract wallet. Anybody can set its mood by sending it one word of 32 bytes. It always
 * says yes to the token, so that it can deposit. The code is as short as possible, because an attacker pays for
 * each byte.
 */
export function hostileWallet(token: Address, mood = 0): Hex {
  const at = (label: string): Part => ({ label });
  const jump = (to: string): Part[] => [{ to }, "0x56"];
  const jumpIf = (to: string): Part[] => [{ to }, "0x57"];
  const code = assemble([
    ...(["0x6024", "0x36", "0x10"] as Hex[]), // calldatasize < 36: somebody sends a new mood
    ...jumpIf("feel"),
    ...(["0x73", token, "0x33", "0x14"] as Hex[]),
    ...jumpIf("yes"),
    ...(["0x6000", "0x54", "0x80", "0x6004", "0x1c", "0x3a", "0x15", "0x16"] as Hex[]), // has ONLY_ON_CHAIN, and the gas price is 0: an eth_call
    ...jumpIf("yes"),
    ...(["0x600f", "0x16"] as Hex[]),
    ...(["0x80", "0x15"] as Hex[]),
    ...jumpIf("yes"),
    ...(["0x80", "0x6001", "0x14"] as Hex[]),
    ...jumpIf("burn"),
    ...(["0x80", "0x6002", "0x14"] as Hex[]),
    ...jumpIf("revert"),
    ...(["0x80", "0x6003", "0x14"] as Hex[]),
    ...jumpIf("invalid"),
    ...(["0x80", "0x6004", "0x14"] as Hex[]),
    ...jumpIf("bomb"),
    ...(["0x60206000f3"] as Hex[]), // returns 32 zero bytes: no
    at("yes"),
    ...(["0x631626ba7e60e01b60005260206000f3"] as Hex[]),
    at("feel"),
    ...(["0x60003560005500"] as Hex[]),
    at("burn"),
    ...jump("burn"),
    at("revert"),
    "0x60006000fd",
    at("invalid"),
    "0xfe",
    at("bomb"),
    "0x620f42406000f3",
  ]);
  const set: Hex = mood === 0 ? "0x" : concatHex(["0x60", numberToHex(mood, { size: 1 }), "0x600055"]);
  const length = numberToHex(size(code), { size: 2 });
  const head = (end: number): Hex =>
    concatHex([set, "0x61", length, "0x80", "0x60", numberToHex(end, { size: 1 }), "0x6000396000f3"]);
  return concatHex([head(size(head(0))), code]);
}

function assemble(parts: Part[]): Hex {
  const places = new Map<string, number>();
  let length = 0;
  for (const part of parts) {
    if (typeof part === "object" && "label" in part) places.set(part.label, length);
    length += typeof part === "string" ? size(part) : "label" in part ? 1 : 2;
  }
  return concatHex(
    parts.map((part) => {
      if (typeof part === "string") return part;
      if ("label" in part) return "0x5b";
      return concatHex(["0x60", numberToHex(places.get(part.to) ?? 0, { size: 1 })]);
    }),
  );
}
