import { cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { INDEX_FILE, TABLES } from "../../../services/settlement/engine/indexDatabase.ts";
import { IndexKeeper } from "../../../services/settlement/engine/indexKeeper.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { DiskLedger, type NewEntry } from "../../../services/settlement/ledger/diskLedger.ts";
import { openGate } from "../support/openGate.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const ENTRIES = 700;
const agent = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const digest = (n: number) => n.toString(16).padStart(64, "0");

/** Entries of every kind that the index keeps something of. */
function entryNumber(n: number): NewEntry {
  const record = (type: string, body: object) => ({
    type,
    body: { type, ledger: "local", ...body },
    signer: agent(n % 7),
    signature: "0x",
  });
  const payload =
    n % 5 === 0
      ? {
          type: "settlement",
          data_update: { [`key ${n % 11}`]: BigInt(n), ...(n % 2 ? {} : { action: "pay" }) },
        }
      : n % 5 === 1
        ? record("stake", { task_id: `t${n % 13}`, proposal: digest(n) })
        : n % 5 === 2
          ? record("verify", { task_id: `t${(n - 1) % 13}`, proposal: digest(n - 1) })
          : n % 5 === 3
            ? record("review", { proposal: digest(n), decision: n % 2 ? "release" : "reject" })
            : record("listing", { agent_id: agent(n % 7), capability: `c${n % 3}`, issued_at: BigInt(n) });
  return { timestamp: n + 0.5, taskId: `task ${n % 50}`, payload };
}

describe("the index of a ledger, on disk", () => {
  const folder = temporaryFolder();
  let index: LedgerIndex;
  let ledger: DiskLedger;
  let taken: number;
  let failures: Error[];

  async function open(at = folder.path, tailEntries = 20): Promise<void> {
    taken = 0;
    failures = [];
    index = new LedgerIndex(at, { onFailure: (error) => failures.push(error) });
    ledger = await DiskLedger.open({
      folder: at,
      openStore: () => index.openStore(),
      tailEntries,
      onEntry: (entry, position, end) => {
        taken++;
        index.add(entry, position, end);
      },
    });
  }
  async function close(): Promise<void> {
    await ledger.close();
    index.close();
  }
  async function write(from: number, to: number): Promise<void> {
    const durable = [];
    for (let n = from; n < to; n++) durable.push(ledger.append(entryNumber(n)).durable);
    await Promise.all(durable);
  }
  /** Every row but fingerprints, which are salted anew, of a closed index. */
  function rows(at = folder.path): string {
    const database = new DatabaseSync(path.join(at, INDEX_FILE), { readOnly: true });
    const all = Object.entries(TABLES).map(([table, order]) => {
      const columns = table === "position" ? "at" : "*";
      const by = table === "position" ? "at" : order;
      return [table, database.prepare(`SELECT ${columns} FROM ${table} ORDER BY ${by}`).all()];
    });
    database.close();
    return JSON.stringify(all);
  }
  /** What an index that is made of the whole file has. */
  async function anew(): Promise<string> {
    const other = path.join(folder.path, "anew");
    rmSync(other, { recursive: true, force: true });
    mkdirSync(other);
    cpSync(path.join(folder.path, "ledger.jsonl"), path.join(other, "ledger.jsonl"));
    await open(other);
    expect(taken).to.equal(ledger.size);
    await close();
    return rows(other);
  }
  const file = () => path.join(folder.path, INDEX_FILE);

  beforeEach(async () => {
    await open();
    await write(0, ENTRIES);
  });
  afterEach(() => close().catch(() => {}));

  it("is not read again at the next start, but for the end of the ledger, and knows what it knew", async () => {
    const facts = () => ({
      root: toHex(ledger.tree.root()),
      old: toHex(ledger.tree.root(300)),
      proof: ledger.tree.inclusionProof(123, 650).map(toHex),
      head: ledger.head,
      task: index.indexesOfTask("task 7", 4, 607),
      stake: index.indexOfRecord(`stake ${digest(651)} t${651 % 13}`),
      slice: index.contextSlice(["key 3", "key 10"]),
      votes: index.consensus.proposals("t1", 100),
      review: index.reviewOf(digest(693)),
      reviews: index.reviews,
      open: index.unfinishedReleases.size,
      listing: index.newestListing(`${agent(6)} c0 direct`),
      actions: index.actionsWithin(100, ENTRIES),
    });
    const before = facts();
    expect(before.actions).to.deep.equal([600, 610, 620, 630, 640, 650, 660, 670, 680, 690]);
    expect(before.reviews).to.equal(140);
    await close();
    await open();
    expect([taken, ledger.unread, ledger.size]).to.deep.equal([0, ENTRIES - 20, ENTRIES]);
    expect(facts()).to.deep.equal(before);
    expect((await ledger.entry(401)).timestamp).to.equal(401.5);
    await write(ENTRIES, ENTRIES + 60);
    const { size, root } = await ledger.verify();
    expect([size, toHex(root)]).to.deep.equal([ENTRIES + 60, toHex(ledger.tree.root())]);
    await close();
    expect(rows()).to.equal(await anew());
  });

  /** What may become of the file between two starts. `reads`: how much of the ledger is read for it. */
  const fates: { [what: string]: { make: () => Promise<void> | void; reads: number } } = {
    "is deleted": { make: () => rmSync(file()), reads: ENTRIES },
    "is older than the ledger": {
      make: async () => {
        const older = readFileSync(file());
        await open();
        await write(ENTRIES, ENTRIES + 50);
        await close();
        writeFileSync(file(), older);
      },
      reads: 50,
    },
    "is newer than the ledger": {
      make: () => {
        const ledgerFile = path.join(folder.path, "ledger.jsonl");
        const lines = readFileSync(ledgerFile, "latin1").split("\n");
        writeFileSync(ledgerFile, `${lines.slice(0, 650).join("\n")}\n`);
      },
      reads: 650,
    },
    "is of another ledger": {
      make: async () => {
        rmSync(path.join(folder.path, "ledger.jsonl"));
        const other = readFileSync(file());
        rmSync(file());
        await open();
        await write(3, ENTRIES + 3);
        await close();
        writeFileSync(file(), other);
      },
      reads: ENTRIES,
    },
    "is no database": { make: () => writeFileSync(file(), "hello".repeat(1_000)), reads: ENTRIES },
    "is empty": { make: () => truncateSync(file(), 0), reads: ENTRIES },
    "is cut off": { make: () => truncateSync(file(), 4_096), reads: ENTRIES },
    "is of an older format": { make: () => change("UPDATE meta SET format = 1"), reads: ENTRIES },
    "is of another name": { make: () => change("UPDATE meta SET ledger = '0x01'"), reads: ENTRIES },
    "was open when the machine lost its power": {
      make: () => change("UPDATE meta SET clean = 0, boot = 'before'"),
      reads: ENTRIES,
    },
  };
  function change(sql: string, at = file()): void {
    const database = new DatabaseSync(at);
    expect(database.prepare(sql).run().changes).to.equal(1);
    database.close();
  }
  for (const [what, { make, reads }] of Object.entries(fates)) {
    it(`that ${what} is made right from the ledger`, async () => {
      await close();
      await make();
      await open();
      expect(taken).to.equal(reads);
      const { size } = ledger;
      await close();
      expect(rows()).to.equal(await anew());
      await open();
      expect([taken, ledger.size]).to.deep.equal([0, size]);
    });
  }

  it("that a killed process leaves behind goes on from what was committed", async () => {
    const left = path.join(folder.path, "left");
    mkdirSync(left);
    for (const name of ["ledger.jsonl", INDEX_FILE, `${INDEX_FILE}-wal`])
      cpSync(path.join(folder.path, name), path.join(left, name));
    await close();
    await open(left);
    expect(taken).to.equal(ENTRIES - 512);
    await close();
    expect(rows(left)).to.equal(await anew());
  });

  describe("in the background, after a start", () => {
    async function keep(): Promise<IndexKeeper> {
      const { gate } = openGate();
      const keeper = new IndexKeeper({ gate, log: () => {}, onFailure: (error) => failures.push(error) });
      keeper.keep(index, ledger);
      keeper.start();
      return keeper;
    }
    const checked = async (): Promise<void> => {
      while (ledger.unread > 0 && failures.length === 0)
        await new Promise((resolve) => setTimeout(resolve, 5));
    };

    it("is compared, every row, with one that is made anew, while entries go on coming", async () => {
      await close();
      await open();
      const keeper = await keep();
      await write(ENTRIES, ENTRIES + 30);
      await keeper.finished;
      expect([ledger.unread, failures]).to.deep.equal([0, []]);
      await keeper.stop();
    });

    for (const sql of [
      "UPDATE stake SET staker = '0x00' WHERE at = 651",
      "UPDATE review SET decision = 'neither' WHERE proposal = (SELECT max(proposal) FROM review)",
      "DELETE FROM position WHERE key = (SELECT min(key) FROM position)",
      "UPDATE state SET value = '1' WHERE name = (SELECT max(name) FROM state)",
      "UPDATE piece SET bytes = zeroblob(length(bytes)) WHERE list = 2 AND number = 0",
    ]) {
      it(`is found out when it says something else (${sql.slice(0, 24)}), and is made anew at the next start`, async () => {
        await close();
        change(sql);
        await open();
        expect(taken).to.equal(0);
        const keeper = await keep();
        await keeper.finished;
        expect(failures.map((error) => (error as { code?: string }).code)).to.deep.equal(["index_differs"]);
        await keeper.stop();
        await close();
        expect(statSync(file(), { throwIfNoEntry: false })).to.equal(undefined);
        await open();
        expect(taken).to.equal(ENTRIES);
        await close();
        expect(rows()).to.equal(await anew());
      });
    }

    it("ends nothing when there is no room to make one anew", async () => {
      await close();
      await open();
      Object.defineProperty(index, "salt", {
        get: () => {
          throw new Error("ENOSPC: no space left on device");
        },
      });
      const keeper = await keep();
      await keeper.finished;
      expect(failures).to.deep.equal([]);
      await write(ENTRIES, ENTRIES + 1);
      await keeper.stop();
    });

    it("finds a line of the ledger that was changed before the start, and names it", async () => {
      await close();
      const ledgerFile = path.join(folder.path, "ledger.jsonl");
      const text = readFileSync(ledgerFile, "latin1");
      writeFileSync(ledgerFile, text.replace('"t8"', '"t9"'));
      await open();
      const line = text.slice(0, text.indexOf('"t8"')).split("\n").length;
      const keeper = await keep();
      await checked();
      expect(failures[0]).to.be.instanceOf(LedgerLineError).with.property("line", line);
      await keeper.stop();
    });
  });
});
