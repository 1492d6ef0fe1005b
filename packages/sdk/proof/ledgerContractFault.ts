import { ledgerCode } from "tallystick-protocol/ledger/ledgerCode";
import { ledgerCodeFault } from "tallystick-protocol/ledger/releasedLedger";
import type { Chain, PublicClient, Transport } from "viem";

/**
 * Reads the code of a ledgers' contract, and says why its answers do not count; null if they do. Only the released code
 * accepts nothing but what a ledger's writer signed.
 *
 * @param place.block default: the newest block
 */
export async function ledgerContractFault(
  client: Pick<PublicClient<Transport, Chain | undefined>, "getCode">,
  { chainId, address, block }: { chainId: number; address: `0x${string}`; block?: bigint },
): Promise<string | null> {
  const code = await client.getCode({ address, ...(block !== undefined && { blockNumber: block }) });
  const found = code === undefined || code === "0x" ? "none" : ledgerCode(code, { chainId, address });
  return ledgerCodeFault(found, { chainId, address });
}
