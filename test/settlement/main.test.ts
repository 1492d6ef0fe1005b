import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { LedgerLineError } from "../../protocol/ledger/verifyLedger.ts";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { envelope, listingBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

type Running = { child: ChildProcess; url: string; size: number; stderr: () => string };

describe("the settlement process", () => {
  const folder = temporaryFolder();
  const children = new Set<ChildProcess>();
  const file = () => path.join(folder.path, "local", "ledger.jsonl");

  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });

  function launch(): ChildProcess {
    const child = spawn(process.execPath, nodeProgram("settlement/main.ts"), {
      env: {
        PATH: process.env.PATH,
        LEDGER_DIR: folder.path,
        SETTLEMENT_PORT: "0",
        SETTLEMENT_API_KEYS: "key",
        MIN_CONFIDENCE: "0.5",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.add(child);
    return child;
  }

  async function start(): Promise<Running> {
    const child = launch();
    let stderr = "";
    child.stderr!.on("data", (chunk) => {
      stderr += chunk;
    });
    for await (const line of createInterface({ input: child.stdout! })) {
      const { listening, size } = JSON.parse(line);
      return { child, url: listening, size, stderr: () => stderr };
    }
    throw new Error(`it did not start: ${stderr}`);
  }

  /** Starts a process that is expected to end by itself. */
  async function fail(): Promise<{ code: number | null; err: string }> {
    const child = launch();
    const [err, [code]] = await Promise.all([text(child.stderr!), once(child, "exit")]);
    return { code, err };
  }

  async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    const exit = once(child, "exit");
    child.kill(signal);
    const [code] = await exit;
    return code;
  }

  const latest = async (url: string) =>
    (await (await fetch(`${url}/v1/ledger/latest`)).json()) as { size: number; hash: string };

  async function settle(url: string, task: string): Promise<string | undefined> {
    const { hash } = await latest(url);
    const response = await fetch(`${url}/v1/settle`, {
      method: "POST",
      headers: { authorization: "Bearer key" },
      body: JSON.stringify({
        header: { task_id: task, parent_hash: hash },
        payload: { data_update: { task, padding: "x".repeat(2000) }, confidence_score: 0.9 },
      }),
    });
    const answer = (await response.json()) as { status: string; hash: string };
    return answer.status === "SETTLED" ? answer.hash : undefined;
  }

  it("loses nothing that it answered, killed at any moment while many write", async () => {
    const records = await Promise.all(
      Array.from({ length: 120 }, (_, i) => envelope(listingBody({ capability: `text.kill.n${i}` }))),
    );
    const answered: string[] = [];
    let sent = 0;
    for (let round = 0; round < 3; round++) {
      const { child, url, size } = await start();
      expect(size).to.be.at.least(answered.length);
      const publish = async (): Promise<void> => {
        for (;;) {
          const record = records[sent++];
          if (!record) return;
          const response = await fetch(`${url}/v1/listings`, {
            method: "POST",
            body: JSON.stringify(record),
          });
          answered.push(((await response.json()) as { hash: string }).hash);
        }
      };
      const propose = async (): Promise<void> => {
        for (let i = 0; ; i++) {
          const hash = await settle(url, `task-${round}-${i}`);
          if (hash !== undefined) answered.push(hash);
        }
      };
      const target = answered.length + 25;
      const writers = [publish(), publish(), publish(), publish(), propose()].map((writer) =>
        writer.catch(() => {}),
      );
      while (answered.length < target) await new Promise((resolve) => setTimeout(resolve, 1));
      await kill(child, "SIGKILL");
      await Promise.all(writers);
    }
    const { child, url, size } = await start();
    const result = await verifyLedgerFile(file());
    if (result instanceof LedgerLineError) throw result;
    expect(result.size).to.equal(size);
    const hashes = new Set(
      readFileSync(file(), "latin1")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).current_hash),
    );
    expect(answered.length).to.be.at.least(75);
    for (const hash of answered) expect(hashes.has(hash), hash).to.equal(true);
    expect(await settle(url, "after")).to.match(/^[0-9a-f]{64}$/);
    expect(await kill(child, "SIGTERM")).to.equal(0);
  });

  it("ends with 0 when told to stop, having written what it answered, and gives the ledger free", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { child, url, size } = await start();
      const hash = await settle(url, signal);
      expect(await kill(child, signal)).to.equal(0);
      const last = readFileSync(file(), "latin1").trimEnd().split("\n")[size]!;
      expect(JSON.parse(last).current_hash).to.equal(hash);
    }
  });

  it("cuts a torn last line, says so, and goes on", async () => {
    const first = await start();
    await settle(first.url, "one");
    await kill(first.child, "SIGKILL");
    appendFileSync(file(), '{"current_hash": "12');
    const second = await start();
    expect(second.size).to.equal(1);
    expect(second.stderr()).to.contain("half written and has been cut").and.contain("line=2 bytes=20");
    expect(await settle(second.url, "two")).to.be.a("string");
  });

  it("does not start on a ledger with a bad line, and names it", async () => {
    const { child, url } = await start();
    await settle(url, "one");
    await settle(url, "two");
    await kill(child, "SIGTERM");
    writeFileSync(file(), readFileSync(file(), "latin1").replace('"task": "one"', '"task": "won"'));
    const { code, err } = await fail();
    expect(code).to.equal(1);
    expect(err)
      .to.match(/^error: line 1: current_hash is /)
      .and.contain("hint: ");
  });

  it("does not start beside another writer of the same ledger", async () => {
    await start();
    const { code, err } = await fail();
    expect(code).to.equal(1);
    expect(err).to.contain("Another process writes the ledger");
  });
});
