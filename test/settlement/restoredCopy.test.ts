import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { headSignatureOf } from "tallystick-protocol/note/headSignature";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import { parseProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { hardhat } from "viem/chains";
import { runCli } from "../../scripts/cli.ts";
import { DiskLedger } from "../../services/settlement/ledger/diskLedger.ts";
import { LAST_SIGNED_FILE } from "../../services/settlement/ledger/lastSigned.ts";
import { type LedgerChain, ledgerChain, WRITER_KEY } from "../../tools/bench/ledger/ledgerChain.ts";
import { copyRunning } from "../support/copyRunning.ts";
import { mortalRpc } from "./support/mortalRpc.ts";
import { KEY, proposal } from "./support/proposals.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

/** The address of {@link WRITER_KEY}. */
const WRITER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

describe("a restored copy of a ledger", function () {
  // The contracts may have to be built first, while the machine does other work.
  this.timeout(300_000);
  const folder = temporaryFolder();
  let chain: LedgerChain;
  let rpc: Awaited<ReturnType<typeof mortalRpc>>;
  let origin: string;
  let ledgers = 0;
  let service: TestService | undefined;
  before(async () => {
    chain = await ledgerChain();
  });
  after(() => chain.close());
  beforeEach(async () => {
    origin = `tallystick.test/restored-${ledgers++}`;
    rpc = await mortalRpc(chain.rpcUrl);
  });
  afterEach(async () => {
    await service?.close();
    service = undefined;
    rpc.close();
  });

  const settings = (): { [name: string]: string } => ({
    LEDGER_ORIGIN: origin,
    ANCHOR_PRIVATE_KEY: WRITER_KEY,
    ANCHORED_LEDGER: chain.contract,
    RPC_URL: rpc.url,
    CHAIN_ID: String(hardhat.id),
    ANCHOR_INTERVAL_SECONDS: "0.1",
  });
  const disk = () => path.join(folder.path, "disk");
  async function start(changes: { [name: string]: string } = {}): Promise<TestService> {
    const opened = await openTestService(disk(), { ...settings(), ...changes });
    service = opened;
    const { dead, result } = rpc.state;
    // On a slow machine the start ends before the chain has answered.
    if (!dead && result === undefined)
      await until(async () => (await health(opened)).code !== "chain_unknown");
    return opened;
  }
  async function stop(): Promise<void> {
    await service?.close();
    service = undefined;
  }
  async function settle(to: TestService, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const answer = await to.post("/v1/settle", proposal(to.ledger.head), KEY);
      expect(answer.json.status, answer.text).to.equal("SETTLED");
    }
  }
  const until = async (condition: () => Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const health = async (of: TestService) => (await of.get("/health")).json;
  const anchored = (of: TestService, size: number) =>
    until(
      async () => (await health(of)).anchoring.size === size && (await health(of)).anchoring.error === null,
    );
  /** Whether the newest checkpoint has the writer's signature. */
  const hasHead = (note: string): boolean =>
    note.includes("\n\n") && headSignatureOf(parseSignedNote(note), origin, WRITER) !== undefined;

  /** Reads work, and nothing can be written or signed. */
  async function expectRefused(of: TestService, code: string): Promise<void> {
    const { size } = of.ledger;
    const healthy = await of.get("/health");
    expect([healthy.status, healthy.json.status, healthy.json.code]).to.deep.equal([503, "unhealthy", code]);
    expect(healthy.json.hint).to.be.a("string").and.not.equal("");
    const writes = [
      await of.post("/v1/settle", proposal(of.ledger.head), KEY),
      await of.post("/v1/listings", {}),
      await of.post("/v1/claim", {}),
    ];
    const signed = [
      "/v1/ledger/checkpoint",
      "/v1/ledger/checkpoint?size=1",
      "/tlog/checkpoint",
      "/v1/ledger/bundle?index=0",
    ];
    for (const answer of [...writes, ...(await Promise.all(signed.map((route) => of.get(route))))]) {
      expect([answer.status, answer.json.code], answer.text).to.deep.equal([503, code]);
      expect(answer.json.hint).to.be.a("string");
    }
    for (const route of [
      "/v1/ledger/latest",
      "/v1/ledger/entries",
      "/v1/ledger/proof?index=0",
      "/v1/ledger/key",
    ]) {
      expect((await of.get(route)).status, route).to.equal(200);
    }
    expect((await of.get("/metrics")).text).to.match(/^tallystick_writes_refused 1$/m);
    expect(of.ledger.size).to.equal(size);
  }

  it("accepts no writes and signs nothing if it is older than the chain, or has another history", async () => {
    const first = await start();
    await settle(first, 2);
    await anchored(first, 2);
    await copyRunning(disk(), path.join(folder.path, "image"));
    await settle(first, 2);
    await anchored(first, 4);
    await stop();

    rmSync(disk(), { recursive: true });
    cpSync(path.join(folder.path, "image"), disk(), { recursive: true });
    const older = await start();
    await expectRefused(older, "chain_ahead");
    await stop();

    // A copy that was continued with other entries.
    const forked = await DiskLedger.open({ folder: path.dirname(older.ledger.path) });
    for (let n = 0; n < 3; n++) await forked.append({ timestamp: n, taskId: "forked", payload: {} }).durable;
    await forked.close();
    await expectRefused(await start(), "root_contradicts");
  });

  it("waits at its start for the chain to answer once, and does not wait for it later", async () => {
    const first = await start();
    await settle(first, 2);
    await anchored(first, 2);
    await stop();
    for (const broken of [
      { dead: true },
      { result: null },
      { result: [] },
      { result: "0x" },
      { result: {} },
    ]) {
      Object.assign(rpc.state, broken);
      await expectRefused(await start(), "chain_unknown");
      await stop();
      rpc.state.dead = false;
      delete rpc.state.result;
    }
    rpc.state.dead = true;
    const waiting = await start();
    await expectRefused(waiting, "chain_unknown");
    rpc.state.dead = false;
    await until(async () => (await waiting.get("/health")).status === 200);
    await settle(waiting, 1);
    rpc.state.dead = true;
    await settle(waiting, 2);
    await until(async () => (await health(waiting)).anchoring.error !== null);
    expect((await waiting.get("/health")).status).to.equal(200);
    expect((await waiting.get("/v1/ledger/checkpoint")).status).to.equal(200);
  });

  it("is refused if the last signature is unknown, until it is adopted", async () => {
    const first = await start();
    await settle(first, 3);
    await anchored(first, 3);
    await stop();
    const file = path.join(path.dirname(first.ledger.path), LAST_SIGNED_FILE);
    rmSync(file);
    await expectRefused(await start(), "last_signed_missing");
    await stop();

    const before = { ...process.env };
    Object.assign(process.env, settings(), { LEDGER_DIR: disk() });
    try {
      expect(await runCli(["ledger", "adopt"])).to.equal(0);
      expect(await runCli(["ledger", "adopt"])).to.equal(1);
    } finally {
      process.env = before;
      process.exitCode = undefined;
    }
    const root = first.ledger.tree.root(3);
    expect(JSON.parse(readFileSync(file, "utf8"))).to.deep.equal({
      version: 1,
      size: 3,
      root: `0x${Buffer.from(root).toString("hex")}`,
    });
    const again = await start();
    await settle(again, 1);
    await anchored(again, 4);
  });

  it("is refused also without a chain if it is older than the signed history", async () => {
    const local = await openTestService(disk(), {});
    await settle(local, 1);
    await local.close();
    const older = readFileSync(local.ledger.path);
    const next = await openTestService(disk(), {});
    await settle(next, 2);
    await until(async () => (await next.get("/v1/ledger/checkpoint")).text.includes("\n3\n"));
    await next.close();
    writeFileSync(local.ledger.path, older);
    service = await openTestService(disk(), {});
    await expectRefused(service, "last_signed_ahead");
  });

  it("has the writer's signature only on checkpoints that the contract's head covers", async () => {
    const first = await start();
    await settle(first, 2);
    await until(async () => hasHead((await first.get("/v1/ledger/checkpoint?size=2")).text));
    await stop();
    const lazy = await start();
    rpc.state.dead = true;
    await settle(lazy, 2);
    await until(async () => (await lazy.get("/v1/ledger/checkpoint")).text.includes("\n4\n"));
    expect(hasHead((await lazy.get("/v1/ledger/checkpoint")).text)).to.equal(false);
    expect(hasHead((await lazy.get("/v1/ledger/checkpoint?size=2")).text)).to.equal(true);
    const bundle = async (index: number) =>
      parseProofBundle((await lazy.get(`/v1/ledger/bundle?index=${index}`)).text);
    const old = await bundle(1);
    expect(verifyProofBundle(old).ledger?.writer).to.equal(WRITER);
    expect(old.anchor).to.not.equal(null);
    const fresh = await bundle(3);
    expect([verifyProofBundle(fresh).ledger, fresh.anchor]).to.deep.equal([null, null]);
  });

  it("has the writer's signature only on checkpoints whose anchor has the required number of blocks after it", async () => {
    const careful = await start({ ANCHOR_CONFIRMATIONS: "5" });
    await settle(careful, 2);
    await anchored(careful, 2);
    expect(hasHead((await careful.get("/v1/ledger/checkpoint")).text)).to.equal(false);
    await chain.request("hardhat_mine", "0x5");
    await until(async () => hasHead((await careful.get("/v1/ledger/checkpoint")).text));
  });
});
