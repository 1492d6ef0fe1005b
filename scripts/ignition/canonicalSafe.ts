import {
  AbiCoder,
  concat,
  getCreate2Address,
  Interface,
  keccak256,
  solidityPackedKeccak256,
  ZeroAddress,
  ZeroHash,
} from "ethers";
import { safeArtifact } from "./modules/GuardianSafe.ts";

/**
 * The factory through which Safe's authors deploy. It has this address on every chain, and the addresses of
 * Safe's contracts follow from it.
 */
export const SAFE_SINGLETON_FACTORY = "0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7";

/**
 * The artifacts of Safe 1.5.0 that a wallet needs. SafeL2 emits events for what it does, so that Safe's own web
 * page can show it.
 */
export const SAFE_CONTRACTS = {
  singleton: safeArtifact("SafeL2.sol/SafeL2"),
  factory: safeArtifact("proxies/SafeProxyFactory.sol/SafeProxyFactory"),
  handler: safeArtifact("handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler"),
} as const;

const proxyArtifact = safeArtifact("proxies/SafeProxy.sol/SafeProxy");

/**
 * The addresses of Safe's own contracts, on every chain that has them. An address is a hash of the code in the
 * npm package, so only that code can be there.
 */
export const CANONICAL_SAFE = Object.fromEntries(
  Object.entries(SAFE_CONTRACTS).map(([name, { bytecode }]) => [
    name,
    getCreate2Address(SAFE_SINGLETON_FACTORY, ZeroHash, keccak256(bytecode)),
  ]),
) as { [name in keyof typeof SAFE_CONTRACTS]: string };

/** The set-up call of a Safe: its owners, no module, no payment, and the handler by which it answers ERC-1271. */
export function safeSetup(owners: readonly string[], threshold: number): string {
  return new Interface(SAFE_CONTRACTS.singleton.abi).encodeFunctionData("setup", [
    owners,
    threshold,
    ZeroAddress,
    "0x",
    CANONICAL_SAFE.handler,
    ZeroAddress,
    0,
    ZeroAddress,
  ]);
}

/**
 * The address that the canonical factory gives a Safe. It is the same on every chain for the same owners in the
 * same order.
 */
export function canonicalSafeAddress(owners: readonly string[], threshold: number, salt = 0): string {
  const initializer = keccak256(safeSetup(owners, threshold));
  const initCode = concat([
    proxyArtifact.bytecode,
    AbiCoder.defaultAbiCoder().encode(["address"], [CANONICAL_SAFE.singleton]),
  ]);
  return getCreate2Address(
    CANONICAL_SAFE.factory,
    solidityPackedKeccak256(["bytes32", "uint256"], [initializer, salt]),
    keccak256(initCode),
  );
}

/**
 * The code of every Safe from a factory of this version: a proxy whose first storage slot names the
 * implementation.
 */
export const SAFE_PROXY_CODE = proxyArtifact.deployedBytecode;
