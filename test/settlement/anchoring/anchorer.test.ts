import { expect } from "chai";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { headWord } from "tallystick-protocol/ledger/word";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import {
  createPublicClient,
  createWalletClient,
  custom,
  type EIP1193RequestFn,
  type Hex,
  type Transport,
  zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anchorContract } from "../../../services/settlement/anchoring/anchorContract.ts";
import { Anchorer } from "../../../services/settlement/anchoring/anchorer.ts";
import { ChainWatch } from "../../../services/settlement/anchoring/chainWatch.ts";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import { type Chain, freshChain } from "../../support/freshChain.ts";

/** The first account of Hardhat's local chain, which has money. */
const writer = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const ORIGIN = "tallystick.test/anchorer";
const CHAIN_ID = 31337;

/** So long that a slow machine gets every receipt in time. */
const RECEIPT_MS = 60_000;

describe("the anchorer", () => {
  let chain: Chain;
  let contract: Address;
  let tree: MerkleTree;
  /** Gets the method of each RPC request before the request is answered. Tests let it throw. */
  let onRequest: (method: string) => void;
  const running = new Set<Anchorer>();

  before(async () => {
    chain = await freshChain();
  });
  after(() => chain.close());

  beforeEach(async () => {
    onRequest = () => {};
    const deployed = await chain.ethers.deployContract("AnchoredLedger");
    contract = (await deployed.getAddress()).toLowerCase() as Address;
    tree = new MerkleTree();
  });
  afterEach(async () => {
    await Promise.all([...running].map((anchorer) => anchorer.stop()));
    running.clear();
  });

  const transport: Transport = (options) =>
    custom({
      request: (async (request: { method: string; params?: unknown }) => {
        onRequest(request.method);
        return chain.provider.request(request as never);
      }) as EIP1193RequestFn,
    })({ ...options, retryCount: 0 });
  const id = (): Hex =>
    ledgerId({
      chainId: CHAIN_ID,
      contract,
      writer: writer.address.toLowerCase() as Address,
      guardian: zeroAddress,
      origin: ORIGIN,
    });
  const head = () =>
    createPublicClient({ transport }).readContract({
      address: contract,
      abi: anchoredLedgerAbi,
      functionName: "head",
      args: [id()],
    });
  const isOpen = () =>
    head().then(
      () => true,
      () => false,
    );
  const grow = (count: number) => {
    for (let i = 0; i < count; i++) tree.append(leafHash(Uint8Array.of(tree.size)));
  };

  function create({
    receiptTimeoutMs = RECEIPT_MS,
    ...parameters
  }: Partial<ConstructorParameters<typeof Anchorer>[0]> & {
    chainId?: number;
    receiptTimeoutMs?: number;
  } = {}) {
    const log: string[] = [];
    const contractOnChain = anchorContract({
      transport,
      account: writer,
      writer: writer.address.toLowerCase() as Address,
      chainId: parameters.chainId ?? CHAIN_ID,
      contract,
      ledgerId: id(),
      origin: ORIGIN,
      guardian: zeroAddress,
      pollingIntervalMs: 20,
      receiptTimeoutMs,
    });
    const anchorer = new Anchorer({
      contract: contractOnChain,
      watch: new ChainWatch({
        tree: parameters.tree ?? tree,
        writer: writer.address.toLowerCase() as Address,
        gate: new LedgerGate(() => {}),
        forgives: true,
      }),
      history: { cover: async () => {} },
      tree,
      intervalMs: 25,
      maxEntries: 1000,
      backoffMs: { first: 10, longest: 40 },
      log: (sentence) => log.push(sentence),
      ...parameters,
    });
    running.add(anchorer);
    return { anchorer, log };
  }

  async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async function refusal(action: Promise<unknown>): Promise<TallystickError> {
    return action.then(
      () => expect.fail("it went through"),
      (error) => error,
    );
  }

  it("opens the ledger when it does not exist yet, and anchors nothing while it is empty", async () => {
    const { anchorer } = create();
    expect(await anchorer.anchorOnce()).to.deep.equal({ kind: "upToDate", size: 0 });
    expect(await head()).to.include({ size: 0n, seq: 0n });
  });

  it("anchors the size that its witnesses have cosigned, and nothing if required witnesses are missing", async () => {
    let cosigned = 2;
    const asked: [number, number][] = [];
    const { anchorer } = create({
      sizeToAnchor: async (oldSize: number, size: number) => {
        asked.push([oldSize, size]);
        if (cosigned <= oldSize) throw new Error("no quorum");
        return cosigned;
      },
    });
    await anchorer.anchorOnce();
    expect(asked).to.deep.equal([]);
    for (let n = 0; n < 5; n++) tree.append(leafHash(Uint8Array.of(n)));
    expect(await anchorer.anchorOnce()).to.include({ oldSize: 0, newSize: 2 });
    expect(await head()).to.include({ size: 2n });
    expect((await refusal(anchorer.anchorOnce())).message).to.equal("no quorum");
    expect(await head()).to.include({ size: 2n });
    cosigned = 5;
    expect(await anchorer.anchorOnce()).to.include({ oldSize: 2, newSize: 5 });
    expect(await anchorer.anchorOnce()).to.deep.equal({ kind: "upToDate", size: 5 });
    expect(asked).to.deep.equal([
      [0, 5],
      [2, 5],
      [2, 5],
    ]);
  });

  it("anchors new entries, from any size to any size", async () => {
    const { anchorer } = create();
    for (const count of [1, 1, 2, 3, 9, 0, 47]) {
      grow(count);
      const round = await anchorer.anchorOnce();
      expect(round.kind).to.equal(count === 0 ? "upToDate" : "anchored");
      const { size, root } = await head();
      expect([size, root]).to.deep.equal([BigInt(tree.size), toHex(tree.root())]);
    }
    expect(anchorer.state).to.deep.include({ size: 63, seq: 6, error: null });
  });

  it("anchors a long ledger in several rounds, also if its witnesses have cosigned all of it", async () => {
    grow(7);
    const asIs = create({ maxAnchored: 3 }).anchorer;
    expect(await asIs.anchorOnce()).to.include({ oldSize: 0, newSize: 3 });
    const { root } = await head();
    expect(root).to.equal(toHex(tree.root(3)));
    const witnessed = create({ maxAnchored: 3, sizeToAnchor: async () => 7 }).anchorer;
    expect(await witnessed.anchorOnce()).to.include({ oldSize: 3, newSize: 6 });
    expect(await witnessed.anchorOnce()).to.include({ oldSize: 6, newSize: 7 });
    expect(await witnessed.anchorOnce()).to.deep.equal({ kind: "upToDate", size: 7 });
  });

  it("continues from the head on chain after a restart", async () => {
    grow(5);
    await create().anchorer.anchorOnce();
    grow(4);
    const round = await create().anchorer.anchorOnce();
    expect(round).to.include({ kind: "anchored", oldSize: 5, newSize: 9 });
  });

  it("anchors again after a reorg, which may also undo the opening of the ledger", async () => {
    const { anchorer } = create();
    const beforeAll = await chain.provider.request({ method: "evm_snapshot" });
    grow(3);
    await anchorer.anchorOnce();
    const beforeSecond = await chain.provider.request({ method: "evm_snapshot" });
    grow(4);
    await anchorer.anchorOnce();
    await chain.provider.request({ method: "evm_revert", params: [beforeSecond] });
    expect((await head()).size).to.equal(3n);
    expect(await anchorer.anchorOnce()).to.include({ kind: "anchored", oldSize: 3, newSize: 7 });
    await chain.provider.request({ method: "evm_revert", params: [beforeAll] });
    expect(await anchorer.anchorOnce()).to.include({ kind: "anchored", oldSize: 0, newSize: 7 });
  });

  it("sends nothing if the entries on disk differ from the anchored ones", async () => {
    grow(5);
    await create().anchorer.anchorOnce();
    const rewritten = new MerkleTree();
    for (let i = 0; i < 8; i++) rewritten.append(leafHash(Uint8Array.of(i === 2 ? 99 : i)));
    const { anchorer } = create({ tree: rewritten });
    onRequest = (method) => expect(method).not.to.match(/^eth_send/);
    expect((await refusal(anchorer.anchorOnce())).code).to.equal("root_contradicts");
    expect((await head()).size).to.equal(5n);
  });

  it("sends nothing if anchored entries are missing on disk", async () => {
    grow(5);
    await create().anchorer.anchorOnce();
    const shorter = new MerkleTree();
    for (let i = 0; i < 3; i++) shorter.append(tree.leaf(i));
    const { anchorer } = create({ tree: shorter });
    onRequest = (method) => expect(method).not.to.match(/^eth_send/);
    expect((await refusal(anchorer.anchorOnce())).code).to.equal("chain_ahead");
  });

  it("sends nothing to a chain other than the configured one", async () => {
    grow(1);
    expect((await refusal(create({ chainId: 1 }).anchorer.anchorOnce())).code).to.equal("wrong_chain");
  });

  it("keeps anchoring by itself as the ledger grows", async () => {
    const { anchorer, log } = create();
    const anchored = () => log.filter((sentence) => sentence === "Anchored the ledger.").length;
    anchorer.start();
    for (let round = 1; round <= 3; round++) {
      grow(2);
      await until(async () => anchorer.state.size === 2 * round && anchored() === round);
    }
    expect((await head()).size).to.equal(6n);
    expect(anchored()).to.equal(3);
  });

  it("anchors early if enough entries wait", async () => {
    const { anchorer } = create({ intervalMs: 3_600_000, maxEntries: 3 });
    anchorer.start();
    await until(
      async () => (await createPublicClient({ transport }).getCode({ address: contract })) !== undefined,
    );
    await until(() => anchorer.state.size === 0 && anchorer.state.error === null);
    grow(3);
    await until(() => {
      anchorer.grown();
      return anchorer.state.size === 3;
    });
    expect((await head()).size).to.equal(3n);
  });

  it("survives an RPC that does not answer, with longer and longer pauses, and continues when it is back", async () => {
    const { anchorer, log } = create();
    anchorer.start();
    await until(() => anchorer.state.error === null);
    onRequest = () => {
      throw new Error("connect ECONNREFUSED");
    };
    await until(() => log.filter((sentence) => sentence.startsWith("Anchoring failed")).length >= 3);
    expect(anchorer.state.error).to.be.a("string");
    grow(2);
    onRequest = () => {};
    // The size is known as soon as the chain shows it, and the error is gone when the round has ended.
    await until(() => anchorer.state.size === 2 && anchorer.state.error === null);
    expect((await head()).size).to.equal(2n);
  });

  it("keeps the words of an RPC and of a signing command for the log, because strangers read its state", async () => {
    for (const [error, shown] of [
      [new Error("no peers at 10.0.0.7"), "The chain gave no answer, or refused the transaction."],
      [
        new TallystickError({ code: "signer_failed", message: "It ended with 1: no token in 10.0.0.7" }),
        "The signing command gave no signature.",
      ],
      [new TallystickError({ code: "wrong_chain", message: "It is chain 1." }), "It is chain 1."],
      [
        Object.assign(new Error("EROFS: read-only file system, open '/of/operator'"), {
          path: "/of/operator",
        }),
        "The disk failed: EROFS: read-only file system.",
      ],
      [Object.assign(new Error("ENOSPC, write"), { code: "ENOSPC" }), "The disk failed: ENOSPC, write."],
    ] as const) {
      const logged: unknown[] = [];
      const { anchorer } = create({
        contract: { read: () => Promise.reject(error) } as never,
        log: (_, fields) => logged.push(fields?.reason),
      });
      anchorer.start();
      await until(() => anchorer.state.error !== null);
      await anchorer.stop();
      expect(anchorer.state.error).to.equal(shown);
      expect(logged[0]).to.equal(error.message);
    }
  });

  it("reports once when the anchor is older than twice the interval, and once when it is up to date again", async () => {
    const said = (words: string) => log.filter((sentence) => sentence.includes(words)).length;
    let now = 0;
    const { anchorer, log } = create({ intervalMs: 20, elapsedMs: () => now });
    await anchorer.anchorOnce();
    onRequest = () => {
      throw new Error("connect ECONNREFUSED");
    };
    anchorer.start();
    now = 41;
    await until(() => anchorer.state.stale && said("older than twice") === 1);
    expect(anchorer.state.age).to.equal(0.041);
    await until(() => anchorer.state.failures >= 3);
    expect(said("older than twice")).to.equal(1);
    onRequest = () => {};
    await until(() => said("up to date again") === 1);
    expect(anchorer.state.error).to.equal(null);
  });

  it("replaces a transaction that nobody mines by one that pays more", async () => {
    const { anchorer } = create();
    await anchorer.anchorOnce();
    grow(2);
    await chain.provider.request({ method: "evm_setAutomine", params: [false] });
    // The test ends the wait for the first receipt, instead of the clock.
    const real = globalThis.setTimeout;
    const ends: (() => void)[] = [];
    globalThis.setTimeout = ((run: () => void, ms: number, ...more: []) =>
      ms === RECEIPT_MS ? ends.push(run) : real(run, ms, ...more)) as never;
    try {
      const first = refusal(anchorer.anchorOnce());
      await until(() => ends.length === 1);
      ends[0]?.();
      expect((await first).name).to.equal("WaitForTransactionReceiptTimeoutError");
      const waiting = await pending();
      expect(waiting).to.have.length(1);
      const second = anchorer.anchorOnce();
      let replaced = waiting;
      await until(async () => {
        replaced = await pending();
        return replaced[0]?.hash !== waiting[0]?.hash;
      });
      expect(replaced).to.have.length(1);
      expect(BigInt(replaced[0]!.maxFeePerGas)).to.be.greaterThan(BigInt(waiting[0]!.maxFeePerGas));
      await chain.provider.request({ method: "hardhat_mine", params: [] });
      expect(await second).to.include({ kind: "anchored", newSize: 2 });
    } finally {
      globalThis.setTimeout = real;
      await chain.provider.request({ method: "evm_setAutomine", params: [true] });
    }
    expect((await head()).seq).to.equal(1n);
  });

  it("pays at most ten times the price, however long the chain mines no block", async () => {
    await create().anchorer.anchorOnce();
    grow(2);
    const { anchorer } = create({ receiptTimeoutMs: 20 });
    await chain.provider.request({ method: "evm_setAutomine", params: [false] });
    try {
      await refusal(anchorer.anchorOnce());
      const [first] = await pending();
      // Without a limit, 15 replacements would cost 28 times as much.
      for (let round = 0; round < 15; round++) await refusal(anchorer.anchorOnce());
      const waiting = await pending();
      expect(waiting).to.have.length(1);
      const times = Number(BigInt(waiting[0]!.maxFeePerGas)) / Number(BigInt(first!.maxFeePerGas));
      expect(times).to.be.within(2, 10);
      await chain.provider.request({ method: "hardhat_mine", params: [] });
    } finally {
      await chain.provider.request({ method: "evm_setAutomine", params: [true] });
    }
    expect((await head()).size).to.equal(2n);
  });

  it("replaces a transaction of an earlier process that nobody mines", async () => {
    await create().anchorer.anchorOnce();
    grow(2);
    const earlier = create({ receiptTimeoutMs: 300 }).anchorer;
    await chain.provider.request({ method: "evm_setAutomine", params: [false] });
    try {
      await refusal(earlier.anchorOnce());
      const { anchorer } = create({ receiptTimeoutMs: 50 });
      for (let round = 0; round < 3; round++) await refusal(anchorer.anchorOnce());
      // A second transaction would wait for the first one, so a higher price for the second would not help.
      expect(await pending()).to.have.length(1);
      await chain.provider.request({ method: "hardhat_mine", params: [] });
    } finally {
      await chain.provider.request({ method: "evm_setAutomine", params: [true] });
    }
    expect((await head()).seq).to.equal(1n);
  });

  async function pending(): Promise<{ hash: Hex; maxFeePerGas: Hex }[]> {
    const block = (await chain.provider.request({
      method: "eth_getBlockByNumber",
      params: ["pending", true],
    })) as {
      transactions: { hash: Hex; maxFeePerGas: Hex }[];
    };
    return block.transactions;
  }

  it("sends nothing for a ledger that the contract has marked, and reports it", async () => {
    grow(2);
    const { anchorer } = create();
    await anchorer.anchorOnce();
    const wallet = createWalletClient({ account: writer, transport });
    const heads = [2, 3].map((leaf) => ({
      ledgerId: id(),
      size: 9n,
      root: toHex(leafHash(Uint8Array.of(leaf))),
    }));
    const domain = {
      name: "Tallystick AnchoredLedger",
      version: "1",
      chainId: CHAIN_ID,
      verifyingContract: contract,
    };
    const types = {
      Head: [
        { name: "ledgerId", type: "bytes32" },
        { name: "size", type: "uint64" },
        { name: "root", type: "bytes32" },
      ],
    } as const;
    const words = await Promise.all(
      heads.map(async (message) => {
        const signature = await writer.signTypedData({ domain, types, primaryType: "Head", message });
        return headWord({ ...message, signer: writer.address, signature });
      }),
    );
    await wallet.writeContract({
      chain: null,
      address: contract,
      abi: anchoredLedgerAbi,
      functionName: "proveFork",
      args: [id(), words[0]!, words[1]!, words[1]!.root, []],
    });
    grow(1);
    onRequest = (method) => expect(method).not.to.match(/^eth_send/);
    expect((await refusal(anchorer.anchorOnce())).code).to.equal("ledger_equivocated");
  });

  it("stops on request, also while it waits for its next round", async () => {
    const { anchorer } = create({ intervalMs: 3_600_000 });
    anchorer.start();
    await until(isOpen);
    await anchorer.stop();
  });
});
