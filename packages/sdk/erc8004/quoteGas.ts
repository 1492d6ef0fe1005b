import type { Address } from "tallystick-protocol/address";
import { formatEther, type Hex, parseAbi, serializeTransaction } from "viem";
import type { ChainReader } from "./registries.ts";

/** The most that a transaction can cost, in wei. */
export type GasCost = {
  gas: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /**
   * The fee that an OP chain (Base) adds for storing the transaction's data on Ethereum, at this time; null
   * where no such fee is known.
   */
  l1Fee: bigint | null;
  /** `gas` × `maxFeePerGas`, plus `l1Fee`. */
  total: bigint;
  totalEth: string;
};

/** The contract of OP chains that gives the cost of a transaction's data on Ethereum. */
const GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000f";

const oracleAbi = parseAbi(["function getL1Fee(bytes data) view returns (uint256)"]);

/** Asks the chain for the highest cost of a call. */
export async function quoteGas(
  client: ChainReader,
  { to, data, gas }: { to: Address; data: Hex; gas: bigint },
): Promise<GasCost> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
  const chainId = await client.getChainId();
  const unsigned = serializeTransaction({
    chainId,
    nonce: 0,
    to,
    data,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  const l1Fee = await client
    .readContract({ address: GAS_PRICE_ORACLE, abi: oracleAbi, functionName: "getL1Fee", args: [unsigned] })
    .catch(() => null);
  const total = gas * maxFeePerGas + (l1Fee ?? 0n);
  return { gas, maxFeePerGas, maxPriorityFeePerGas, l1Fee, total, totalEth: formatEther(total) };
}
