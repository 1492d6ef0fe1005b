import type { Address } from "../address.ts";
import { fromHex } from "../hex.ts";
import { releaseAddressOfHash } from "../releaseAddress.ts";
import type { LedgerCode } from "./ledgerCode.ts";
import { anchoredLedger1 } from "./releases/anchoredLedger1.ts";

/** The chains on which the released contracts are deployed: Base and Base Sepolia. */
const RELEASE_CHAINS: readonly number[] = [8_453, 84_532];

/**
 * Whether released contracts are deployed on this chain. Elsewhere, such as on a test chain, they may be at other
 * addresses.
 */
export function isReleaseChain(chainId: number): boolean {
  return RELEASE_CHAINS.includes(chainId);
}

/** The address of the released AnchoredLedger, on every chain that has it. */
export function releasedLedgerAddress(): Address {
  return releaseAddressOfHash(fromHex(anchoredLedger1.initCodeHash));
}

/**
 * Says why nothing can be concluded from the answers of a ledgers' contract; null if they count. Whoever makes a proof
 * or runs a node can name a contract of their own, which answers and emits anything.
 *
 * @param code as `ledgerCode` gives it; "none" if there is no code at the address
 */
export function ledgerCodeFault(
  code: LedgerCode | "none",
  { chainId, address }: { chainId: number; address: string },
): string | null {
  if (code === "none") return `There is no contract at ${address}.`;
  if (code === "unknown")
    return `The code of ${address} is not that of a released AnchoredLedger, so it may answer anything.`;
  if (code === "copied" && isReleaseChain(chainId))
    return `${address} is a copy of the released AnchoredLedger at another address. Its constructor may have written any head.`;
  return null;
}
