import { parseAbiItem } from "viem";
import type { AuditorAccount } from "../../../services/auditing/operatorNode.ts";
import type { SdkChain, Wallet } from "../../sdk/support/sdkChain.ts";

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");

/** The amounts of all transfers from a pool to an auditor, read from the chain. */
export async function transfersTo(chain: SdkChain, pool: Wallet, auditor: Wallet): Promise<bigint[]> {
  const logs = await chain.client.getLogs({
    address: chain.token,
    event: TRANSFER,
    args: { from: pool.address, to: auditor.address },
    fromBlock: 0n,
  });
  return logs.map(({ args }) => args.value ?? 0n);
}

/**
 * Accounts in the form that a node derives. The accrued amounts are given, the paid amounts are read from the
 * chain.
 */
export async function accountsOf(
  chain: SdkChain,
  pool: Wallet,
  accrued: readonly [auditor: Wallet, atomic: bigint][],
): Promise<AuditorAccount[]> {
  return await Promise.all(
    accrued.map(async ([auditor, atomic]) => ({
      auditor: auditor.address,
      accrued: atomic,
      paid: (await transfersTo(chain, pool, auditor)).reduce((sum, it) => sum + it, 0n),
    })),
  );
}
