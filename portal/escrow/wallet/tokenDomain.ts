import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { TokenDomain } from "tallystick-protocol/escrow/authorization";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { abiWord } from "tallystick-protocol/signatures/typedDataHash";
import { parseAbi } from "viem";
import type { Chain } from "./createChain.ts";

export const tokenAbi = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function decimals() view returns (uint8)",
  "function balanceOf(address account) view returns (uint256)",
  "function isBlacklisted(address account) view returns (bool)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
]);

const DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

/**
 * Finds the EIP-712 domain of the token. It tries the values of the token and those of the node. The token's
 * own DOMAIN_SEPARATOR shows which are right.
 *
 * @returns null when none fits; then this page cannot make signed payments with this token
 */
export async function readTokenDomain(
  chain: Chain,
  {
    chainId,
    token,
    told,
  }: { chainId: number; token: Hex; told: { name: string | null; version: string | null } },
): Promise<TokenDomain | null> {
  const text = async (name: "name" | "version"): Promise<string | null> => {
    try {
      return (await chain.read(token, tokenAbi, name, [])) as string;
    } catch {
      return null;
    }
  };
  const [separator, name, version] = await Promise.all([
    chain.read(token, tokenAbi, "DOMAIN_SEPARATOR", []) as Promise<Hex>,
    text("name"),
    text("version"),
  ]);
  for (const first of [name, told.name]) {
    for (const second of [version, told.version, "2", "1"]) {
      if (first === null || second === null) continue;
      const domain = { name: first, version: second, chainId, token };
      if (separatorOf(domain) === separator) return domain;
    }
  }
  return null;
}

function separatorOf({ name, version, chainId, token }: TokenDomain): Hex {
  const words = [DOMAIN_TYPE, name, version].map((text) => keccak_256(utf8ToBytes(text)));
  const rest = [abiWord("uint256", chainId, "chainId"), abiWord("address", token, "token")];
  return toHex(keccak_256(concatBytes(...words, ...rest)));
}
