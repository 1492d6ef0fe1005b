import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { askWallet } from "tallystick-protocol/erc1271/askWallet";
import { toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { headTypedData } from "tallystick-protocol/ledger/anchor";
import { headWord } from "tallystick-protocol/ledger/word";
import { bindBody } from "tallystick-protocol/records/binding";
import { recordPayload, recordSigningHash, signBody } from "tallystick-protocol/records/record";
import {
  createPublicClient,
  encodeAbiParameters,
  type Hex,
  http,
  keccak256,
  numberToHex,
  toBytes,
} from "viem";
import { openNodeSnapshot } from "../../indexer/nodeDatabase.ts";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { testDatabase } from "../support/testDatabase.ts";
import { expectedLog, type WrittenEntry } from "./support/expectedLog.ts";
import { startFaultyRpc } from "./support/faultyRpc.ts";
import { startIndexer } from "./support/indexerProcess.ts";
import {
  CHAIN_ID,
  type LocalChain,
  newWallet,
  PROVIDER,
  startLocalChain,
  type Wallet,
  zeroHash,
} from "./support/localChain.ts";
import { startStatelessRpc } from "./support/statelessRpc.ts";
import { openOnChain, TestLedger } from "./support/testLedger.ts";

const TICK_BLOCKS = 3;

/** The code of a wallet that accepts every signature, and the codes that replace it later. */
const YES: Hex = "0x631626ba7e60e01b60005260206000f3";
const BECOMES: { [name: string]: Hex } = {
  true: YES,
  reverting: "0x60006000fd",
  burning: "0x5b600056",
  invalid: "0xfe",
  bombing: "0x621000006000f3",
  gone: "0x",
};

/** Code that logs its call data: three topics, then the data. */
const ANNOUNCER: Hex = ("0x6060360380606060003760403560203560003583600" + "0a300") as Hex;

describe("a node's event log", () => {
  let folder: string;
  let supervisor: Supervisor;
  let chain: LocalChain;
  let anchoredLedgerCode: Hex;
  const [buyer, seller, writer] = [newWallet(), newWallet(), newWallet()];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-log-"));
    supervisor = await openSupervisor();
    chain = await startLocalChain(supervisor, folder);
    anchoredLedgerCode = (await chain.client.getCode({ address: chain.anchoredLedger })) as Hex;
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens a ledger on the chain. Gives the ledger, its entries, and the expected rows of these entries. */
  async function open(name: string) {
    const { id, anchor } = await openOnChain(chain, writer, `test.local/${name}`);
    const ledger = new TestLedger();
    const written: WrittenEntry[] = [];
    const place = path.join(folder, name);
    const append = (payload: Parameters<TestLedger["append"]>[0], entry: object) => {
      written.push({ hash: ledger.append(payload).currentHash, ...entry } as WrittenEntry);
    };
    return {
      id,
      ledger,
      written,
      place,
      append,
      say: (type: string, fields: RecordBody, by: Wallet, signer: Hex = by.address) =>
        signBody(bindBody(fields, { type, ledger: id }), by).then((signature) => {
          const record = { type, body: bindBody(fields, { type, ledger: id }), signer, signature };
          append(recordPayload(record), { record });
          return record;
        }),
      anchor: async () => {
        await ledger.save(place);
        return anchor(ledger);
      },
    };
  }

  const listing = (agent: Hex, price = "0.50"): RecordBody => ({
    agent_id: agent,
    capability: "text.translate",
    endpoint: "https://seller.example",
    max_latency_ms: 1000,
    price_usdc: price,
  });

  async function payments(): Promise<void> {
    await chain.fuel(buyer);
    await chain.fuel(seller);
    await chain.mint(buyer, 100_000_000n);
    await chain.pay(buyer, seller, 500_000n);
    await chain.send(chain.token, testUsdcAbi, "transfer", [seller.address, 700_000n], buyer);
    const deadline = (await chain.now()) + 3_600n;
    const escrowed = async (until = deadline) => (await chain.deposit(buyer, seller, 400_000n, until)).hire;
    const act = (name: string, args: unknown[], by: Wallet) =>
      chain.send(chain.escrow, hireEscrowAbi, name, args, by);
    const delivered = await escrowed();
    await act("markDelivered", [delivered, `0x${"ab".repeat(32)}`, "0x"], seller);
    await act("release", [delivered, "0x"], buyer);
    await act("split", [await escrowed(), 100_000n, "0x"], buyer);
    await act("refund", [await escrowed(), seller.address, "0x"], seller);
    // The deadline is as far away as its type allows.
    await escrowed(2n ** 64n - 1n);
    const [late, silent] = [await escrowed(deadline + 1n), await escrowed(deadline + 1n)];
    await act("markDelivered", [silent, zeroHash, "0x"], seller);
    await chain.client.setNextBlockTimestamp({ timestamp: deadline + 2n });
    await act("timeoutRefund", [late], buyer);
    await act("timeoutRefund", [silent], buyer);
  }

  it("equals the content of the chain and the ledgers, line by line", async () => {
    await payments();
    const [first, second, other] = [await open("first"), await open("second"), await open("other")];

    // A writer may anchor its ledger before it has an entry.
    await first.anchor();
    // Every wallet accepted the signature when its record was submitted. At the anchor, each wallet behaves
    // as its name says.
    const reader = createPublicClient({ transport: http(chain.rpcUrl) });
    const wallets = Object.keys(BECOMES).map((name, n) => ({
      name,
      address: numberToHex(0xc0ffee + n, { size: 20 }),
    }));
    for (const { address } of wallets) {
      await chain.client.setCode({ address, bytecode: YES });
      const { body, signature } = await first.say("listing", listing(address), seller, address);
      const question = { signer: address, hash: recordSigningHash(body), signature };
      expect(await askWallet(reader, question, chain.anchoredLedger)).to.equal("yes");
    }
    for (const { name, address } of wallets) {
      await chain.client.setCode({ address, bytecode: BECOMES[name] as Hex });
    }
    await first.say("listing", listing(seller.address), seller);
    await first.say("stake", { task_id: "t", proposal: "cd".repeat(32) }, buyer);
    first.append({ type: "settlement", data_update: { n: 1.5 }, confidence_score: 0.9 }, { shown: null });
    const unreadable = { type: "receipt", body: { n: 0.5 }, signer: seller.address, signature: "0x00" };
    const nothing = { type: "receipt", body: {}, signer: `0x${"00".repeat(20)}`, signature: "0x" };
    const error = "body.n: must not be a float; use an integer or a decimal string";
    first.append(unreadable, { shown: { ...nothing, error } });
    await first.anchor();
    await first.say("listing", listing(seller.address, "0.60"), seller);
    await first.anchor();
    // This anchor has no entries: it is a heartbeat. The node does not follow the ledger `other`.
    await first.anchor();
    await other.say("listing", listing(buyer.address), buyer);
    await other.anchor();

    await second.say("listing", listing(buyer.address), buyer);
    await second.anchor();
    await equivocate(second.id, second.ledger);
    await second.say("listing", listing(buyer.address, "0.10"), buyer);
    await anchorAllTheSame(second);
    while ((await chain.client.getBlockNumber()) % BigInt(TICK_BLOCKS) !== 0n) await chain.mine();

    const lines = await nodesLog([first, second]);
    const followed = new Map([first, second].map(({ id, written }) => [id, written]));
    const expected = await expectedLog(chain, { followed, provider: PROVIDER, tickBlocks: TICK_BLOCKS });
    const [params, ...events] = lines;
    const { timestamp } = await chain.client.getBlock({ blockNumber: 0n });
    // A receipt of another chain does not count, so the log begins with its chain.
    const begin = { block: 0, time: Number(timestamp), log: 0, kind: "params", chainId: CHAIN_ID };
    expect(params).to.deep.include(begin);
    expect(params).to.have.deep.property("token", { address: chain.token, firstBlock: 0 });
    for (const [n, line] of expected.entries()) expect(events[n], `line ${n + 2}`).to.deep.equal(line);
    expect(events).to.have.length(expected.length);

    // Without this check, the test could cover less than its title says.
    const verdicts = expected.flatMap((line) => (line.kind === "record" ? [line.erc1271] : []));
    expect(verdicts.slice(0, wallets.length)).to.deep.equal([true, false, false, false, false, undefined]);
    const kinds = new Set(expected.map(({ kind }) => kind));
    expect([...kinds].sort()).to.deep.equal([
      "escrow.delivered",
      "escrow.deposited",
      "escrow.refunded",
      "escrow.released",
      "escrow.timedOut",
      "record",
      "tick",
      "transfer",
    ]);
    expect(
      new Set(expected.filter(({ kind }) => kind === "transfer").map((it) => it.authorized)).size,
    ).to.equal(2);
  }).timeout(0);

  /** Proves a fork with two heads of one size that the ledger's writer signed. */
  async function equivocate(ledgerId: Hex, { size }: TestLedger): Promise<void> {
    const words = await Promise.all(
      [`0x${"0a".repeat(32)}` as const, `0x${"0b".repeat(32)}` as const].map(async (root) => {
        const head = { ledgerId, size: BigInt(size), root };
        const typed = headTypedData(head, { chainId: CHAIN_ID, contract: chain.anchoredLedger });
        const signature = await writer.account.signTypedData(typed);
        return headWord({ ...head, signer: writer.address, signature });
      }),
    );
    const args = [ledgerId, ...words, words[1]?.root, []];
    await chain.send(chain.anchoredLedger, anchoredLedgerAbi, "proveFork", args);
  }

  /** Logs one more anchor of a ledger whose writer was convicted. The real contract does not do this. */
  async function anchorAllTheSame({ id, ledger, place }: Awaited<ReturnType<typeof open>>): Promise<void> {
    await ledger.save(place);
    const topic = keccak256(toBytes("Anchored(bytes32,uint64,uint64,uint64,bytes32)"));
    const types = ["bytes32", "bytes32", "uint64", "uint64", "uint64", "bytes32"].map((type) => ({ type }));
    const data = encodeAbiParameters(types, [
      topic,
      id,
      2n,
      BigInt(ledger.size - 1),
      BigInt(ledger.size),
      ledger.root(),
    ]);
    await chain.client.setCode({ address: chain.anchoredLedger, bytecode: ANNOUNCER });
    const hash = await chain.client.sendTransaction({ to: chain.anchoredLedger, data });
    const { status, logs } = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    expect([status, logs[0]?.topics[1]]).to.deep.equal(["success", id]);
  }

  it("waits for a source of transfers, and names a wallet whose transfers do not add up if the source leaves one out", async () => {
    // This is the contract's code from before the additional anchor.
    await chain.client.setCode({ address: chain.anchoredLedger, bytecode: anchoredLedgerCode });
    const ledger = await open("lossy");
    await ledger.say("listing", listing(seller.address), seller);
    const { transactionHash: lost } = await chain.pay(buyer, seller, 12_345n);
    await ledger.anchor();
    // All these blocks become final.
    await chain.mine(33);
    const rpc = await startFaultyRpc(chain.rpcUrl, { token: chain.token, lost });
    rpc.refuses = true;
    try {
      const indexer = await start("lossy", [ledger], {
        TRANSFERS: "relevant",
        BALANCE_CHECK_TICKS: "1",
        RPC_URL: rpc.url,
      });
      type Late = { wallet: string | null; reason: string; attempts: number };
      const said = async () => {
        const { meta } = await indexer.query<{ meta: { block: number; blockedAtTransfers: Late | null } }>(
          "{ meta { block blockedAtTransfers { wallet reason attempts } } }",
        );
        return meta;
      };
      const waiting = await indexer.until("the node to wait for its source", async () => {
        return (await said()).blockedAtTransfers ?? undefined;
      });
      expect(waiting).to.deep.include({ wallet: null });
      expect(waiting.reason).to.contain("401");
      rpc.refuses = false;
      await indexer.until("the gap to be reported", async () => {
        return (await said()).blockedAtTransfers?.wallet ?? undefined;
      });
      await chain.mine(2 * TICK_BLOCKS);
      await indexer.until("a tick to wait", async () => {
        return ((await said()).blockedAtTransfers?.attempts ?? 0) > 0;
      });
      const { block, blockedAtTransfers } = await said();
      expect(block).to.be.lessThan(Number(await chain.client.getBlockNumber()) - TICK_BLOCKS);
      const late = blockedAtTransfers as Late;
      // The transfer is missing for both wallets. The payers were watched first, so the buyer is named.
      expect(late.wallet, late.reason).to.equal(buyer.address);
      expect(late.reason).to.contain("lack 12345 atomic units that it sent");
      expect(rpc.dropped).to.be.greaterThan(0);
      const metrics = await (await fetch(`${indexer.url}/metrics`)).text();
      expect(metrics).to.match(/^tallystick_blocked_at_transfers_seconds [1-9]/m);
      expect(metrics).to.match(/^tallystick_log_requests_total\{source="rpc:127[^}]*outcome="ok"\} [1-9]/m);
      expect(metrics).to.match(/^tallystick_transfers_unchecked_seconds 0$/m);
      await indexer.stop();
    } finally {
      await rpc.close();
    }
  }).timeout(0);

  it("asks a contract wallet again when the chain's node has the state of the block again", async () => {
    await chain.client.setCode({ address: chain.anchoredLedger, bytecode: anchoredLedgerCode });
    const ledger = await open("stateless");
    const wallet = numberToHex(0xdecaf, { size: 20 });
    await chain.client.setCode({ address: wallet, bytecode: YES });
    await ledger.say("listing", listing(wallet), seller, wallet);
    await ledger.anchor();
    const rpc = await startStatelessRpc(chain.rpcUrl);
    try {
      const indexer = await start("stateless", [ledger], { RPC_URL: rpc.url });
      type Wait = { reason: string; attempts: number };
      const wait = await indexer.until("the node to wait", async () => {
        const { meta } = await indexer.query<{ meta: { blockedAtSegment: Wait | null } }>(
          "{ meta { blockedAtSegment { reason attempts } } }",
        );
        return (meta.blockedAtSegment?.attempts ?? 0) > 1 && meta.blockedAtSegment;
      });
      expect((wait as Wait).reason).to.contain("no state of this block");
      rpc.lacksState = false;
      await indexer.until("the wallet's listing", async () => {
        const { agent } = await indexer.query<{ agent: object | null }>(
          `{ agent(address: "${wallet}") { id } }`,
        );
        return agent !== null;
      });
      await indexer.stop();
    } finally {
      await rpc.close();
    }
  }).timeout(0);

  it("applies a segment that is read in several parts, and continues it", async () => {
    await chain.client.setCode({ address: chain.anchoredLedger, bytecode: anchoredLedgerCode });
    const { id, ledger, place, say, append, anchor } = await open("large");
    await say("listing", listing(seller.address), seller);
    // A part ends after the line with the last byte of 32 MiB.
    const text = "x".repeat(12 << 20);
    for (let n = 0; n < 3; n++) append({ type: "settlement", data_update: { text } }, { shown: null });
    await say("listing", listing(seller.address, "0.60"), seller);
    await anchor();
    const indexer = await start("large", [{ id, place }]);
    const expectAll = async () => {
      const whole = await indexer.until("the whole ledger", async () => {
        const { meta } = await indexer.query<{ meta: { ledgers: { size: number; root: string }[] } }>(
          "{ meta { ledgers { size root } } }",
        );
        return meta.ledgers[0]?.size === ledger.size && meta.ledgers;
      });
      expect(whole).to.deep.equal([{ size: ledger.size, root: ledger.root() }]);
      for (const [seq, { currentHash, payload }] of ledger.entries.entries()) {
        const { ledgerEntry } = await indexer.query<{ ledgerEntry: object }>(
          `{ ledgerEntry(ledger: "${id}", seq: ${seq}) { hash type record { valid } inclusionProof { leafHash hashes } } }`,
        );
        expect(ledgerEntry).to.deep.equal({
          hash: currentHash,
          type: payload.type,
          record: payload.type === "listing" ? { valid: true } : null,
          inclusionProof: {
            leafHash: toHex(ledger.tree.leaf(seq)),
            hashes: ledger.tree.inclusionProof(seq).map((hash) => toHex(hash)),
          },
        });
      }
    };
    await expectAll();
    await say("listing", listing(seller.address, "0.70"), seller);
    await anchor();
    await expectAll();
  }).timeout(0);

  async function nodesLog(ledgers: { id: Hex; place: string }[]): Promise<object[]> {
    const indexer = await start("node", ledgers);
    await indexer.untilTick(await chain.client.getBlockNumber());
    const snapshot = await openNodeSnapshot({
      databaseUrl: indexer.databaseUrl,
      databaseSchema: "tallystick",
    });
    const lines: object[] = [];
    for await (const line of snapshot.eventLog()) lines.push(JSON.parse(line));
    await snapshot.close();
    await indexer.stop();
    return lines;
  }

  /** Starts a node. Its test stops it, because a node that only waits for blocks takes a tenth of a core. */
  async function start(
    name: string,
    ledgers: { id: Hex; place: string }[],
    more: Record<string, string> = {},
  ) {
    const databaseUrl = await testDatabase();
    const environment = {
      DATABASE_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      ESCROWS: `${chain.escrow}=${PROVIDER}`,
      ANCHORED_LEDGER: chain.anchoredLedger,
      LEDGERS: ledgers.map(({ id, place }) => `${id}=${place}`).join(","),
      TICK_BLOCKS: String(TICK_BLOCKS),
      ...more,
    };
    return { ...(await startIndexer(supervisor, folder, environment, name)), databaseUrl };
  }
});
