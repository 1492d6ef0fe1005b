import { parseAbiItem } from "viem";
import type { AuditorAccount } from "../../../services/auditing/operatorNode.ts";
import type { SdkChain, Wallet } from "../../sdk/support/sdkChain.ts";

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");

/** What a pool has transferred to an auditor, as the chain shows it: each transfer. */
export async function transfersTo(chain: SdkChain, pool: Wallet, auditor: Wallet): Promise<bigint[]> {
  const logs = await chain.client.getLogs({
    address: chain.token,
    event: TRANSFER,
    args: { from: pool.address, to: auditor.address },
    fromBlock: 0n,
  });
  return logs.map(({ args }) => args.value ?? 0n);
}

/** Accounts as a node derives them: what was accrued is given, what was paid is read from the chain. */
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
