import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { EMPTY_ROOT } from "tallystick-protocol/merkle/hash";
import { HeldProposals } from "../../services/settlement/engine/heldProposals.ts";
import { INDEX_FILE } from "../../services/settlement/engine/indexDatabase.ts";
import { TAIL_ENTRIES } from "../../services/settlement/ledger/diskLedger.ts";
import { writeLastSigned } from "../../services/settlement/ledger/lastSigned.ts";
import { writeLedger } from "../../tools/bench/ledger/largeLedger.ts";
import { envelope, receiptBody } from "./support/records.ts";
import { openTestService, type TestService } from "./support/testService.ts";

/** More entries than a start verifies before it serves. */
const ENTRIES = TAIL_ENTRIES + 2_000;

/** The checkpoint key comes from the settings, so the folder has no key file. */
const settings = { CHECKPOINT_PRIVATE_KEY: `0x${"11".repeat(32)}`, RATE_LIMIT_PER_ADDRESS: "0" };

describe("a ledger that somebody changes while its service is stopped", function () {
  this.timeout(180_000);
  /** The folder of the whole suite. Every test begins with a copy of its folder `kept`. */
  let folder: string;
  let service: TestService | undefined;
  const at = (name: string, file: string) => path.join(folder, name, "local", file);
  const send = async (to: TestService, hire_id: string) =>
    to.post("/v1/receipts", await envelope(receiptBody({ hire_id })));
  const health = async () => (await service?.get("/health"))?.json;

  async function start(name: string): Promise<TestService> {
    service = await openTestService(path.join(folder, name), settings);
    return service;
  }
  async function stop(): Promise<void> {
    await service?.close();
    service = undefined;
  }
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-changed-"));
    await writeLedger(path.join(folder, "kept", "local"), ENTRIES, "stake");
    await writeLastSigned(path.join(folder, "kept", "local"), { size: 0, root: toHex(EMPTY_ROOT) });
    const settled = await send(await start("kept"), "before");
    expect(settled.status, settled.text).to.equal(201);
    await stop();
    // Another history of the same length with correct hashes, as an attacker would write it.
    await writeLedger(path.join(folder, "other", "local"), ENTRIES + 1, "listing");
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(copyKept);
  afterEach(stop);
  function copyKept(): void {
    rmSync(path.join(folder, "a"), { recursive: true, force: true });
    cpSync(path.join(folder, "kept"), path.join(folder, "a"), { recursive: true });
  }

  /** Changes the ledger's file. Its time stays the same. */
  function changeFile(name: string, change: (text: string) => string): void {
    const file = at(name, "ledger.jsonl");
    const { atime, mtime } = statSync(file);
    writeFileSync(file, change(readFileSync(file, "latin1")), "latin1");
    utimesSync(file, atime, mtime);
  }
  /** Changes one byte of an entry's payload, far from both ends. The length and the time of the file stay the same. */
  function changeLine(name: string): number {
    let line = 0;
    changeFile(name, (text) => {
      line = text.slice(0, text.indexOf('"task 1000"')).split("\n").length;
      return text.replace('"task 1000"', '"task 1OOO"');
    });
    return line;
  }
  function change(name: string, sql: string): void {
    const database = new DatabaseSync(at(name, INDEX_FILE));
    database.exec(sql);
    database.close();
  }
  async function untilRead(): Promise<void> {
    while ((await health()).verification.unread > 0 && (await health()).verification.found === null)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it("accepts no write before a changed line is found, and none after; reads continue", async () => {
    const line = changeLine("a");
    const running = await start("a");
    const { size } = running.ledger;
    expect((await health()).code).to.be.oneOf(["ledger_unread", "ledger_changed"]);
    const codes = new Set<string>();
    for (let n = 0; codes.size === 0 || (await health()).verification.found === null; n++) {
      // Requests inside of this process leave the reader no time. Requests of a network would.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const answer = await send(running, `after-${n}`);
      expect(answer.status, answer.text).to.equal(503);
      codes.add(answer.json.code);
    }
    const refused = await send(running, "late");
    expect([refused.status, refused.json.code]).to.deep.equal([503, "ledger_changed"]);
    expect(refused.json.detail).to.contain(`line ${line}`);
    expect([...codes].every((code) => ["ledger_unread", "ledger_changed"].includes(code))).to.equal(true);
    expect(running.ledger.size).to.equal(size);
    expect(await health()).to.deep.include({ status: "unhealthy", code: "ledger_changed" });
    expect((await running.get("/metrics")).text).to.contain("tallystick_ledger_changed 1");
    expect((await running.get("/v1/ledger/proof?index=0")).status).to.equal(200);
    expect((await running.get("/v1/ledger/entries?from=0&to=2")).status).to.equal(200);
  });

  it("starts although the line of the last review cannot be read, names the line, and shows the proposal as waiting", async () => {
    const held = await HeldProposals.open(path.dirname(at("a", "ledger.jsonl")), () => {});
    const proposal = {
      ...{ taskId: "task-1", parentHash: GENESIS_HASH, agentMetadata: {} },
      ...{ dataUpdate: { n: 1n }, confidenceScore: 0.9 },
    };
    const { id } = await held.hold(proposal, { dataUpdate: {} }, { divergence: 1, timestamp: 1 });
    held.reviewed(id, { index: 999, hash: "ab".repeat(32) });
    await held.close();
    changeFile("a", (text) => {
      const lines = text.split("\n");
      lines[999] = "x".repeat(lines[999]?.length ?? 0);
      return lines.join("\n");
    });
    const running = await start("a");
    expect((await health()).held).to.equal(1);
    await untilRead();
    const refused = await send(running, "late");
    expect([refused.status, refused.json.code]).to.deep.equal([503, "ledger_changed"]);
    expect(refused.json.detail).to.contain("line 1000");
  });

  it("accepts writes as soon as every line was read, if nothing was changed", async () => {
    const running = await start("a");
    await untilRead();
    const after = await send(running, "after");
    expect(after.status, `${after.text} ${JSON.stringify(await health())} ${running.logged}`).to.equal(201);
    expect((await send(running, "before")).status).to.equal(200);
    expect(await health()).to.deep.include({ status: "ok" });
    expect((await health()).verification).to.deep.include({ unread: 0, problem: null, found: null });
  });

  /**
   * What somebody who can write the files does, and the error that the service then reports. Without an
   * error, the service rebuilds the index.
   */
  const attacks: { [what: string]: { make: () => void; code?: string } } = {
    "a changed node in the index's tree": {
      make: () =>
        change("a", "UPDATE piece SET bytes = zeroblob(length(bytes)) WHERE list = 8 AND number = 0"),
      code: "index_differs",
    },
    "a missing node in the index's tree": {
      make: () => change("a", "DELETE FROM piece WHERE list = 8 AND number = 0"),
    },
    "its position moved back": { make: () => movePosition(ENTRIES - 100) },
    "the ledger cut short, and its index taken away": {
      make: () => {
        cutLedger(1_000);
        rmSync(at("a", INDEX_FILE));
      },
      code: "last_signed_ahead",
    },
    "every line, with all hashes, and the index": {
      make: () => {
        cpSync(at("other", "ledger.jsonl"), at("a", "ledger.jsonl"));
        rmSync(at("a", INDEX_FILE));
      },
      code: "last_signed_contradicts",
    },
  };
  function cutLedger(lines: number): void {
    const file = at("a", "ledger.jsonl");
    const text = readFileSync(file, "latin1").split("\n");
    writeFileSync(file, `${text.slice(0, -1 - lines).join("\n")}\n`);
  }
  function movePosition(size: number): void {
    const lines = readFileSync(at("a", "ledger.jsonl"), "latin1").split("\n").slice(0, size);
    const head = JSON.parse(lines.at(-1) as string).current_hash;
    change("a", `UPDATE meta SET size = ${size}, "end" = ${lines.join("\n").length + 1}, head = '${head}'`);
  }

  it("accepts no write before every other change is found, or the index is rebuilt", async () => {
    for (const [what, { make, code }] of Object.entries(attacks)) {
      copyKept();
      make();
      await start("a");
      await untilRead();
      const answer = await send(service as TestService, "before");
      if (code === undefined) expect([answer.status, answer.json.index], what).to.deep.equal([200, ENTRIES]);
      else expect([answer.status, answer.json.code], what).to.deep.equal([503, code]);
      await stop();
      if (code !== "index_differs") continue;
      // The index was removed, and the next start rebuilds it.
      await start("a");
      await untilRead();
      expect((await send(service as TestService, "before")).status, what).to.equal(200);
      await stop();
    }
  });
});
