import type { Address } from "tallystick-protocol/address";
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseEventLogs,
  zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { SAFE_CONTRACTS } from "../../../scripts/ignition/canonicalSafe.ts";
import { localTransport } from "../../../scripts/processes/localTransport.ts";
import { type LedgerChain, WRITER_KEY } from "../../../tools/bench/ledger/ledgerChain.ts";

export type DeployedSafe = {
  address: Address;
  /** Makes one call by the Safe, with the confirmation of a single owner. */
  execute: (owner: Hex, to: Address, data: Hex) => Promise<void>;
};

/** Deploys a Safe from npm's artifacts. By default one owner is enough. */
export async function deploySafe(
  chain: Pick<LedgerChain, "rpcUrl">,
  owners: readonly Address[],
  threshold = 1n,
): Promise<DeployedSafe> {
  const account = privateKeyToAccount(WRITER_KEY);
  const transport = localTransport(chain.rpcUrl);
  const wallet = createWalletClient({ account, chain: hardhat, transport });
  const client = createPublicClient({ chain: hardhat, transport, pollingInterval: 50, cacheTime: 0 });
  const mined = (hash: Hex) => client.waitForTransactionReceipt({ hash });
  const deploy = async ({ abi, bytecode }: { abi: unknown; bytecode: string }): Promise<Address> => {
    const receipt = await mined(
      await wallet.deployContract({ abi: abi as Abi, bytecode: bytecode as Hex, args: [] }),
    );
    return receipt.contractAddress as Address;
  };
  const singleton = await deploy(SAFE_CONTRACTS.singleton);
  const factory = await deploy(SAFE_CONTRACTS.factory);
  const handler = await deploy(SAFE_CONTRACTS.handler);
  const abi = SAFE_CONTRACTS.singleton.abi as unknown as Abi;
  const setup = encodeFunctionData({
    abi,
    functionName: "setup",
    args: [owners, threshold, zeroAddress, "0x", handler, zeroAddress, 0n, zeroAddress],
  });
  const factoryAbi = parseAbi([
    "function createProxyWithNonce(address singleton, bytes initializer, uint256 salt) returns (address)",
    "event ProxyCreation(address indexed proxy, address singleton)",
  ]);
  const { logs } = await mined(
    await wallet.writeContract({
      address: factory,
      abi: factoryAbi,
      functionName: "createProxyWithNonce",
      args: [singleton, setup, 0n],
    }),
  );
  const [made] = parseEventLogs({ abi: factoryAbi, logs, eventName: "ProxyCreation" });
  const address = made?.args.proxy.toLowerCase() as Address;

  return {
    address,
    execute: async (owner, to, data) => {
      const terms = [to, 0n, data, 0, 0n, 0n, 0n, zeroAddress, zeroAddress] as const;
      const safe = { address, abi } as const;
      const nonce = await client.readContract({ ...safe, functionName: "nonce" });
      const hash = await client.readContract({
        ...safe,
        functionName: "getTransactionHash",
        args: [...terms, nonce],
      });
      const signature = await privateKeyToAccount(owner).sign({ hash: hash as Hex });
      const sent = await wallet.writeContract({
        ...safe,
        functionName: "execTransaction",
        args: [...terms, signature],
      });
      const { status } = await mined(sent);
      if (status !== "success") throw new Error("The Safe's transaction failed");
    },
  };
}
