import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../address.ts";
import { InvalidInputError } from "../errors.ts";
import { fromHex, type Hex, toHex } from "../hex.ts";

type Field = { readonly name: string; readonly type: string };

/** Typed data whose fields are values: no structs or lists inside, and all four parts of the domain (EIP-712). */
export type FlatTypedData = {
  domain: { name: string; version: string; chainId: number; verifyingContract: Address };
  types: { readonly [struct: string]: readonly Field[] };
  primaryType: string;
  message: { readonly [field: string]: unknown };
};

const DOMAIN_FIELDS: readonly Field[] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
];

/**
 * What a wallet signs for typed data: keccak256(0x1901 ‖ domain separator ‖ struct hash) (EIP-712).
 *
 * @throws InvalidInputError naming the field that is not a value of its type
 */
export function typedDataHash({ domain, types, primaryType, message }: FlatTypedData): Hex {
  const separator = structHash("EIP712Domain", DOMAIN_FIELDS, domain);
  const struct = structHash(primaryType, types[primaryType] ?? [], message);
  return toHex(keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), separator, struct)));
}

function structHash(
  name: string,
  fields: readonly Field[],
  values: { readonly [field: string]: unknown },
): Uint8Array {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
  const words = fields.map((field) =>
    field.type === "string"
      ? keccak_256(utf8ToBytes(String(values[field.name])))
      : abiWord(field.type, values[field.name], field.name),
  );
  return keccak_256(concatBytes(keccak_256(utf8ToBytes(type)), ...words));
}

/**
 * One value as the ABI encodes it: 32 bytes. Takes `bytes32` and `address` as hex, `uint8` to `uint256` as a bigint or
 * a safe integer.
 *
 * @throws InvalidInputError naming `field`
 */
export function abiWord(type: string, value: unknown, field: string): Uint8Array {
  if (type === "bytes32") return fromHex(String(value), 32, field);
  const word = new Uint8Array(32);
  if (type === "address") {
    word.set(fromHex(String(value), 20, field), 12);
    return word;
  }
  const bits = Number(/^uint(\d+)$/.exec(type)?.[1]);
  const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
  const number = isWhole ? BigInt(value as bigint | number) : -1n;
  if (!(bits <= 256) || number < 0n || number >> BigInt(bits) !== 0n)
    throw new InvalidInputError({ issues: [{ field, message: `must be a ${type}` }] });
  word.set(fromHex(`0x${number.toString(16).padStart(64, "0")}`));
  return word;
}
