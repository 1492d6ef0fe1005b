import { readFileSync } from "node:fs";
import path from "node:path";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import {
  receiveWithAuthorizationTypedData,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import { escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import {
  type Abi,
  createTestClient,
  createWalletClient,
  type Hex,
  publicActions,
  walletActions,
  zeroAddress,
  zeroHash,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import { localTransport } from "../../../scripts/processes/localTransport.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import type { Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

export const CHAIN_ID = hardhat.id;
export const PROVIDER = "swarmwage-partnered";
const FOREVER = 2n ** 48n;

/**
 * The private key of the first account that has ether on a Hardhat node. It sends each transaction for which a test
 * names no sender.
 */
const RELAYER = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** A wallet of a test, with a new key. Its address is lower case, as everywhere in the code. */
export type Wallet = { account: PrivateKeyAccount; address: Address; privateKey: Hex };

export function newWallet(): Wallet {
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  return { account, address: account.address.toLowerCase() as Address, privateKey };
}

export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>;

/** Starts a real chain with our contracts, and gives the actions of tests on it. Every transaction is mined at once. */
export async function startLocalChain(supervisor: Supervisor, logFolder: string) {
  const port = await freePort();
  const rpcUrl = `http://127.0.0.1:${port}`;
  const transport = localTransport(rpcUrl);
  const relayer = privateKeyToAccount(RELAYER);
  const client = createTestClient({
    chain: hardhat,
    mode: "hardhat",
    account: relayer,
    transport,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
  await startService(supervisor, {
    name: `chain ${port}`,
    command: process.execPath,
    args: nodeProgram("scripts/demo/runChain.ts", ["--port", String(port)]),
    cwd: repositoryRoot,
    env: childEnvironment(),
    logFile: path.join(logFolder, "chain.log"),
    isReady: async () => (await client.getChainId()) === CHAIN_ID,
  });

  const mined = async (hash: Hex) => {
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} failed`);
    return receipt;
  };
  const deploy = async (name: string, abi: Abi, args: unknown[]) => {
    const { contractAddress } = await mined(
      await client.deployContract({ abi, bytecode: artifactOf(name).bytecode, args }),
    );
    return contractAddress?.toLowerCase() as Address;
  };
  const token = await deploy("test/TestUSDC", testUsdcAbi, []);
  const escrow = await deploy("HireEscrow", hireEscrowAbi, [token, relayer.address, PROVIDER]);
  const anchoredLedger = await deploy("AnchoredLedger", anchoredLedgerAbi, []);

  const send = async (address: Address, abi: Abi, functionName: string, args: unknown[], by?: Wallet) => {
    const wallet = by && createWalletClient({ account: by.account, chain: hardhat, transport });
    const call = { address, abi, functionName, args, chain: hardhat };
    return mined(await (wallet ? wallet.writeContract(call) : client.writeContract(call)));
  };
  const domain = { name: "USD Coin", version: "2", chainId: CHAIN_ID, token };

  return {
    rpcUrl,
    client,
    token,
    escrow,
    anchoredLedger,
    relayer: relayer.address.toLowerCase() as Address,
    send,
    /** Deploys a contract of contracts/test. */
    deployToken: (name: string, args: unknown[]) =>
      deploy(`test/${name}`, artifactOf(`test/${name}`).abi, args),
    mint: (to: Wallet, amount: bigint) => send(token, testUsdcAbi, "mint", [to.address, amount]),

    /** A direct payment as x402 makes it: the buyer signs, and anyone sends it to the chain. */
    pay: async (from: Wallet, to: Wallet, value: bigint, nonce: Hex = generatePrivateKey()) => {
      const terms = {
        from: from.address,
        to: to.address,
        value,
        validAfter: 0n,
        validBefore: FOREVER,
        nonce,
      };
      const signature = await from.account.signTypedData(transferWithAuthorizationTypedData(terms, domain));
      const args = [terms.from, terms.to, value, 0n, FOREVER, nonce, signature];
      return send(token, testUsdcAbi, "transferWithAuthorization", args);
    },

    /** Funds an escrow by the buyer's authorization, and gives its terms and id. */
    deposit: async (
      buyer: Wallet,
      seller: Wallet,
      amount: bigint,
      deadline: bigint,
      more: Partial<Hire> = {},
    ) => {
      const hire: Hire = {
        hireId: generatePrivateKey(),
        buyer: buyer.address,
        seller: seller.address,
        payee: zeroAddress,
        amount,
        fee: 0n,
        feeRecipient: zeroAddress,
        deadline,
        arbiter: zeroAddress,
        ...more,
      };
      const id = escrowId(hire, { chainId: CHAIN_ID, escrow });
      const terms = {
        from: buyer.address,
        to: escrow,
        value: amount,
        validAfter: 0n,
        validBefore: FOREVER,
        nonce: id,
      };
      const signature = await buyer.account.signTypedData(receiveWithAuthorizationTypedData(terms, domain));
      await send(escrow, hireEscrowAbi, "depositWithAuthorization", [hire, 0n, FOREVER, signature]);
      return { hire, id };
    },

    /** Writes values into the storage of a contract, all in one request. */
    store: async (address: Address, values: readonly (readonly [slot: Hex, value: Hex])[]) => {
      const calls = values.map(([slot, value], id) => {
        return {
          jsonrpc: "2.0",
          id,
          method: "hardhat_setStorageAt",
          params: [address, shortened(slot), value],
        };
      });
      const headers = { "content-type": "application/json" };
      const response = await fetch(rpcUrl, { method: "POST", headers, body: JSON.stringify(calls) });
      const answers = (await response.json()) as { result?: boolean }[];
      if (!answers.every(({ result }) => result === true)) throw new Error(JSON.stringify(answers[0]));
    },

    /** Gives a wallet ether, so that it can send transactions itself. */
    fuel: (wallet: Wallet) => client.setBalance({ address: wallet.address, value: 10n ** 18n }),
    now: async () => (await client.getBlock()).timestamp,
    /** Blocks are mined one by one. If hardhat_mine makes more than a few at once, their parent hashes do not match. */
    mine: async (blocks = 1) => {
      for (let n = 0; n < blocks; n++) await client.mine({ blocks: 1 });
    },
  };
}

export { zeroAddress, zeroHash };

/** A number in the form that JSON-RPC requires: without zeros in front. */
function shortened(slot: Hex): Hex {
  return `0x${BigInt(slot).toString(16)}`;
}

function artifactOf(name: string): { abi: Abi; bytecode: Hex } {
  const contract = path.basename(name);
  const file = path.join(repositoryRoot, "artifacts/contracts", `${name}.sol`, `${contract}.json`);
  return JSON.parse(readFileSync(file, "utf8"));
}
