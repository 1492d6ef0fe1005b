import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "viem";
import { checkCompleteness } from "../../../indexer/logPort/completeness/checkCompleteness.ts";
import type { Call, TokenTransfer } from "../../../indexer/logPort/logPort.ts";
import { explainsBloom } from "../../../indexer/logPort/rpc/bloom.ts";
import { createRpcSource, type RpcSourceOptions } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { type LocalChain, newWallet, startLocalChain, zeroAddress } from "../support/localChain.ts";
import { transfersOnChain } from "../support/transfersOnChain.ts";

const CALL: Call = { signal: new AbortController().signal, deadlineMs: 30_000 };

describe("the log port on a real chain", () => {
  let supervisor: Supervisor;
  let folder: string;
  let chain: LocalChain;
  const [alice, bob, carol] = [newWallet(), newWallet(), newWallet()];
  const everybody = [alice, bob, carol].map(({ address }) => address);

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-logs-"));
    supervisor = await openSupervisor();
    chain = await startLocalChain(supervisor, folder);
    await chain.mint(alice, 1_000n);
    await chain.mint(bob, 50n);
    await chain.fuel(bob);
    for (let n = 1n; n <= 4n; n++) {
      await chain.pay(alice, bob, n);
      await chain.send(chain.token, testUsdcAbi, "transfer", [carol.address, 2n * n], bob);
    }
    await chain.send(chain.token, testUsdcAbi, "transfer", [bob.address, 7n], bob);
    await chain.mine(3);
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (more: Partial<RpcSourceOptions> = {}) =>
    createRpcSource({
      url: chain.rpcUrl,
      token: chain.token,
      firstBlock: 1,
      attempts: 2,
      pause: { first: 1, most: 1 },
      ...more,
    });
  const whole = async () => ({ from: 0, to: Number(await chain.client.getBlockNumber({ cacheTime: 0 })) });
  /** The transfers of the port, in the form of `transfersOnChain`. */
  const plain = (transfers: readonly TokenTransfer[]) =>
    transfers.map(({ block, log, from, to, value, tx }) => ({
      block,
      log,
      from,
      to,
      value: String(value),
      tx,
    }));
  const expected = async (side: "from" | "to", wallets: readonly Address[]) =>
    (await transfersOnChain(chain))
      .filter((transfer) => wallets.includes(transfer[side]))
      .map(({ block, log, from, to, value, tx }) => ({ block, log, from, to, value, tx }));

  it("gives the chain's logs: it reads final blocks by topics, and other blocks by their hashes", async () => {
    for (const more of [{}, { finalityBlocks: 6 }, { finalityBlocks: 6, batch: 1, maxBlocks: 3 }]) {
      const source = open(more);
      const [range, some] = [await whole(), [bob.address, carol.address]];
      expect(plain(await source.transfersTo(some, range, CALL))).to.deep.equal(await expected("to", some));
      expect(plain(await source.transfersFrom(some, range, CALL))).to.deep.equal(
        await expected("from", some),
      );
      const used = await source.authorizationsBy(everybody, range, CALL);
      expect(used.map(({ authorizer }) => authorizer)).to.deep.equal(Array(4).fill(alice.address));
      const minted = await source.transfersFrom([zeroAddress], range, CALL);
      expect(minted.map(({ value }) => value)).to.deep.equal([1_000n, 50n]);
    }
  });

  it("gives the logs of a transaction and of a block, and headers", async () => {
    const source = open();
    const { transactionHash, blockHash, blockNumber } = await chain.pay(alice, carol, 3n);
    const block = Number(blockNumber);
    const logs = await source.transactionLogs(transactionHash, block, CALL);
    expect(logs).to.include({ block, blockHash, tx: transactionHash });
    expect(logs?.transfers.map(({ to, value }) => ({ to, value }))).to.deep.equal([
      { to: carol.address, value: 3n },
    ]);
    expect(logs?.authorizations.map(({ authorizer }) => authorizer)).to.deep.equal([alice.address]);
    expect(await source.transactionLogs(transactionHash, block - 1, CALL)).to.equal(null);
    const at = { block, hash: blockHash };
    expect(plain(await source.transfersTo([carol.address], at, CALL))).to.deep.equal(
      plain(logs?.transfers ?? []),
    );
    const [header] = await source.headers([block], CALL);
    expect(header?.hash).to.equal(blockHash);
  });

  it("explains the bloom of a block by the block's logs, and not when one of them is missing", async () => {
    const { blockHash } = await chain.pay(alice, carol, 3n);
    const { logsBloom } = await chain.client.getBlock({ blockHash });
    const logs = await chain.client.getLogs({ blockHash });
    const values = logs.map(({ address, topics }) => [address, ...topics]);
    expect(values).to.have.length.above(1);
    expect(explainsBloom(logsBloom, values.flat())).to.equal(true);
    for (const [n] of values.entries()) {
      expect(explainsBloom(logsBloom, values.toSpliced(n, 1).flat()), `without log ${n}`).to.equal(false);
    }
    expect(explainsBloom(`0x${"0".repeat(512)}`, [])).to.equal(true);
  });

  it("gives the logs of a block by the receipts, behind a gateway that fails at logs without an address", async () => {
    const { blockHash, blockNumber } = await chain.pay(alice, carol, 3n);
    const at = { block: Number(blockNumber), hash: blockHash };
    const source = open({
      // The filtered question gets an empty list, as from a node that does not have all logs yet.
      fetch: async (url, init) => {
        const calls = [JSON.parse(String(init?.body))].flat();
        const isAll = calls.some(({ method, params }) => method === "eth_getLogs" && !params[0].address);
        if (isAll) return new Response("", { status: 502 });
        const replies = [await (await fetch(url, init)).json()].flat();
        const methods = new Map(calls.map(({ id, method }) => [id, method]));
        const edited = replies.map((it) =>
          methods.get(it.id) === "eth_getLogs" ? { ...it, result: [] } : it,
        );
        return Response.json(calls.length > 1 ? edited : edited[0]);
      },
    });
    const [logs] = await source.blockLogs([at], CALL);
    expect(logs).to.deep.equal((await open().blockLogs([at], CALL))[0]);
    expect(logs?.transfers.map(({ value }) => value)).to.deep.equal([3n]);
  });

  it("recognises an orphaned block", async () => {
    const snapshot = await chain.client.request({ method: "evm_snapshot" as never });
    const { blockHash, blockNumber } = await chain.pay(alice, bob, 11n);
    const at = { block: Number(blockNumber), hash: blockHash as Hex };
    expect(await open().transfersTo([bob.address], at, CALL)).to.have.length(1);
    await chain.client.request({ method: "evm_revert" as never, params: [snapshot] as never });
    expect(
      (
        await open()
          .transfersTo([bob.address], at, CALL)
          .catch((it) => it)
      ).code,
    ).to.equal("source_behind");
    await chain.mine(2);
    expect(
      (
        await open()
          .transfersTo([bob.address], at, CALL)
          .catch((it) => it)
      ).code,
    ).to.equal("source_orphaned_block");
  });

  it("gives transfers that add up to the balances, until one is lost", async () => {
    const source = open();
    const options = {
      balances: source,
      firstBlock: 1,
      watched: everybody,
      round: 0,
      rounds: 1,
      hubTransfers: 10_000,
    };
    const whole = await checkCompleteness({ ...options, port: source }, CALL);
    expect(whole).to.deep.include({ checked: everybody, hubs: [], gaps: [] });
    const losing = {
      ...source,
      transfersTo: async (...asked: Parameters<typeof source.transfersTo>) =>
        (await source.transfersTo(...asked)).slice(1),
    };
    const { gaps, at } = await checkCompleteness({ ...options, port: losing }, CALL);
    expect(gaps.map(({ wallet, difference }) => ({ wallet, difference }))).to.deep.equal([
      { wallet: alice.address, difference: 1_000n },
    ]);
    expect(gaps[0]).to.include({ block: at.block, blockHash: at.hash, source: source.name });
  });
});
