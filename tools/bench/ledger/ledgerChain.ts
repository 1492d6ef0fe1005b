import hre, { network } from "hardhat";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { createPublicClient, createWalletClient, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { freePort } from "../../../scripts/processes/freePort.ts";
import { localTransport } from "../../../scripts/processes/localTransport.ts";
import { builtContracts } from "../../testing/builtContracts.ts";

/** The first account of Hardhat's local chain, which has money. */
export const WRITER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

export type LedgerChain = {
  rpcUrl: string;
  contract: Address;
  /** One JSON-RPC call. */
  request: (method: string, ...params: unknown[]) => Promise<unknown>;
  close: () => Promise<void>;
};

/** A local chain behind HTTP with an AnchoredLedger on it. */
export async function ledgerChain(): Promise<LedgerChain> {
  await builtContracts();
  const port = await freePort();
  const server = await network.createServer(undefined, "127.0.0.1", port);
  await server.listen();
  const rpcUrl = `http://127.0.0.1:${port}`;
  const { bytecode } = await hre.artifacts.readArtifact("AnchoredLedger");
  const account = privateKeyToAccount(WRITER_KEY);
  const wallet = createWalletClient({ account, chain: hardhat, transport: localTransport(rpcUrl) });
  const hash = await wallet.deployContract({ abi: anchoredLedgerAbi, bytecode: bytecode as Hex });
  const client = createPublicClient({ transport: localTransport(rpcUrl), pollingInterval: 50 });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  return {
    rpcUrl,
    contract: (contractAddress as string).toLowerCase() as Address,
    request: async (method, ...params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(rpcUrl, { method: "POST", body, headers });
      return ((await answer.json()) as { result: unknown }).result;
    },
    close: () => server.close(),
  };
}
