import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { TokenDomain } from "tallystick-protocol/escrow/authorization";
import { type Hex, toHex, ZERO_HASH } from "tallystick-protocol/hex";
import { abiWord } from "tallystick-protocol/signatures/typedDataHash";
import { parseAbi } from "viem";
import type { Chain } from "./createChain.ts";
import { WalletError } from "./walletError.ts";

export const tokenAbi = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function decimals() view returns (uint8)",
  "function balanceOf(address account) view returns (uint256)",
  "function isBlacklisted(address account) view returns (bool)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function approve(address spender, uint256 value) returns (bool)",
]);

const DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

/** A token's answer; null when the token has no such function. If the wallet does not answer, this throws. */
export async function tokenAnswer<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    const isMissing =
      error instanceof WalletError && (error.code === "failed" || error.code === "bad_answer");
    if (!isMissing) throw error;
    return null;
  }
}

/**
 * Finds the EIP-712 domain of a token that takes payments by signature (EIP-3009). It tries the names and
 * versions that the token and the node give, and the versions 2 and 1. The right domain has the hash that the token's
 * DOMAIN_SEPARATOR returns.
 *
 * @returns null when the token takes no such payments, or no domain fits. Then the buyer pays by allowance
 */
export async function readTokenDomain(
  chain: Chain,
  {
    chainId,
    token,
    told,
    account,
  }: {
    chainId: number;
    token: Hex;
    told: { name: string | null; version: string | null };
    account: Hex;
  },
): Promise<TokenDomain | null> {
  const text = (name: "name" | "version") =>
    tokenAnswer(() => chain.read(token, tokenAbi, name, []) as Promise<string>);
  const [separator, name, version, isUsed] = await Promise.all([
    tokenAnswer(() => chain.read(token, tokenAbi, "DOMAIN_SEPARATOR", []) as Promise<Hex>),
    text("name"),
    text("version"),
    tokenAnswer(
      () => chain.read(token, tokenAbi, "authorizationState", [account, ZERO_HASH]) as Promise<boolean>,
    ),
  ]);
  if (separator === null || isUsed === null) return null;
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
