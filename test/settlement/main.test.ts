import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { expect } from "chai";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { crashTest } from "../../tools/bench/ledger/crashTest.ts";
import { isAlive, untilGone } from "../scripts/fixtures/gone.ts";
import { settle, settlementProcesses, stop } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

describe("the settlement process", () => {
  const folder = temporaryFolder();
  const environment: { [name: string]: string } = {};
  const { start, fail } = settlementProcesses(() => ({ LEDGER_DIR: folder.path, ...environment }));
  const file = () => path.join(folder.path, "local", "ledger.jsonl");

  it("loses nothing that it acknowledged, when it is killed at any moment during many writes", async function () {
    this.timeout(180_000);
    // Two numbers for each kill: the share of 100 answers that the test waits for, and the share of the time that it waits
    // after them. So the kills come late, at once, and in the middle. `npm run soak:ledger` does hundreds of kills.
    const moments = [0.9, 0.1, 0, 0.6, 0.5, 0.9];
    const random = () => moments.shift() ?? 0;
    const counts = await crashTest({ ledgerDir: folder.path, kills: 3, random, lifeAnswers: 100 });
    expect(counts).to.include({ kills: 3, losses: 0 });
    expect(counts.answers).to.be.at.least(140);
    expect(counts.entries).to.be.at.least(counts.answers);
  });

  it("ends with 0 on request, writes everything that it acknowledged, and unlocks the ledger", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { child, url, size } = await start();
      const hash = await settle(url, signal);
      expect(await stop(child, signal)).to.equal(0);
      const last = readFileSync(file(), "latin1").trimEnd().split("\n")[size]!;
      expect(JSON.parse(last).current_hash).to.equal(hash);
    }
  });

  it("cuts a torn last line, reports it, and continues", async () => {
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

  it("does not start at a used port, reports it, and leaves its ledger to the next start", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    environment.SETTLEMENT_PORT = String((other.address() as AddressInfo).port);
    try {
      const { code, err } = await fail();
      expect(code).to.equal(1);
      expect(err)
        .to.match(
          new RegExp(
            `^error: Nothing can listen at 127.0.0.1, port ${environment.SETTLEMENT_PORT}: .*EADDRINUSE`,
          ),
        )
        .and.contain("hint: ");
    } finally {
      other.close();
      delete environment.SETTLEMENT_PORT;
    }
    expect((await start()).size).to.equal(0);
  });

  it("does not start if another writer has the same ledger", async () => {
    await start();
    const { code, err } = await fail();
    expect(code).to.equal(1);
    expect(err).to.contain("Another process writes the ledger");
  });

  it("ends with the test or the bench that started it, also if that program is killed", async () => {
    const starter = spawn(
      process.execPath,
      nodeProgram("test/settlement/support/holdsSettlement.ts", [folder.path]),
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [line] = await once(starter.stdout, "data");
    const pid = Number(String(line));
    expect(isAlive(pid)).to.equal(true);
    starter.kill("SIGKILL");
    await untilGone({ pids: [pid] });
  });
});
