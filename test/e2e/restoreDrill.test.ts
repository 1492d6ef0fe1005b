import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { startPostgres } from "../../scripts/postgres/startPostgres.ts";
import { freePort } from "../../scripts/processes/freePort.ts";
import { compiledOnce, nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { openSupervisor, type Supervisor } from "../../scripts/processes/openSupervisor.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { type IndexerProcess, startIndexer } from "../indexer/support/indexerProcess.ts";
import {
  CHAIN_ID,
  type LocalChain,
  newWallet,
  PROVIDER,
  startLocalChain,
} from "../indexer/support/localChain.ts";
import { propose, settle, settlementProcesses, stop } from "../settlement/support/settlementProcess.ts";
import { copyRunning } from "../support/copyRunning.ts";
import { SECOND_NODES } from "../support/secondNodes.ts";

/** The service anchors after this many new entries. Its interval is so long that it causes no anchor. */
const ANCHORED = 60;

/** A service may anchor its first entries at once after a start. So the test settles this many entries more. */
const MORE = 20;

/** The drill of docs/operators.md: a settlement service loses its disk, and gets the anchored entries from followers. */
describe("a ledger that is restored from its followers", function () {
  this.timeout(600_000);
  this.slow(60_000);

  let folder: string;
  let supervisor: Supervisor;
  let chain: LocalChain;
  let indexer: IndexerProcess;
  /** The nodes that follow the ledger. The service fetches entries from the last of them. */
  let followers: IndexerProcess[];
  const writer = newWallet();
  const heir = newWallet();
  const origin = "test.local/drill";
  let settings: Record<string, string>;
  let follower: Record<string, string>;
  let id: `0x${string}`;
  const { start } = settlementProcesses(() => settings);

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-drill-"));
    supervisor = await openSupervisor();
    const [postgres, local] = await Promise.all([
      startPostgres({ supervisor }),
      startLocalChain(supervisor, folder),
    ]);
    chain = local;
    await chain.fuel(writer);
    const contract = chain.anchoredLedger;
    // The relayer of this chain is also the guardian of the ledger.
    const guardian = chain.relayer;
    id = ledgerId({ chainId: CHAIN_ID, contract, writer: writer.address, guardian, origin });
    settings = {
      LEDGER_DIR: path.join(folder, "ledgers"),
      LEDGER_ORIGIN: origin,
      LEDGER_GUARDIAN: guardian,
      ANCHOR_PRIVATE_KEY: writer.privateKey,
      ANCHORED_LEDGER: contract,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      ANCHOR_INTERVAL_SECONDS: "86400",
      ANCHOR_MAX_ENTRIES: String(ANCHORED),
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ADDRESS: "0",
      // The same address for all processes of the service.
      SETTLEMENT_PORT: String(await freePort()),
    };
    follower = {
      DATABASE_URL: await postgres.createDatabase("drill"),
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      ESCROWS: `${chain.escrow}=${PROVIDER}`,
      ANCHORED_LEDGER: contract,
      LEDGERS: `${id}=http://127.0.0.1:${settings.SETTLEMENT_PORT}`,
      TICK_BLOCKS: "1",
    };
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const head = async () => {
    const call = { address: chain.anchoredLedger, abi: anchoredLedgerAbi, functionName: "head" } as const;
    return chain.client.readContract({ ...call, args: [id] }).catch(() => undefined);
  };
  const untilAnchored = (size: number) =>
    waitUntil(async () => Number((await head())?.size ?? 0n) >= size, {
      what: `an anchor of ${size}`,
      withinMs: 120_000,
      everyMs: 50,
    });
  const entries = (node: IndexerProcess, query = "") => fetch(`${node.url}/v1/ledger/entries${query}`);
  const untilFollowed = (node: IndexerProcess, size: number) =>
    node.until(
      `${size} entries`,
      async () => Number((await entries(node, "?from=0&to=0")).headers.get("x-ledger-size")) === size,
    );

  async function settleMany(url: string, from: number, to: number): Promise<void> {
    for (let n = from; n < to; n++) expect(await settle(url, `task-${n}`)).to.be.a("string");
  }

  async function tallystick(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", args), {
      env: { PATH: process.env.PATH, ...compiledOnce, ...settings },
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, out, err };
  }

  it("has every anchored entry again, continues, and is followed again", async () => {
    const first = await start();
    // The service's first round anchors the entries that exist then. There must be few of them, so that the next anchor
    // comes only after the entries that the test settles below.
    await waitUntil(async () => (await head()) !== undefined, {
      what: "the ledger to be open",
      withinMs: 120_000,
      everyMs: 50,
    });
    await settleMany(first.url, 0, 40);
    // An older copy, taken while the service runs.
    const copy = path.join(folder, "copy");
    await copyRunning(path.dirname(first.file), copy);
    await settleMany(first.url, 40, ANCHORED + MORE);
    await untilAnchored(ANCHORED);
    const anchored = Number((await head())?.size);
    await settleMany(first.url, ANCHORED + MORE, ANCHORED + MORE + 7);
    const settled = readFileSync(first.file, "latin1").trimEnd().split("\n");
    indexer = await startIndexer(supervisor, folder, follower);
    await untilFollowed(indexer, anchored);
    await indexer.untilTick(await chain.client.getBlockNumber());
    followers = [indexer];
    if (SECOND_NODES) followers.push(await startIndexer(supervisor, folder, follower, "replica", "serve"));
    const giver = followers.at(-1) as IndexerProcess;
    await untilFollowed(giver, anchored);

    // The service's machine is lost, and the ledger with it.
    await stop(first.child, "SIGKILL");
    rmSync(path.dirname(first.file), { recursive: true });

    // Followers give the lines that they verified, and no entry after the anchor.
    for (const node of followers) {
      const page = await entries(node, `?ledger=${id}&from=45&to=60`);
      expect(page.headers.get("content-type")).to.equal("application/jsonl");
      expect((await page.text()).trimEnd().split("\n")).to.deep.equal(settled.slice(45, 60));
      expect((await (await entries(node)).text()).trimEnd().split("\n")).to.deep.equal(
        settled.slice(0, anchored),
      );
      expect((await entries(node, `?from=0&to=${anchored + 1}`)).status).to.equal(400);
      expect((await entries(node, "?from=x")).status).to.equal(400);
      expect((await entries(node, `?ledger=0x${"00".repeat(32)}`)).status).to.equal(404);
    }

    // The older copy is put back. The service notices that it is old.
    cpSync(copy, path.dirname(first.file), { recursive: true });
    const behind = await start();
    expect(behind.size).to.be.within(40, anchored - 1);
    const refused = await waitUntil(
      async () => {
        const answer = await propose(behind.url, "too early");
        // On a slow machine the service listens before the chain has answered.
        return answer.status === 503 && answer.code !== "chain_unknown" && answer;
      },
      { what: "a service that knows that its disk is old", withinMs: 120_000, everyMs: 100 },
    );
    expect(refused.hash).to.equal(undefined);
    const health = await fetch(`${behind.url}/health`);
    expect(health.status).to.equal(503);
    expect(await health.text()).to.contain("ledger pull");
    const running = await tallystick("ledger", "pull", "--from", giver.url);
    expect([running.code, running.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 1 && /Another process/.test(err),
    );
    await stop(behind.child, "SIGTERM");

    const pulled = await tallystick("ledger", "pull", "--from", giver.url);
    expect(pulled.code, pulled.err).to.equal(0);
    expect(pulled.out).to.contain(`up to its last anchor, ${anchored} entries`);
    expect(pulled.out).to.contain(`entries ${anchored} (40 from disk, ${anchored - 40} fetched)`);
    expect(readFileSync(first.file, "latin1").trimEnd().split("\n")).to.deep.equal(
      settled.slice(0, anchored),
    );

    const second = await start();
    expect(second.size).to.equal(anchored);
    const settling = await waitUntil(
      async () => {
        const answer = await propose(second.url, "after the drill");
        return answer.hash !== undefined && answer;
      },
      { what: "a service that settles again", withinMs: 120_000, everyMs: 100 },
    );
    expect(settling.status).to.equal(200);
    expect((await fetch(`${second.url}/health`)).status).to.equal(200);
    await settleMany(second.url, anchored + 1, anchored + ANCHORED + MORE);
    await untilAnchored(anchored + ANCHORED);
    await untilFollowed(indexer, Number((await head())?.size));
    await stop(second.child, "SIGTERM");
    const verified = await verifyLedgerFile(first.file);
    if (verified instanceof LedgerLineError) throw verified;
    expect(verified.size).to.equal(anchored + ANCHORED + MORE);
    expect(verified.otherLayouts.count).to.equal(0);

    // The writer's key and disk are lost. Another writer continues the anchored ledger, under the same id.
    const left = Number((await head())?.size);
    await chain.fuel(heir);
    const change = (name: string, args: unknown[], by?: typeof heir) =>
      chain.send(chain.anchoredLedger, anchoredLedgerAbi, name, args, by);
    await change("announceWriter", [id, heir.address]);
    await chain.client.increaseTime({ seconds: 7 * 86_400 });
    await chain.client.mine({ blocks: 1 });
    await change("acceptWriter", [id], heir);
    settings = {
      ...settings,
      LEDGER_DIR: path.join(folder, "heir"),
      LEDGER_FIRST_WRITER: writer.address,
      ANCHOR_PRIVATE_KEY: heir.privateKey,
      CHECKPOINT_PRIVATE_KEY: newWallet().privateKey,
      ANCHOR_INTERVAL_SECONDS: "0.5",
    };
    const inherited = await tallystick("ledger", "pull", "--from", giver.url);
    expect(inherited.code, inherited.err).to.equal(0);
    const third = await start();
    // On a slow machine the service listens before the chain has answered.
    await waitUntil(async () => (await fetch(`${third.url}/health`)).ok, {
      what: "the heir's service to accept writes",
      withinMs: 120_000,
      everyMs: 50,
    });
    expect([third.ledger, third.size]).to.deep.equal([id, left]);
    await settleMany(third.url, left, left + 3);
    await untilAnchored(left + 3);
    for (const node of followers) {
      await untilFollowed(node, left + 3);
      const { meta } = await node.query<{ meta: { ledgers: object[] } }>(
        "{ meta { ledgers { id writer firstWriter size } } }",
      );
      const wrote = { writer: heir.address, firstWriter: writer.address };
      expect(meta.ledgers).to.deep.equal([{ id, ...wrote, size: left + 3 }]);
    }
    expect(await stop(third.child, "SIGTERM")).to.equal(0);
  });
});
