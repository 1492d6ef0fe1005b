import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { LedgerLineError } from "../../protocol/ledger/verifyLedger.ts";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { envelope, listingBody } from "./support/records.ts";
import { settle, settlementProcesses, stop } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

describe("the settlement process", () => {
  const folder = temporaryFolder();
  const { start, fail } = settlementProcesses(() => ({ LEDGER_DIR: folder.path }));
  const file = () => path.join(folder.path, "local", "ledger.jsonl");

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
      await stop(child, "SIGKILL");
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
    expect(await stop(child, "SIGTERM")).to.equal(0);
  });

  it("ends with 0 when told to stop, having written what it answered, and gives the ledger free", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { child, url, size } = await start();
      const hash = await settle(url, signal);
      expect(await stop(child, signal)).to.equal(0);
      const last = readFileSync(file(), "latin1").trimEnd().split("\n")[size]!;
      expect(JSON.parse(last).current_hash).to.equal(hash);
    }
  });

  it("cuts a torn last line, says so, and goes on", async () => {
    const first = await start();
    await settle(first.url, "one");
    await stop(first.child, "SIGKILL");
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
    await stop(child, "SIGTERM");
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
