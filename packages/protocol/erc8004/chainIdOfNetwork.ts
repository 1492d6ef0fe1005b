/** The short names that receipts may have instead of CAIP-2 (SHP §7.1). */
const SHORT_NAMES: { readonly [name: string]: number } = { base: 8_453, "base-sepolia": 84_532 };

/** The chain id of a receipt's `network`; undefined when the network is no EVM chain. */
export function chainIdOfNetwork(network: string): number | undefined {
  if (Object.hasOwn(SHORT_NAMES, network)) return SHORT_NAMES[network];
  const chainId = Number(/^eip155:([1-9]\d{0,15})$/.exec(network)?.[1]);
  return Number.isSafeInteger(chainId) ? chainId : undefined;
}
