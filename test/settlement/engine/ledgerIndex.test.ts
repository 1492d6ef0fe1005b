import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { INDEX_FILE, TABLES } from "../../../services/settlement/engine/indexDatabase.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { DiskLedger, type NewEntry } from "../../../services/settlement/ledger/diskLedger.ts";
import { CHECK_FOLDER, compareIndexes } from "../../../services/settlement/verifying/compareIndexes.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const ENTRIES = 700;
const agent = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const digest = (n: number) => n.toString(16).padStart(64, "0");

/** Entry number `n`. By turns: a settlement, a stake, a vote, a review, a listing. */
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

  async function open(at = folder.path, tailEntries = 20): Promise<void> {
    taken = 0;
    index = new LedgerIndex(at);
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
  /** Every row of a closed index, except for fingerprints, which get a new salt. */
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
  /** The rows of an index that is made from the whole file. */
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

  it("has all entries at the next start, which reads only the end of the ledger and does not rebuild the index", async () => {
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
      actions: index.actionsWithin(100),
    });
    const before = facts();
    expect(before.actions).to.deep.equal([600, 610, 620, 630, 640, 650, 660, 670, 680, 690]);
    expect(before.reviews).to.equal(140);
    await close();
    await open();
    expect([taken, ledger.unread, ledger.size]).to.deep.equal([0, ENTRIES - 20, ENTRIES]);
    expect(await ledger.verifyGrowth(), "nothing is read back before the first entries").to.equal(undefined);
    expect(facts()).to.deep.equal(before);
    expect((await ledger.entry(401)).timestamp).to.equal(401.5);
    await write(ENTRIES, ENTRIES + 60);
    const { size, root } = await ledger.verify();
    expect([size, toHex(root)]).to.deep.equal([ENTRIES + 60, toHex(ledger.tree.root())]);
    expect([await ledger.readRest(), await ledger.verifyGrowth()]).to.deep.equal([true, ENTRIES + 60]);
    await close();
    expect(rows()).to.equal(await anew());
  });

  /** What happens to the file between two starts. `reads` is the number of entries that the index then reads again. */
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
    "has more entries than it says": {
      make: () => change("UPDATE meta SET size = size - 1"),
      reads: ENTRIES,
    },
    "has fewer entries than it says": {
      make: () => change("UPDATE meta SET size = size + 1"),
      reads: ENTRIES,
    },
    "is of an older format": { make: () => change("UPDATE meta SET format = 1"), reads: ENTRIES },
    "names another ledger": { make: () => change("UPDATE meta SET ledger = '0x01'"), reads: ENTRIES },
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
    it(`that ${what} is repaired from the ledger`, async () => {
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

  it("that a killed process leaves behind continues from the last commit", async () => {
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

  it("is rebuilt if its position fits the ledger but it has more entries, so that no entry is in it twice", async () => {
    const { size, end, head } = { ...positionOf(650), size: 650 };
    await close();
    // The ledger agrees with this position: its end and hash are correct for its size. Only the rows show that it is wrong.
    // An attacker who can write the file could write such a position.
    change(`UPDATE meta SET size = ${size}, "end" = ${end}, head = '${head}'`);
    await open();
    expect(taken).to.equal(ENTRIES);
    await close();
    expect(rows()).to.equal(await anew());
  });

  /** The end of the ledger after this many entries. */
  function positionOf(size: number): { end: number; head: string } {
    const lines = readFileSync(path.join(folder.path, "ledger.jsonl"), "latin1").split("\n").slice(0, size);
    return { end: lines.join("\n").length + 1, head: JSON.parse(lines.at(-1) as string).current_hash };
  }

  for (const [what, sql] of Object.entries({
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON vote BEGIN DELETE FROM vote; END",
    "a view in place of a table":
      "DROP TABLE listing; CREATE VIEW listing AS SELECT 1 AS offer, 2 AS issued_at",
    "another collation":
      "DROP TABLE note; CREATE TABLE note (name TEXT PRIMARY KEY COLLATE NOCASE, value INTEGER)",
  })) {
    it(`that got ${what} is rebuilt before any look-up`, async () => {
      await close();
      const database = new DatabaseSync(file());
      database.exec(sql);
      database.close();
      await open();
      expect(taken).to.equal(ENTRIES);
      await close();
      expect(rows()).to.equal(await anew());
    });
  }

  describe("compared with an index that is built from the ledger's lines", () => {
    const compare = (pace = async () => {}) =>
      compareIndexes({ folder: folder.path, ledger: "local", salt: index.salt, pace });
    /** The error of a comparison; undefined if there is none. */
    async function found(pace?: () => Promise<void>): Promise<{ code: string; message: string } | undefined> {
      return compare(pace).then(
        () => undefined,
        (error) => error,
      );
    }

    it("is equal in every row, while entries keep coming", async () => {
      let next = ENTRIES;
      const { entries, rows } = await compare(async () => {
        if (next >= ENTRIES + 1_200) return;
        await write(next, next + 60);
        next += 60;
      });
      // Rows that are committed during the comparison are compared, too.
      expect(entries)
        .to.be.within(ENTRIES, ENTRIES + 1_200)
        .and.to.equal(Math.floor(entries / 512) * 512);
      expect(entries).to.be.greaterThan(ENTRIES);
      expect(rows).to.be.greaterThan(3 * entries);
    });

    for (const [where, sql] of [
      ["table stake", "UPDATE stake SET staker = '0x00' WHERE at = 451"],
      ["table vote", "DELETE FROM vote WHERE at = (SELECT max(at) FROM vote WHERE at < 500)"],
      [
        "table review",
        "UPDATE review SET decision = 'neither' WHERE proposal = (SELECT min(proposal) FROM review)",
      ],
      ["table position", "DELETE FROM position WHERE key = (SELECT min(key) FROM position)"],
      ["table position", "UPDATE position SET key = key + 1 WHERE key = (SELECT min(key) FROM position)"],
      ["table state has 13 rows in place of 12", "INSERT INTO state VALUES (x'0000', 'true')"],
      ["table state", "UPDATE state SET value = '1' WHERE name = (SELECT max(name) FROM state)"],
      ["table note", "UPDATE note SET value = 0 WHERE name = 'has bound records'"],
      ["table piece", "UPDATE piece SET bytes = zeroblob(length(bytes)) WHERE list = 2 AND number = 0"],
      ["table earlier", "UPDATE earlier SET before = before + 1 WHERE at = 100"],
      ["table action", "UPDATE action SET time = time + 100000 WHERE at = 0"],
      ["table meta", "UPDATE meta SET salt = 'other'"],
      ["its position", "UPDATE meta SET head = substr(head, 2) || 'f'"],
      ["its position is inside line 700", 'UPDATE meta SET "end" = "end" - 7'],
    ] as const) {
      it(`is reported if it has other content (${sql.slice(0, 40)})`, async () => {
        await close();
        await open();
        await close();
        const salt = readSalt();
        change(sql);
        const error = await compareIndexes({
          folder: folder.path,
          ledger: "local",
          salt,
          pace: async () => {},
        }).catch((cause) => cause);
        expect(error?.code, error?.stack).to.equal("index_differs");
        expect(error.message.split("ledger ")[1]).to.contain(where);
      });
    }

    function readSalt(): string {
      const database = new DatabaseSync(file(), { readOnly: true });
      const { salt } = database.prepare("SELECT salt FROM meta").get() as { salt: string };
      database.close();
      return salt;
    }

    it("reports a changed line of the ledger", async () => {
      const ledgerFile = path.join(folder.path, "ledger.jsonl");
      const text = readFileSync(ledgerFile, "latin1");
      writeFileSync(ledgerFile, text.replace('"t8"', '"t9"'));
      const line = text.slice(0, text.indexOf('"t8"')).split("\n").length;
      expect(await found())
        .to.be.instanceOf(LedgerLineError)
        .with.property("line", line);
    });

    it("leaves no files behind, whatever the result is", async () => {
      const left = () => readdirSync(folder.path).filter((name) => name === CHECK_FOLDER);
      // A killed process has left this folder.
      mkdirSync(path.join(folder.path, CHECK_FOLDER));
      writeFileSync(path.join(folder.path, CHECK_FOLDER, INDEX_FILE), "half");
      await compare();
      expect(left(), "equal").to.deep.equal([]);
      const stopped = await found(() => Promise.reject(new Error("the service stops")));
      expect([stopped?.message, left()]).to.deep.equal(["the service stops", []]);
      const ledgerFile = path.join(folder.path, "ledger.jsonl");
      writeFileSync(ledgerFile, readFileSync(ledgerFile, "latin1").replace('"t8"', '"t9"'));
      expect([(await found())?.code, left()]).to.deep.equal(["ledger_line", []]);
    });
  });
});
