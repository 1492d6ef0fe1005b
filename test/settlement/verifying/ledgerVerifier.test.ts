import { existsSync, renameSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { Log } from "tallystick-runtime/stderrLog";
import { INDEX_FILE } from "../../../services/settlement/engine/indexDatabase.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { DiskLedger, LEDGER_FILE } from "../../../services/settlement/ledger/diskLedger.ts";
import {
  LedgerVerifier,
  type LedgerVerifierParameters,
} from "../../../services/settlement/verifying/ledgerVerifier.ts";
import { codeOf, openGate } from "../support/openGate.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const ENTRIES = 600;

describe("the verifier of a ledger and its index", function () {
  // A thread has to start, while the machine does other work.
  this.timeout(180_000);
  const folder = temporaryFolder();
  const { gate } = openGate();
  let index: LedgerIndex;
  let ledger: DiskLedger;
  let verifier: LedgerVerifier;
  const logged: string[] = [];
  const errors: unknown[] = [];

  function verify(more: Partial<LedgerVerifierParameters> = {}): LedgerVerifier {
    const log: Log = (sentence, { error } = {}) => {
      logged.push(sentence);
      errors.push(error);
    };
    const given = { share: 1, beforeWrites: true, firstMs: 0, restMs: 500, ...more };
    verifier = new LedgerVerifier({ gate, log, now: () => 1_767_225_600, ...given });
    verifier.keep(index, ledger);
    verifier.start();
    return verifier;
  }
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  beforeEach(async () => {
    index = new LedgerIndex(folder.path);
    ledger = await DiskLedger.open({
      folder: folder.path,
      openStore: () => index.openStore(),
      onEntry: (entry, at, end) => index.add(entry, at, end),
    });
    const durable = [];
    for (let n = 0; n < ENTRIES; n++) {
      const payload = { type: "settlement", data_update: { [`key ${n % 9}`]: BigInt(n) } };
      durable.push(ledger.append({ timestamp: n + 0.5, taskId: `task ${n % 50}`, payload }).durable);
    }
    await Promise.all(durable);
  });
  afterEach(async () => {
    await verifier.stop();
    await ledger.close();
    index.close();
  });

  it("compares repeatedly on a thread, and stops writes and signatures if the index differs; reads continue", async () => {
    verify();
    await until(() => verifier.state.compared !== null);
    // Rows that are not committed yet are not compared.
    expect(verifier.state.compared).to.include({ at: 1_767_225_600, entries: 512 });
    expect(codeOf(() => gate.requireSignatures())).to.equal("none");

    index.commit();
    const other = new DatabaseSync(path.join(folder.path, INDEX_FILE));
    other.exec("UPDATE state SET value = '1' WHERE name = (SELECT max(name) FROM state)");
    other.close();
    await until(() => verifier.state.found !== null);
    expect(verifier.state).to.include({ found: "index_differs", comparing: null });
    expect([codeOf(() => gate.requireWrites()), codeOf(() => gate.requireSignatures())]).to.deep.equal([
      "index_differs",
      "index_differs",
    ]);
    expect(codeOf(() => index.contextSlice(["key 8"]))).to.equal("index_differs");
    expect((await ledger.entry(17)).timestamp).to.equal(17.5);
    expect(existsSync(path.join(folder.path, INDEX_FILE))).to.equal(false);
    gate.open("changed");
  });

  it("stops nothing if it gets no result, reports the reason, and tries again", async () => {
    const { salt } = index;
    let failures = 0;
    Object.defineProperty(index, "salt", {
      get: () => {
        const file = { path: "/operators/index" };
        if (failures++ === 0)
          throw Object.assign(new Error(`ENOSPC: no space left on device, open '${file.path}'`), file);
        return salt;
      },
    });
    verify();
    await until(() => failures > 0);
    await until(() => verifier.state.problem !== null || verifier.state.compared !== null);
    // Strangers read it, so it does not name the file.
    expect(verifier.state.problem).to.equal("ENOSPC: no space left on device");
    expect(logged.at(-1)).to.contain("tried again");
    await until(() => verifier.state.compared !== null);
    expect(verifier.state).to.include({ problem: null, found: null });
    expect(codeOf(() => gate.requireWrites())).to.equal("none");
  });

  it("names the file that its thread cannot read only in the log", async () => {
    const file = path.join(folder.path, LEDGER_FILE);
    renameSync(file, `${file}.away`);
    verify();
    await until(() => verifier.state.problem !== null);
    renameSync(`${file}.away`, file);
    expect(verifier.state.problem).to.equal("ENOENT: no such file or directory");
    expect(String(errors.at(-1))).to.contain(`'${file}'`);
  });

  it("makes no comparison if its share of time is 0, and ends a running comparison when it is stopped", async () => {
    verify({ share: 0 });
    await verifier.linesRead;
    expect(verifier.state).to.include({ unread: 0, comparing: null, compared: null });
    await verifier.stop();
    verify({ share: 0.01 });
    await until(() => verifier.state.comparing !== null);
    await verifier.stop();
    expect(verifier.state).to.include({ comparing: null, compared: null, problem: null, found: null });
    expect(existsSync(path.join(folder.path, "index.checking"))).to.equal(false);
  });
});
