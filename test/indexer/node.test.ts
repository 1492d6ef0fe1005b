import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import type { TransferEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import { type Row, type TableName, tables } from "tallystick-derive/tables";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { WebSocket } from "ws";
import { openNodeSnapshot } from "../../indexer/nodeDatabase.ts";
import { BURIED_UNDER } from "../../indexer/src/segments/blockOnChain.ts";
import { verifyAudit } from "../../scripts/audits/verifyAudit.ts";
import { compareRows } from "../../scripts/eventLog/compareRows.ts";
import { deriveLog } from "../../scripts/eventLog/deriveLog.ts";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type DeployedRegistries, deployRegistries } from "../support/deployRegistries.ts";
import { SECOND_NODES } from "../support/secondNodes.ts";
import { testDatabase } from "../support/testDatabase.ts";
import { type AuditOnNode, openAuditsOnChain } from "./support/auditOnChain.ts";
import { indexedTables } from "./support/indexedTables.ts";
import { fetchWhenServed, type IndexerProcess, startIndexer } from "./support/indexerProcess.ts";
import { type LocalChain, newWallet, PROVIDER, startLocalChain, zeroHash } from "./support/localChain.ts";
import { auditLies, startLyingProxy } from "./support/lyingProxy.ts";
import { openOnChain, serveLedger, TestLedger } from "./support/testLedger.ts";
import { transfersOnChain } from "./support/transfersOnChain.ts";

type Meta = {
  block: number;
  digest: string;
  indexedBlock: number;
  ledgers: { id: string; size: number; root: string; head: string }[];
  blockedAtSegment: { ledger: string; from: string; to: string; block: number; reason: string } | null;
};

type StreamMessage = { type: string; position: string; data?: object };

const META = `{ meta { block digest indexedBlock ledgers { id size root head }
  blockedAtSegment { ledger from to block reason } } }`;

/**
 * Several real nodes, one after the other, over one real chain. Each test needs the state that the earlier tests made.
 */
