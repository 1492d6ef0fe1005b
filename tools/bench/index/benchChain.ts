import { readFileSync } from "node:fs";
import path from "node:path";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { type Abi, encodeDeployData, encodeFunctionData, zeroAddress } from "viem";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import type { Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import type { WorldTransfer } from "./world.ts";

/** npx fetches anvil, for the bench alone. Hardhat's node takes a minute for what anvil does in a second. */
const ANVIL = "@foundry-rs/anvil@1.7.1";
export const CHAIN_ID = 31_337;
const GENESIS_TIME = 1_767_225_000;
/** The gas limit of a block, and of each of its few transactions. */
const BLOCK_GAS = 10_000_000_000;
const GAS = `0x${(100_000_000).toString(16)}`;

export type BenchChain = Awaited<ReturnType<typeof startBenchChain>>;

/** An anvil chain that mines on request, with a contract that emits Transfers and an AnchoredLedger. */
export async function startBenchChain(supervisor: Supervisor, folder: string, name: string) {
  const port = await freePort();
  const rpcUrl = `http://127.0.0.1:${port}`;
  const rpc = rpcOf(rpcUrl);
  const args = ["-y", ANVIL, "--host", "127.0.0.1", "--port", String(port), "--silent", "--no-mining"];
  args.push("--chain-id", String(CHAIN_ID), "--timestamp", String(GENESIS_TIME), "--hardfork", "cancun");
  args.push("--gas-limit", String(BLOCK_GAS), "--block-base-fee-per-gas", "0", "--accounts", "1");
  await startService(supervisor, {
    name,
    command: "npx",
    args,
    cwd: folder,
    env: childEnvironment(),
    logFile: path.join(folder, `${name}.log`),
    isReady: async () => (await rpc("eth_chainId", [])) !== undefined,
    readyWithinMs: 120_000,
  });

  const [sender] = (await rpc<Address[]>("eth_accounts", [])) as [Address];
  let nonce = 0;
  let block = 0;
  /** The same call at the same position has the same hash in every run. */
  const send = (data: Hex, to?: Address) => {
    const fees = { gas: GAS, maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" };
    const transaction = { from: sender, to, data, nonce: `0x${(nonce++).toString(16)}`, ...fees };
    return rpc<Hex>("eth_sendTransaction", [transaction]);
  };
  let lastTime = GENESIS_TIME;
  const mine = async (time: number) => {
    await rpc("evm_mine", [{ timestamp: time }]);
    block++;
    lastTime = time;
  };
  const succeeded = async (hash: Hex) => {
    const receipt = await rpc<{ status: Hex; contractAddress: Address | null }>("eth_getTransactionReceipt", [
      hash,
    ]);
    if (receipt?.status !== "0x1") throw new Error(`Transaction ${hash} failed.`);
    return receipt;
  };
  const deploy = async (contract: string, time: number) => {
    const { abi, bytecode } = artifactOf(contract);
    const hash = await send(encodeDeployData({ abi, bytecode }));
    await mine(time);
    return { abi, address: (await succeeded(hash)).contractAddress?.toLowerCase() as Address };
  };
  const emitter = await deploy("test/TransferEmitter", GENESIS_TIME + 1);
  const anchoredLedger = await deploy("AnchoredLedger", GENESIS_TIME + 2);
  const origin = "tallystick.local/bench";
  await send(
    encodeFunctionData({ abi: anchoredLedgerAbi, functionName: "open", args: [origin, sender, zeroAddress] }),
    anchoredLedger.address,
  );
  await mine(GENESIS_TIME + 3);

  return {
    rpcUrl,
    token: emitter.address,
    anchoredLedger: anchoredLedger.address,
    ledger: ledgerId({
      chainId: CHAIN_ID,
      contract: anchoredLedger.address,
      writer: sender,
      guardian: zeroAddress,
      origin,
    }),
    /** Number and time of the last block. */
    block: () => block,
    time: () => lastTime,
    mine,
    succeeded,
    /** Sends one transaction with all these transfers; it is in the block mined next. */
    transfers: (transfers: WorldTransfer[]) =>
      send(
        encodeFunctionData({ abi: emitter.abi, functionName: "emitTransfers", args: [packed(transfers)] }),
        emitter.address,
      ),
    anchor: (id: Hex, size: number, root: Hex, proof: Hex[]) =>
      send(
        encodeFunctionData({
          abi: anchoredLedgerAbi,
          functionName: "anchor",
          args: [id, BigInt(size), root, proof, "0x"],
        }),
        anchoredLedger.address,
      ),
  };
}

type Rpc = <T>(method: string, params: unknown[]) => Promise<T>;

function rpcOf(rpcUrl: string): Rpc {
  let calls = 0;
  return async <T>(method: string, params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++calls, method, params });
    const headers = { "content-type": "application/json" };
    const answer = (await (await fetch(rpcUrl, { method: "POST", headers, body })).json()) as {
      result?: T;
      error?: { message: string };
    };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  };
}

function packed(transfers: WorldTransfer[]): Hex {
  const parts = transfers.map(
    ({ from, to, value, authorized }) =>
      `${from.slice(2)}${to.slice(2)}${value.toString(16).padStart(16, "0")}${authorized ? "01" : "00"}`,
  );
  return `0x${parts.join("")}`;
}

function artifactOf(name: string): { abi: Abi; bytecode: Hex } {
  const file = path.join(repositoryRoot, "artifacts/contracts", `${name}.sol`, `${path.basename(name)}.json`);
  return JSON.parse(readFileSync(file, "utf8"));
}
