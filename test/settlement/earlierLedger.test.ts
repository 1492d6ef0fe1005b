import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { INDEX_FILE } from "../../services/settlement/engine/indexDatabase.ts";
import { readAnyLedger } from "../../services/settlement/ledger/readAnyLedger.ts";
import { compareIndexes } from "../../services/settlement/verifying/compareIndexes.ts";
import { KEY, proposal } from "./support/proposals.ts";
import { envelope, receiptBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

/** Two receipts and three payments of 3 each, as they were on disk when index files had format 3. */
const FIXTURE = new URL("./fixtures/ledger-of-format-3/", import.meta.url).pathname;

const RULES = {
  version: 1,
  actions: { pay: { budget: [{ field: "amount", max: "10", per_seconds: 86_400 }] }, "*": { allow: false } },
};

describe("a ledger that an earlier version wrote", () => {
  const folder = temporaryFolder();
  const file = (name: string) => path.join(folder.path, "local", name);
  let service: TestService;
  async function start(): Promise<void> {
    const rules = path.join(folder.path, "rules.json");
    writeFileSync(rules, JSON.stringify(RULES));
    const settings = { CHECKPOINT_PRIVATE_KEY: `0x${"11".repeat(32)}`, RULES_FILE: rules };
    service = await openTestService(folder.path, settings);
  }
  const pay = async (amount: number) => {
    const proposed = proposal(service.ledger.head);
    Object.assign(proposed.payload, { data_update: { action: "pay", amount } });
    return (await service.post("/v1/settle", proposed, KEY)).json;
  };
  function metaOf(): { format: number; size: number; salt: string } {
    const database = new DatabaseSync(file(INDEX_FILE), { readOnly: true });
    const meta = database.prepare("SELECT format, size, salt FROM meta").get();
    database.close();
    return meta as { format: number; size: number; salt: string };
  }

  it("starts with a new index, has all old entries, continues and verifies", async () => {
    mkdirSync(path.join(folder.path, "local"));
    cpSync(FIXTURE, path.join(folder.path, "local"), { recursive: true });
    writeFileSync(file(INDEX_FILE), gunzipSync(readFileSync(file(`${INDEX_FILE}.gz`))));
    const before = { ...metaOf() };
    expect(before).to.include({ format: 3, size: 5 });
    await start();
    try {
      expect((await service.get("/health")).json).to.include({ status: "ok", size: 5 });
      const known = await service.post("/v1/receipts", await envelope(receiptBody({ hire_id: "two" })));
      expect([known.status, known.json.index]).to.deep.equal([200, 1]);
      expect((await pay(3)).reason).to.contain("1 of 10 left");
      expect(await pay(1)).to.include({ status: "SETTLED", index: 5 });
    } finally {
      await service.close();
    }
    const { salt, ...after } = metaOf();
    expect(salt).not.to.equal(before.salt);
    expect(after).to.deep.equal({ size: 6, format: 6 });
    const { entries } = await compareIndexes({
      folder: path.join(folder.path, "local"),
      ledger: "local",
      salt,
      pace: async () => {},
    });
    const { size } = await readAnyLedger(file("ledger.jsonl"));
    expect([entries, size]).to.deep.equal([6, 6]);
    await start();
    expect(await pay(1)).to.include({ status: "REJECTED" });
    await service.close();
    expect(statSync(file("ledger.jsonl")).size).to.be.greaterThan(statSync(`${FIXTURE}ledger.jsonl`).size);
  });
});
