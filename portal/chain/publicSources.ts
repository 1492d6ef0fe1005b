/** Public endpoints of the chains that Tallystick is deployed on, of two operators each. Nothing asks them unless the reader takes them. */
export const PUBLIC_SOURCES: readonly { chain: string; chainId: number; urls: readonly [string, string] }[] =
  [
    { chain: "Base", chainId: 8_453, urls: ["https://mainnet.base.org", "https://base-rpc.publicnode.com"] },
    {
      chain: "Base Sepolia",
      chainId: 84_532,
      urls: ["https://sepolia.base.org", "https://base-sepolia-rpc.publicnode.com"],
    },
  ];
