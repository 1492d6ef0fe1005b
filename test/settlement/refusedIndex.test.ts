import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { INDEX_FILE } from "../../services/settlement/engine/indexDatabase.ts";
import { LEDGER_FILE } from "../../services/settlement/ledger/diskLedger.ts";
import { envelope, receiptBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestAnswer, type TestService } from "./support/testService.ts";

describe("a disk that accepts the ledger and refuses its index", () => {
  const folder = temporaryFolder();
  let service: TestService;
  let other: DatabaseSync;
  let isOver: boolean;
  beforeEach(async () => {
    isOver = false;
    service = await openTestService(folder.path);
    other = new DatabaseSync(path.join(folder.path, "local", INDEX_FILE));
  });
  afterEach(async () => {
    isOver = true;
    other.close();
    await service.close();
  });
  const send = async (hire_id: string) =>
    service.post("/v1/receipts", await envelope(receiptBody({ hire_id })));

  it("causes no loss and no wrong answer: 503 until the index is complete again, then all entries are found", async () => {
    // Another writer of the file blocks the service, with the same effect as a disk without space.
    other.exec("BEGIN IMMEDIATE");
    const settled = await send("one");
    expect(settled.status, settled.text).to.equal(201);
    expect(service.ledger.size).to.equal(1);
    for (const answer of [await send("one"), await send("two"), await service.get("/v1/status/task-1")])
      expect([answer.status, answer.json.code], answer.text).to.deep.equal([503, "index_unavailable"]);
    const health = await service.get("/health");
    expect([health.status, health.json.code]).to.deep.equal([503, "index_unavailable"]);
    expect(health.json.hint).to.contain("index.sqlite");
    expect((await service.get("/v1/ledger/latest")).json).to.include({ size: 1 });
    expect((await service.get("/v1/ledger/proof?index=0")).status).to.equal(200);

    other.exec("ROLLBACK");
    let again: TestAnswer;
    do {
      await new Promise((resolve) => setTimeout(resolve, 50));
      again = await send("one");
    } while (again.status === 503);
    expect([again.status, again.json.hash]).to.deep.equal([200, settled.json.hash]);
    expect((await send("two")).status).to.equal(201);
    expect((await service.get("/health")).status).to.equal(200);
    await service.close();
    service = await openTestService(folder.path);
    expect((await send("one")).status).to.equal(200);
    expect((await send("two")).status).to.equal(200);
    expect(service.ledger.size).to.equal(2);
  });

  it("is in the log once if the missing entry cannot be read, and is tried again until it can", async () => {
    other.exec("BEGIN IMMEDIATE");
    expect((await send("one")).status).to.equal(201);
    const file = path.join(folder.path, "local", LEDGER_FILE);
    const line = await readFile(file);
    await writeFile(file, line.toString("latin1").replace("{", "?"), { encoding: "latin1", flag: "r+" });
    other.exec("ROLLBACK");
    const said = () =>
      service.logged.filter((sentence) => sentence.startsWith("The index cannot be completed"));
    const until = async (isDone: () => boolean | Promise<boolean>) => {
      // The test may have failed meanwhile by its time limit.
      while (!isOver && !(await isDone())) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await until(() => said().length > 0);
    let reads = 0;
    const { entry } = service.ledger;
    service.ledger.entry = (at) => {
      reads++;
      return entry.call(service.ledger, at);
    };
    await until(() => reads > 1);
    expect(said()).to.have.length(1);
    expect((await send("two")).status).to.equal(503);
    await writeFile(file, line, { flag: "r+" });
    await until(async () => (await send("two")).status === 201);
  });
});
