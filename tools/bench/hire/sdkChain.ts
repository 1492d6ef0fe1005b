import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import hre, { network } from "hardhat";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createLocalFacilitator } from "tallystick-sdk/x402/localFacilitator";
import { type Abi, createTestClient, custom, publicActions, walletActions } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/** The escrow provider of these tests. */
export const PROVIDER = "swarmwage-partnered";

/** The first account with ether on every Hardhat chain. It relays everything here. */
const RELAYER = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

export type Wallet = { account: PrivateKeyAccount; address: Address; privateKey: Hex };

/** A fresh key without ether. Its address is lower case, as everywhere inside. */
export function newWallet(): Wallet {
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  return { account, address: account.address.toLowerCase() as Address, privateKey };
}

export type SdkChain = Awaited<ReturnType<typeof startSdkChain>>;

/** A chain in this process with the test USDC, a HireEscrow, a relayer, and a facilitator that really settles. */
export async function startSdkChain({ chainId = 31_337 }: { chainId?: number } = {}) {
  if (!existsSync(artifactOf("HireEscrow"))) await hre.tasks.getTask("build").run({ quiet: true });
  const connection = await network.create({
    network: "default",
    override: { chainId, allowBlocksWithSameTimestamp: true },
  });
  const transport = custom(connection.provider as never, { retryCount: 0 });
  const relayer = privateKeyToAccount(RELAYER);
  const sender = createTransactionSender({ account: relayer, chainId, rpc: transport, pollingMs: 10 });
  const client = createTestClient({ mode: "hardhat", account: relayer, transport, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);

  const deploy = async (name: string, abi: Abi, args: unknown[]): Promise<Address> => {
    const { bytecode } = JSON.parse(readFileSync(artifactOf(name), "utf8"));
    const hash = await client.deployContract({ chain: null, abi, args, bytecode });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    return contractAddress?.toLowerCase() as Address;
  };
  const token = await deploy("test/TestUSDC", testUsdcAbi as Abi, []);
  const guardian = newWallet();
  const escrow = await deploy("HireEscrow", hireEscrowAbi as Abi, [token, guardian.address, PROVIDER]);
  const paymentNetwork: PaymentNetwork = { chainId, token, name: "USD Coin", version: "2" };
  const facilitator = createLocalFacilitator({ sender, chainId });

  return {
    connection,
    client,
    transport,
    sender,
    token,
    escrow,
    facilitator,
    network: paymentNetwork,
    guardian,
    mint: (to: { address: Address }, value: bigint) =>
      sender.sendAndWait({
        address: token,
        abi: testUsdcAbi,
        functionName: "mint",
        args: [to.address, value],
      }),
    /** A plain transfer, sent by the wallet itself. */
    transfer: async (from: Wallet, to: { address: Address }, value: bigint) => {
      await client.setBalance({ address: from.address, value: 10n ** 18n });
      const own = createTransactionSender({ account: from.account, chainId, rpc: transport, pollingMs: 10 });
      const args = [to.address, value];
      return await own.sendAndWait({ address: token, abi: testUsdcAbi, functionName: "transfer", args });
    },
    balanceOf: ({ address }: { address: Address }) =>
      client.readContract({ address: token, abi: testUsdcAbi, functionName: "balanceOf", args: [address] }),
    now: async () => Number((await client.getBlock()).timestamp),
    /** Sets the chain's clock to a later time in unix seconds, and mines a block. */
    passTo: async (time: number) => {
      await client.setNextBlockTimestamp({ timestamp: BigInt(time) });
      await client.mine({ blocks: 1 });
    },
    close: () => connection.close(),
  };
}

function artifactOf(name: string): string {
  return path.join(repositoryRoot, "artifacts/contracts", `${name}.sol`, `${path.basename(name)}.json`);
}
