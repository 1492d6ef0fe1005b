/**
 * Public RPC endpoints of the chains on which Tallystick is deployed. Each chain has endpoints of two operators. The
 * page asks them only if the reader chooses them.
 */
export const PUBLIC_SOURCES: readonly { chain: string; chainId: number; urls: readonly [string, string] }[] =
  [
    { chain: "Base", chainId: 8_453, urls: ["https://mainnet.base.org", "https://base-rpc.publicnode.com"] },
    {
      chain: "Base Sepolia",
      chainId: 84_532,
      urls: ["https://sepolia.base.org", "https://base-sepolia-rpc.publicnode.com"],
    },
  ];
