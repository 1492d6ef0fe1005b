import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { AppendFile } from "../../services/settlement/ledger/appendFile.ts";
import { DiskLedger } from "../../services/settlement/ledger/diskLedger.ts";
import { propose, type RunningSettlement, settlementProcesses, stop } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

describe("a settlement process whose files somebody else changes", () => {
  const folder = temporaryFolder();
  const { start, fail } = settlementProcesses(() => ({ LEDGER_DIR: folder.path }));

  /** Settles one entry and changes the file. Then the service must refuse the next entry and end by itself. */
  async function expectEnd(touch: (file: string) => void, reason: RegExp): Promise<RunningSettlement> {
    const service = await start();
    expect((await propose(service.url, "one")).status).to.equal(200);
    // What it logs at its end may arrive after its exit.
    const exit = Promise.all([once(service.child, "exit"), once(service.child.stderr!, "end")]);
    touch(service.file);
    const { status, code: refused } = await propose(service.url, "two");
    // The check before a signature may find it first. Then the entry is not written.
    expect([status, refused]).to.be.deep.oneOf([
      [503, "outcome_unknown"],
      [503, "ledger_unavailable"],
    ]);
    const [[code]] = await exit;
    expect(code).to.equal(1);
    expect(service.stderr())
      .to.match(/^error: The ledger cannot be written: /m)
      .and.to.match(reason);
    // Clients get this sentence too, so it names the file without the operator's folder.
    const [told = ""] = /^error: The ledger cannot be written: .*$/m.exec(service.stderr()) ?? [];
    expect(told).not.to.contain(folder.path);
    return service;
  }

  it("refuses a second writer if the folder's lock was removed", async () => {
    const first = await start();
    expect((await propose(first.url, "one")).status).to.equal(200);
    rmSync(path.join(path.dirname(first.file), "ledger.lock"));
    const { code, err } = await fail();
    expect([code, err.includes("Another process writes")], err).to.deep.equal([1, true]);
    expect((await propose(first.url, "two")).status).to.equal(200);
    expect(await stop(first.child, "SIGTERM")).to.equal(0);
  });

  it("ends when its ledger was deleted, and acknowledges nothing", () =>
    expectEnd((file) => rmSync(file), /is no longer there/));

  it("ends when its ledger was replaced by a copy of itself", () =>
    expectEnd((file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    }, /is another file than the one that was opened/));

  it("ends when somebody else appended to its ledger, and keeps their bytes", async () => {
    const { file } = await expectEnd(
      (at) => appendFileSync(at, "foreign\n"),
      /which are not all this service's own/,
    );
    expect(readFileSync(file, "latin1").split("\n")[1]).to.equal("foreign");
    expect((await fail()).err).to.match(/line 2/);
  });

  it("ends when its ledger was made shorter", () =>
    expectEnd((file) => truncateSync(file, 0), /which are not all this service's own/));
});

describe("a file that is appended to", () => {
  const folder = temporaryFolder();
  const filePath = () => path.join(folder.path, "lines");

  async function open() {
    const failures: Error[] = [];
    const file = await AppendFile.open({ filePath: filePath(), onFailure: (error) => failures.push(error) });
    return { file, failures };
  }
  const codeOf = (action: Promise<unknown>): Promise<string> =>
    action.then(
      () => "done",
      (error) => error.code,
    );

  it("has only one writer at a time", async () => {
    const { file } = await open();
    expect(await codeOf(AppendFile.open({ filePath: filePath(), onFailure: () => {} }))).to.equal(
      "ledger_locked",
    );
    await file.close();
    await (await open()).file.close();
  });

  it("is checked before anything is signed, also if nothing is written", async () => {
    for (const touch of [
      () => appendFileSync(filePath(), "x"),
      () => rmSync(filePath()),
      () => {
        copyFileSync(filePath(), `${filePath()}2`);
        renameSync(`${filePath()}2`, filePath());
      },
    ]) {
      rmSync(filePath(), { force: true });
      const { file, failures } = await open();
      await file.append("one\n");
      await file.check();
      touch();
      expect(await codeOf(file.check())).to.equal("ledger_unavailable");
      expect(await codeOf(file.append("two\n"))).to.equal("ledger_unavailable");
      expect(failures).to.have.length(1);
      await file.close();
    }
  });

  it("may be checked while it grows", async () => {
    const { file, failures } = await open();
    const work: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n++) {
      work.push(file.append(`${n}\n`), file.check());
      if (n % 7 === 0) await file.append("now\n");
    }
    await Promise.all(work);
    expect(failures).to.deep.equal([]);
    await file.close();
  });

  it("is not accepted if another file replaced it while it was read", async () => {
    const error = await codeOf(
      AppendFile.open({
        filePath: filePath(),
        onFailure: () => {},
        prepare: async () => {
          writeFileSync(`${filePath()}2`, "other\n");
          renameSync(`${filePath()}2`, filePath());
        },
      }),
    );
    expect(error).to.equal("ledger_unavailable");
  });

  it("is free again when its ledger is closed", async () => {
    const ledger = await DiskLedger.open({ folder: folder.path });
    await ledger.checkFile();
    await ledger.close();
    await (await DiskLedger.open({ folder: folder.path })).close();
  });
});