describe("the indexer as a process, on a real chain and a real Postgres", function () {
  this.timeout(600_000);
  this.slow(20_000);

  let folder: string;
  let supervisor: Supervisor;
  let chain: LocalChain;
  let indexer: IndexerProcess;
  let environment: Record<string, string>;
  let databaseUrl: string;

  const [buyer, seller, writer, stranger] = [newWallet(), newWallet(), newWallet(), newWallet()];
  const operator = newWallet();
  const ledger = new TestLedger();
  let registries: DeployedRegistries;
  let onChain: Awaited<ReturnType<typeof openOnChain>>;
  /** The folder from which the node reads the ledger. Each test decides its content. */
  let published: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-node-"));
    published = path.join(folder, "ledger");
    supervisor = await openSupervisor();
    [databaseUrl, chain] = await Promise.all([testDatabase(), startLocalChain(supervisor, folder)]);
    onChain = await openOnChain(chain, writer, "test.local/node");
    registries = await deployRegistries(chain.client);
    environment = {
      DATABASE_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: "31337",
      TOKEN_ADDRESS: chain.token,
      ESCROWS: `${chain.escrow}=${PROVIDER}`,
      ANCHORED_LEDGER: chain.anchoredLedger,
      LEDGERS: `${onChain.id}=${published}`,
      TICK_BLOCKS: "1",
      OPERATOR: operator.address,
      ERC8004_REGISTRIES: `${registries.identity}=${registries.reputation}`,
      ERC8004_IMPLEMENTATIONS: `${registries.identityImplementation},${registries.reputationImplementation}`,
    };
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const meta = async () => (await indexer.query<{ meta: Meta }>(META)).meta;
  const caughtUp = async () => indexer.untilTick(await chain.client.getBlockNumber());

  const blocked = () =>
    indexer.until("the segment to be reported", async () => (await meta()).blockedAtSegment ?? undefined);

  async function receipt(amount: bigint, payment: { tx_hash: Hex } & RecordBody, more: RecordBody = {}) {
    return ledger.sign(seller, "receipt", {
      agent_id: seller.address,
      amount_usdc_atomic: String(amount),
      buyer: buyer.address,
      capability: "text.translate",
      completed_at: 1_767_225_600,
      hire_id: `hire-${ledger.size}`,
      network: "eip155:31337",
      protocol_version: "swarmwage/v0.3",
      verification: { all_passed: true, checks: {} },
      ...payment,
      ...more,
    });
  }

  /** The events on the node's stream from a position on, up to the first one that is wanted. */
  function streamFrom(
    position: string,
    isLast: (message: StreamMessage) => boolean,
  ): Promise<StreamMessage[]> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${indexer.url.replace("http", "ws")}/v1/stream?from=${position}`);
      const heard: StreamMessage[] = [];
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`the stream ended after ${JSON.stringify(heard.at(-1))}`)));
      socket.on("message", (text) => {
        const message = JSON.parse(String(text)) as StreamMessage;
        if (message.type === "hello" || message.type === "heartbeat") return;
        heard.push(message);
        if (!isLast(message)) return;
        resolve(heard);
        socket.terminate();
      });
    });
  }

  async function publishAndAnchor() {
    await ledger.save(published);
    return onChain.anchor(ledger);
  }

  it("derives the history of the chain before its start, and answers", async () => {
    await chain.fuel(buyer);
    await chain.mint(buyer, 100_000_000n);
    // The seller acts before it is paid. Otherwise it would be in the family of its first payer.
    await chain.fuel(seller);
    await chain.mint(seller, 1n);
    await chain.send(chain.token, testUsdcAbi, "transfer", [stranger.address, 1n], seller);
    const paid = await chain.pay(buyer, seller, 500_000n);
    await ledger.sign(seller, "listing", {
      agent_id: seller.address,
      capability: "text.translate",
      endpoint: "https://seller.example",
      max_latency_ms: 1000,
      price_usdc: "0.50",
    });
    await receipt(500_000n, { tx_hash: paid.transactionHash }, { latency_ms: 120 });
    // An unauthorized transfer is no payment unless the buyer signs the receipt.
    const plain = await chain.send(chain.token, testUsdcAbi, "transfer", [seller.address, 700_000n], buyer);
    await receipt(700_000n, { tx_hash: plain.transactionHash });
    // These are generic work, a receipt that is not a valid record, and a listing that somebody else signed.
    ledger.append({ type: "settlement", data_update: { n: 1.5 }, confidence_score: 0.9 });
    ledger.append({ type: "receipt", body: { n: 0.5 }, signer: seller.address, signature: "0x00" });
    const forged = await ledger.sign(stranger, "listing", { agent_id: seller.address });
    await publishAndAnchor();

    indexer = await startIndexer(supervisor, folder, environment);
    await caughtUp();
    const answer = await indexer.query<{ agents: { nodes: object[] }; hires: { nodes: object[] } }>(`{
      agents { nodes { address trustTier successRate last30dHireCount last24hVolumeUsdc hiresBought } }
      hires { nodes { sellerAddress buyerAddress priceUsdc outcome evidence latencyMs tx receiptHash } } }`);
    expect(answer.hires.nodes).to.deep.equal([
      {
        sellerAddress: seller.address,
        buyerAddress: buyer.address,
        priceUsdc: "0.50",
        outcome: "SUCCESS",
        evidence: "SELLER",
        latencyMs: 120,
        tx: paid.transactionHash,
        receiptHash: ledger.entries[1]?.currentHash,
      },
    ]);
    const nothing = { trustTier: 0, successRate: null, last30dHireCount: 0, last24hVolumeUsdc: "0.00" };
    expect(answer.agents.nodes).to.have.deep.members([
      { ...nothing, address: buyer.address, hiresBought: 1 },
      {
        ...nothing,
        address: seller.address,
        successRate: 1,
        last30dHireCount: 1,
        last24hVolumeUsdc: "0.50",
        hiresBought: 0,
      },
    ]);
    expect((await meta()).ledgers).to.deep.equal([
      { id: onChain.id, size: 6, root: ledger.root(), head: forged.currentHash },
    ]);
  });

  it("keeps Ponder's rows in memory while Ponder reads the history", async () => {
    const text = await (await fetch(`${indexer.url}/metrics`)).text();
    const fromMemory = /^ponder_indexing_cache_requests_total\{table="list",type="complete"\} (\d+)$/m;
    expect(Number(fromMemory.exec(text)?.[1])).to.be.above(0);
  });

  it("follows the growing chain: escrows that are held, released and refunded", async () => {
    const deadline = (await chain.now()) + 1_000n;
    const [released, refunded, kept] = [
      await chain.deposit(buyer, seller, 1_000_000n, deadline),
      await chain.deposit(buyer, seller, 2_000_000n, deadline),
      // The latest possible deadline. No clock reaches it, and no number in our code may overflow.
      await chain.deposit(buyer, seller, 3_000_000n, 2n ** 64n - 1n),
    ];
    await chain.fuel(seller);
    await chain.send(chain.escrow, hireEscrowAbi, "markDelivered", [released.hire, zeroHash, "0x"], seller);
    await chain.send(chain.escrow, hireEscrowAbi, "release", [released.hire, "0x"], buyer);
    await chain.send(chain.escrow, hireEscrowAbi, "markDelivered", [refunded.hire, zeroHash, "0x"], seller);
    await chain.send(chain.escrow, hireEscrowAbi, "refund", [refunded.hire, buyer.address, "0x"], buyer);
    await caughtUp();

    const { escrows, agent } = await indexer.query<{ escrows: { nodes: object[] }; agent: object }>(
      `query ($seller: Address!) {
        escrows { nodes { id provider contract amountUsdc status delivered refundedBy deadline hire { outcome } } }
        agent(address: $seller) { last30dHireCount successRate refundRate } }`,
      { seller: seller.address },
    );
    const common = {
      provider: PROVIDER,
      contract: chain.escrow,
      deadline: Number(deadline),
      refundedBy: null,
    };
    expect(escrows.nodes).to.deep.equal([
      {
        ...common,
        id: kept.id,
        amountUsdc: "3.00",
        status: "HELD",
        delivered: false,
        deadline: Number.MAX_SAFE_INTEGER,
        hire: null,
      },
      {
        ...common,
        id: refunded.id,
        amountUsdc: "2.00",
        status: "REFUNDED",
        delivered: true,
        refundedBy: buyer.address,
        hire: { outcome: "FAILURE" },
      },
      {
        ...common,
        id: released.id,
        amountUsdc: "1.00",
        status: "RELEASED",
        delivered: true,
        hire: { outcome: "SUCCESS" },
      },
    ]);
    expect(agent).to.deep.equal({ last30dHireCount: 3, successRate: 0.666666667, refundRate: 0.5 });
  });

  it("reads the registries of ERC-8004: who has an identity, and which feedback a hire backs", async () => {
    const { identity, reputation } = registries;
    await chain.fuel(stranger);
    const uri = "https://seller.example/agent.json";
    await chain.send(identity, identityRegistryAbi, "register", [uri], seller);
    const give = (by: typeof buyer, tag: string, value: bigint) => {
      const args = [0n, value, 0, tag, "", "", "", zeroHash];
      return chain.send(reputation, reputationRegistryAbi, "giveFeedback", args, by);
    };
    await give(buyer, "starred", 100n);
    await give(stranger, `\u0000${"é".repeat(200)}`, -5n);
    await give(buyer, "starred", 20n);
    await chain.send(reputation, reputationRegistryAbi, "revokeFeedback", [0n, 2n], buyer);
    const answer = [0n, stranger.address, 1n, "https://seller.example/spam.json", zeroHash];
    await chain.send(reputation, reputationRegistryAbi, "appendResponse", answer, seller);
    await caughtUp();

    const found = async (erc8004: boolean) => {
      const body = JSON.stringify({ capability: "text.translate", erc8004 });
      const headers = { "content-type": "application/json" };
      const response = await fetchWhenServed(`${indexer.url}/v1/search`, { method: "POST", headers, body });
      return ((await response.json()) as { agents: object[] }).agents.length;
    };
    expect([await found(true), await found(false)]).to.deep.equal([1, 0]);

    const asked = `query ($seller: Address!) {
      meta { registries { role status } }
      identity(id: "0") { owner wallet uri agent { address } }
      agent(address: $seller) { identities { nodes {
        isCurrent identity { id } counts { given backed self unproven revoked }
        feedback { totalCount nodes {
          client agentAddress value tag1 isRevoked backing { standing selfReason hire { buyerAddress priceUsdc } }
          responses { nodes { responder uri } }
        } }
        backed: feedback(standing: BACKED) { nodes { value } }
      } } } }`;
    type IdentitiesShown = {
      meta: { registries: object[] };
      identity: object;
      agent: { identities: { nodes: { feedback: { totalCount: number; nodes: { tag1: string }[] } }[] } };
    };
    const told = await indexer.query<IdentitiesShown>(asked, { seller: seller.address });
    expect(told.meta.registries).to.deep.equal([
      { role: "identity", status: "READ" },
      { role: "reputation", status: "READ" },
    ]);
    const agent = { address: seller.address };
    expect(told.identity).to.deep.equal({ owner: seller.address, wallet: seller.address, uri, agent });
    const [link] = told.agent.identities.nodes;
    expect(link).to.deep.include({
      isCurrent: true,
      identity: { id: "0" },
      counts: { given: 3, backed: 1, self: 0, unproven: 1, revoked: 1 },
      backed: { nodes: [{ value: "100" }] },
    });
    expect(link?.feedback.totalCount).to.equal(3);
    const [second, spam, first] = link?.feedback.nodes ?? [];
    expect(second).to.deep.include({ client: buyer.address, isRevoked: true });
    expect(spam?.tag1).to.equal(`\ufffd${"é".repeat(127)}`);
    expect(spam).to.deep.include({
      client: stranger.address,
      value: "-5",
      backing: { standing: "UNPROVEN", selfReason: null, hire: null },
      responses: { nodes: [{ responder: seller.address, uri: "https://seller.example/spam.json" }] },
    });
    expect(first).to.deep.include({
      agentAddress: seller.address,
      backing: {
        standing: "BACKED",
        selfReason: null,
        hire: { buyerAddress: buyer.address, priceUsdc: "0.50" },
      },
    });

    // The identity is sold, so it has no wallet. Then the reputation registry gets an implementation that the node does
    // not know.
    const sale = [seller.address, stranger.address, 0n];
    await chain.send(identity, identityRegistryAbi, "transferFrom", sale, seller);
    await registries.upgrade("reputation");
    await chain.send(identity, identityRegistryAbi, "register", ["https://other.example"], stranger);
    await caughtUp();
    expect(await found(true)).to.equal(0);
    const later = await indexer.query<object>(`{
      meta { registries { role status } } identity(id: "0") { owner wallet } unread: identity(id: "1") { id }
    }`);
    expect(later).to.deep.equal({
      meta: {
        registries: [
          { role: "identity", status: "READ" },
          { role: "reputation", status: "UNREAD" },
        ],
      },
      identity: { owner: stranger.address, wallet: null },
      unread: null,
    });
  });

  it("goes on after an anchor of a ledger that it does not follow, and does not list this ledger", async () => {
    const other = await openOnChain(chain, stranger, "test.local/stranger");
    const unseen = new TestLedger();
    unseen.append({ type: "settlement" });
    await other.anchor(unseen);
    await caughtUp();
    expect((await meta()).ledgers.map(({ id }) => id)).to.deep.equal([onChain.id]);
  });

  it("has every index that the API needs to read its lists", async () => {
    const { wanted, made } = await indexedTables(databaseUrl, "tallystick");
    expect(made).to.deep.equal(wanted);
  });

  it("has rows that equal those derived from its own event log", async () => {
    const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema: "tallystick" });
    try {
      const store = new MemoryStore();
      const kinds = new Map<string, number>();
      const transfers: TransferEvent[] = [];
      for await (const line of snapshot.eventLog()) {
        const event = parseEvent(line);
        kinds.set(event.kind, (kinds.get(event.kind) ?? 0) + 1);
        if (event.kind === "transfer") transfers.push(event);
        apply(store, event);
      }
      const blocks = Number(await chain.client.getBlockNumber()) + 1;
      expect(Object.fromEntries(kinds)).to.deep.include({
        params: 1,
        record: 5,
        tick: blocks,
        "escrow.deposited": 3,
      });
      expect(transfers).to.deep.equal(await transfersOnChain(chain));
      for (const table of Object.keys(tables) as TableName[]) {
        const rows = new Map<string, Row<TableName>>();
        for await (const row of snapshot.rows(table)) rows.set(row.id, row);
        expect(rows, table).to.deep.equal(new Map(store.rows(table)));
      }
      expect(
        [...store.rows("record").values()].map(({ type, status }) => `${type} ${status}`),
      ).to.have.members([
        "listing valid",
        "receipt valid",
        "receipt valid",
        "receipt invalid",
        "listing invalid",
      ]);
    } finally {
      await snapshot.close();
    }
  });

  it("exports a log from which others derive the same figures, and keeps an existing file if the export fails", async () => {
    const tallystick = async (args: string[]) => {
      const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", args), {
        cwd: repositoryRoot,
        env: childEnvironment({ DATABASE_URL: databaseUrl }),
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, err, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      return { out, err, code: code as number };
    };
    const file = path.join(folder, "exported.jsonl");
    const exported = await tallystick(["export", "--output", file]);
    expect(exported.code, exported.err).to.equal(0);
    const [first = ""] = (await readFile(file, "utf8")).split("\n");
    expect(JSON.parse(first)).to.deep.include({
      kind: "params",
      token: { address: chain.token, firstBlock: 0 },
    });
    const derived = await tallystick(["derive", file]);
    expect(derived.code, derived.err).to.equal(0);
    const { asOf, digest, agents } = JSON.parse(derived.out);
    expect(asOf.block).to.equal((await meta()).block);
    expect(digest).to.equal((await meta()).digest);
    expect(agents[seller.address].last_30d_hire_count).to.equal(3);

    // An existing file stays unchanged when the export fails.
    const failed = await tallystick(["export", "--output", file, "--database-schema", "elsewhere"]);
    expect(failed.code).to.equal(1);
    expect((await readFile(file, "utf8")).startsWith(first)).to.equal(true);
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).to.deep.equal([]);
  });

  it("lists the existing schemas if the requested schema does not exist", async () => {
    const error = await openNodeSnapshot({ databaseUrl, databaseSchema: "elsewhere" }).catch((it) => it);
    expect(error).to.include({ code: "no_such_schema" });
    expect(error.message).to.contain("tallystick");
  });

  describe("when a segment is not available", () => {
    /**
     * Reads the metric again if it is NaN. It is NaN if the database does not answer within a second, for example on a
     * busy machine.
     */
    const metric = async () => {
      const found = await indexer.until("the metric", async () => {
        const text = await (await fetch(`${indexer.url}/metrics`)).text();
        const seconds = Number(/^tallystick_blocked_at_segment_seconds (\S+)$/m.exec(text)?.[1]);
        return !Number.isNaN(seconds) && { seconds };
      });
      return found.seconds;
    };

    it("waits, reports the segment, derives nothing that comes later, and continues when the data is there", async () => {
      expect(await metric()).to.equal(0);
      const paid = await chain.pay(buyer, seller, 900_000n);
      await receipt(900_000n, { tx_hash: paid.transactionHash });
      const anchored = await onChain.anchor(ledger);
      expect(await blocked()).to.deep.include({
        ledger: onChain.id,
        from: "6",
        to: "7",
        block: Number(anchored.blockNumber),
      });
      expect(await metric()).to.be.at.least(1);

      const later = await chain.deposit(buyer, seller, 1_000_000n, (await chain.now()) + 1_000n);
      const askEscrow = () =>
        indexer.query<{ escrow: object | null }>("query ($id: ID!) { escrow(id: $id) { status } }", {
          id: later.id,
        });
      // A segment with wrong bytes counts as missing.
      const lines = ledger.lines();
      lines[6] = (lines[6] as string).replace("900000", "900001");
      await writeFile(path.join(published, "ledger.jsonl"), `${lines.join("\n")}\n`);
      await indexer.until("the contradiction to be reported", async () => {
        return (await meta()).blockedAtSegment?.reason.includes("line 7");
      });
      expect(await askEscrow()).to.deep.equal({ escrow: null });

      await ledger.save(published);
      await caughtUp();
      expect((await meta()).blockedAtSegment).to.equal(null);
      expect(await metric()).to.equal(0);
      expect(await askEscrow()).to.deep.equal({ escrow: { status: "HELD" } });
      const { hires } = await indexer.query<{ hires: { nodes: object[] } }>(
        "{ hires(first: 1) { nodes { priceUsdc } } }",
      );
      expect(hires.nodes).to.deep.equal([{ priceUsdc: "0.90" }]);
    });

    it("stops waiting when a reorg removes the anchor's block, and derives the new chain", async () => {
      const before = await chain.client.snapshot();
      const orphan = ledger.copy();
      orphan.append({ type: "settlement", data_update: { fork: "a" } });
      await onChain.anchor(orphan);
      await blocked();

      await chain.client.revert({ id: before });
      await chain.mine(3);
      ledger.append({ type: "settlement", data_update: { fork: "b" } });
      await publishAndAnchor();
      // The node gives the anchor up when enough blocks follow the block in its place.
      await chain.mine(BURIED_UNDER);
      await indexer.until(
        "the ledger of the new chain",
        async () => (await meta()).ledgers[0]?.root === ledger.root(),
      );
      await caughtUp();
      expect((await meta()).blockedAtSegment).to.equal(null);
    });
  });

  describe("when it is started again", () => {
    const digests = async () => {
      const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema: "tallystick" });
      const found = new Map<number, string>();
      for await (const row of snapshot.rows("digest")) found.set(row.block, row.digest);
      await snapshot.close();
      return found;
    };

    it("resumes at the same place, also if it stopped while it waited for a segment", async () => {
      const before = await digests();
      ledger.append({ type: "settlement", data_update: { after: "restart" } });
      await onChain.anchor(ledger);
      await blocked();
      const stopAndStart = async (name: string) => {
        await indexer.stop();
        const isReleased = !indexer.log().includes("Failed to shutdown within 5 seconds");
        await ledger.save(published);
        indexer = await startIndexer(supervisor, folder, environment, name);
        await caughtUp();
        return isReleased;
      };
      let isReleased = await stopAndStart("indexer again");
      // On a busy machine Ponder may end itself before it has released its schema. Then it is stopped once more.
      for (let n = 1; n <= 3 && !isReleased; n++) isReleased = await stopAndStart(`indexer again ${n}`);
      // A stopped indexer has released its schema. Without that, the next indexer waits 25 seconds until the lock
      // expires.
      expect(indexer.log()).not.to.contain("locked");
      const after = await digests();
      for (const [block, digest] of before) expect(after.get(block), `block ${block}`).to.equal(digest);
      const { ledgers, blockedAtSegment } = await meta();
      expect(ledgers[0]?.root).to.equal(ledger.root());
      expect(blockedAtSegment).to.equal(null);
    });

    it("proves every entry of a ledger with short and long segments, and uses threads for long segments", async () => {
      for (let n = 0; n < 40; n++) {
        const by = n % 20 === 0 ? stranger : seller;
        await ledger.sign(by, "listing", {
          agent_id: seller.address,
          capability: "text.translate",
          endpoint: "https://seller.example",
          max_latency_ms: 1000 + n,
          price_usdc: "0.50",
        });
      }
      await publishAndAnchor();
      await caughtUp();
      expect(indexer.log()).not.to.contain("without threads");
      const { size, tree } = ledger;
      for (const [seq, { currentHash, payload }] of ledger.entries.entries()) {
        const { ledgerEntry } = await indexer.query<{ ledgerEntry: object }>(
          `{ ledgerEntry(ledger: "${onChain.id}", seq: ${seq}) { hash type record { signer valid } inclusionProof { leafHash size hashes } } }`,
        );
        const isListing = payload.type === "listing" && seq >= size - 40;
        expect(ledgerEntry).to.deep.include({
          hash: currentHash,
          type: payload.type,
          inclusionProof: {
            leafHash: toHex(tree.leaf(seq)),
            size,
            hashes: tree.inclusionProof(seq).map(toHex),
          },
          ...(payload.type === "settlement" && { record: null }),
          ...(isListing && { record: { signer: payload.signer, valid: payload.signer === seller.address } }),
        });
      }
    });

    it("audits a hire: consent, draw, another draw after a reorg of that tick, two failed verdicts, rollback", async () => {
      const audits = await openAuditsOnChain({
        chain,
        ledger,
        ledgerId: onChain.id,
        anchor: publishAndAnchor,
        operator,
      });
      const { params } = await (await fetchWhenServed(`${indexer.url}/v1/params`)).json();
      await audits.prepare(params);
      const hire = await audits.hire();
      const toldAt = async (what: string, isSo: (it: NonNullable<AuditOnNode>) => boolean) => {
        await caughtUp();
        return indexer.until(what, async () => {
          const it = await audits.told(indexer, hire);
          return it !== null && isSo(it) && it;
        });
      };
      expect((await toldAt("the hire to be eligible", () => true)).status).to.equal("ELIGIBLE");
      type Set = { record: { body: { version: number }; signer: string } };
      const inForce = await indexer.query<{ params: { body: object }; paramsHistory: { nodes: Set[] } }>(
        "{ params { body } paramsHistory { nodes { record { body signer } } } }",
        {},
      );
      const set = inForce.paramsHistory.nodes.map(({ record: { body, signer } }) => [body.version, signer]);
      expect(set[0]).to.deep.equal([Number(params.version) + 1, operator.address.toLowerCase()]);
      expect(inForce.params.body).to.deep.include({ tier2MinSuccesses: 1, tier2MinCapabilities: 1 });

      const before = await chain.client.snapshot();
      await chain.mine();
      const orphaned = await toldAt("an auditor", ({ status }) => status === "ASSIGNED");
      // A client gets the draw on the stream, and goes away.
      const streamed = await streamFrom("0", ({ type }) => type === "audit_assigned");
      const last = streamed.at(-1) as StreamMessage;
      await chain.client.revert({ id: before });
      await chain.client.increaseTime({ seconds: 60 });
      await chain.mine(2);
      const drawn = await toldAt(
        "the draw on the new chain",
        ({ status, draw }) => status === "ASSIGNED" && draw?.tickHash !== orphaned.draw?.tickHash,
      );
      expect(drawn.draw?.block).to.equal(orphaned.draw?.block);
      // The client comes back. The other draw has the same place in the log.
      const placeOf = ({ position }: StreamMessage) => position.split("/").slice(0, 4);
      const [reorg, ...again] = await streamFrom(
        last.position,
        (it) => `${placeOf(it)}` === `${placeOf(last)}`,
      );
      expect(reorg).to.include({ type: "reorg" });
      expect(again.at(-1)?.position).to.not.equal(last.position);
      expect(await streamFrom(again.at(-2)?.position ?? "", () => true)).to.deep.equal(again.slice(-1));

      await audits.answer(drawn, hire, "fail");
      await chain.mine();
      const second = await toldAt("a second auditor", ({ rounds }) => rounds.length === 2);
      await audits.answer(second, hire, "fail");
      await toldAt("a challenge", ({ status }) => status === "CHALLENGED");
      await audits.rollBack(hire);
      const ended = await toldAt("the rollback", ({ status }) => status === "ROLLED_BACK");
      expect(ended).to.deep.include({ hire: { outcome: "FAILURE", evidence: "AUDIT" } });

      const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema: "tallystick" });
      try {
        const { store } = await deriveLog(snapshot.eventLog());
        expect((await compareRows(snapshot, store, 5)).first).to.deep.equal([]);
        await audits.expectSameAsRows(ended, [...store.rows("auditAssignment").values()]);
      } finally {
        await snapshot.close();
      }
    });

    let second: IndexerProcess;
    let server: Awaited<ReturnType<typeof serveLedger>> | undefined;
    after(() => server?.close());

    if (SECOND_NODES)
      it("gets the same digest from an empty database, with the ledger read over HTTP", async () => {
        server = await serveLedger(ledger);
        second = await startIndexer(
          supervisor,
          folder,
          {
            ...environment,
            DATABASE_URL: await testDatabase(),
            LEDGERS: `${onChain.id}=${server.url}`,
          },
          "second indexer",
        );
        await second.untilTick(await chain.client.getBlockNumber());
        expect((await second.query<{ meta: Meta }>(META)).meta).to.deep.equal(await meta());
      });

    it("shows an audit that a reader can verify with the chain, and the reader finds a node that lies about it", async () => {
      // Ponder counts a block as final when thirty blocks are above it, and checks this every sixty blocks. The open
      // log has only final blocks.
      await chain.mine(75);
      const shown = SECOND_NODES ? second : indexer;
      await shown.untilTick(await chain.client.getBlockNumber());
      const { auditAssignments } = await shown.query<{
        auditAssignments: { nodes: { auditedHire: string }[] };
      }>("{ auditAssignments(first: 1) { nodes { auditedHire } } }");
      const hire = auditAssignments.nodes[0]?.auditedHire as string;
      const verify = (url: string) => verifyAudit({ url, hire, rpcUrl: chain.rpcUrl });
      const honest = await verify(shown.url);
      expect(honest.asked).to.have.length(2);
      expect(honest.findings.filter(({ holds }) => !holds)).to.deep.equal([]);
      expect(honest.draw).to.include({ place: 0, of: 1, drawn: true });
      for (const [lie, wrong] of auditLies(hire, honest)) {
        const proxy = await startLyingProxy(shown.url, lie);
        try {
          const { holds, findings } = await verify(proxy.url);
          expect(holds, wrong.source).to.equal(false);
          expect(
            findings
              .filter((it) => !it.holds)
              .map(({ what }) => what)
              .join("\n"),
          ).to.match(wrong);
        } finally {
          proxy.close();
        }
      }
    });
  });

  it("answers unknown routes with a problem document, and serves Ponder's own routes", async () => {
    const unknown = await fetchWhenServed(`${indexer.url}/v1/nothing`);
    expect(unknown.status).to.equal(404);
    expect(await unknown.json()).to.include({ code: "not_found" });
    for (const route of ["/health", "/ready", "/status", "/metrics"]) {
      expect((await fetchWhenServed(`${indexer.url}${route}`)).status, route).to.equal(200);
    }
  });

  it("stops at once with a reason when a setting is missing", async () => {
    const { TOKEN_ADDRESS: _, ...incomplete } = environment;
    const error = await startIndexer(supervisor, folder, incomplete, "unconfigured").catch((it) => it);
    expect(error).to.include({ code: "service_failed" });
    expect(error.message).to.contain("TOKEN_ADDRESS is missing");
  });
});
