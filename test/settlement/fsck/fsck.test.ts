import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { toHex } from "tallystick-protocol/hex";
import { checkLedgerFolder } from "../../../services/settlement/fsck/checkLedgerFolder.ts";
import { checkLog } from "../../../services/settlement/fsck/checkLog.ts";
import type { Fault } from "../../../services/settlement/fsck/fault.ts";
import type { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { writeLastSigned } from "../../../services/settlement/ledger/lastSigned.ts";
import { makeCheckpointKey } from "../../../services/settlement/proofs/checkpointKey.ts";
import { StaticLog } from "../../../services/settlement/staticLog/staticLog.ts";
import { grow, key, noteOf, ORIGIN, openLedger, serveAs } from "../mirror/support.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the check of a ledger and of its copies", () => {
  const temporary = temporaryFolder();
  const ledgers: DiskLedger[] = [];
  afterEach(async () => {
    for (const ledger of ledgers.splice(0)) await ledger.close();
  });

  async function ledgerOf(size: number, text = ""): Promise<DiskLedger> {
    const ledger = await openLedger(temporary.path, size, text);
    ledgers.push(ledger);
    return ledger;
  }

  const places = (faults: Fault[]) =>
    faults.map(({ file, line }) => (line === undefined ? file : `${file} ${line}`));

  /** Every file below a folder, with its bytes. */
  function filesOf(folder: string): Map<string, Buffer> {
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    return new Map(
      found.map((one) => {
        const file = path.join(one.parentPath, one.name);
        return [path.relative(folder, file), readFileSync(file)];
      }),
    );
  }

  describe("of a static log", () => {
    const log = () => path.join(temporary.path, "log");
    const at = (name: string) => path.join(log(), name);
    const check = (more = {}) => checkLog({ source: log(), keys: [key], pauseMs: 1, ...more });
    let ledger: DiskLedger;

    beforeEach(async () => {
      ledger = await ledgerOf(700);
      await new StaticLog({ folder: log(), origin: ORIGIN, ledger }).write({
        size: 700,
        note: noteOf(ledger),
      });
    });

    it("finds no fault in a good log, by folder and by address, and writes nothing", async () => {
      const before = filesOf(log());
      const found = await check();
      expect(found).to.deep.include({
        kind: "log",
        entries: 700,
        origin: ORIGIN,
        trusted: true,
        faults: [],
        faultCount: 0,
        notes: [],
      });
      expect(found.root).to.equal(toHex(ledger.tree.root()));
      expect((await check({ keys: undefined })).trusted).to.equal(false);
      const { url, server, asked } = await serveAs({
        now: (_request, response, name) => {
          const bytes = before.get(name);
          return bytes ? response.end(bytes) : response.writeHead(404).end();
        },
      });
      expect((await check({ source: url })).faults).to.deep.equal([]);
      // The check read every file.
      expect(new Set(asked)).to.deep.equal(new Set(before.keys()));
      server.close();
      expect([...filesOf(log()).keys()]).to.deep.equal([...before.keys()]);
    });

    it("names any single changed byte, with its file", async () => {
      const files = [...filesOf(log())].filter(([name]) => name !== "checkpoint");
      await fc.assert(
        fc.asyncProperty(
          fc.nat(),
          fc.nat(),
          fc.integer({ min: 1, max: 255 }),
          async (which, where, change) => {
            const [name, whole] = files[which % files.length]!;
            const bytes = Buffer.from(whole);
            bytes[where % bytes.length]! ^= change;
            writeFileSync(at(name), bytes);
            const { faults } = await check();
            writeFileSync(at(name), whole);
            expect(faults.length, name).to.be.above(0);
            expect(new Set(faults.map(({ file }) => file)), `${name} ${where % bytes.length}`).to.deep.equal(
              new Set([name]),
            );
            for (const { todo } of faults) expect(todo).to.match(/--recheck/);
          },
        ),
        { numRuns: 25, seed: 26 },
      );
      expect((await check()).faults).to.deep.equal([]);
    });

    it("names everything that is missing, cut off, too long, at another place or wrongly signed, in one check", async () => {
      rmSync(at("tile/entries/001"));
      truncateSync(at("tile/0/000"), 100);
      writeFileSync(at("tile/1/000.p/2"), Buffer.alloc(64));
      expect(places((await check()).faults).sort()).to.deep.equal([
        "tile/0/000",
        "tile/1/000.p/2",
        "tile/entries/001",
      ]);
      const found = await check({ keys: [{ ...key, name: "another.test/log" }] });
      expect(places(found.faults)).to.include("checkpoint");
      expect(found.faultCount).to.equal(4);
    });

    it("continues after a wrong entry, and names every wrong entry", async () => {
      for (const [bundle, text] of [
        ["tile/entries/000", "task-7"],
        ["tile/entries/000", "task-9"],
        ["tile/entries/002.p/188", "task-600"],
      ] as const) {
        const bytes = readFileSync(at(bundle));
        const where = bytes.indexOf(`"${text}"`);
        bytes[where + 2]! ^= 2;
        writeFileSync(at(bundle), bytes);
      }
      expect(places((await check()).faults)).to.deep.equal([
        "tile/entries/000 8",
        "tile/entries/000 10",
        "tile/entries/002.p/188 601",
      ]);
    });

    it("tells whether a bundle or a tile is damaged, also if the wrong entries follow each other", async () => {
      // A whole bundle of a forged ledger. Its entries follow each other up to the end of the bundle.
      const forged = await ledgerOf(300);
      await grow(forged, 700, "forged");
      const other = path.join(temporary.path, "forged");
      await new StaticLog({ folder: other, origin: ORIGIN, ledger: forged }).write({
        size: 700,
        note: noteOf(forged),
      });
      cpSync(path.join(other, "tile/entries/001"), at("tile/entries/001"));
      const { faults } = await check();
      expect(new Set(places(faults).map((place) => place.split(" ")[0]))).to.deep.equal(
        new Set(["tile/entries/001", "tile/entries/002.p/188"]),
      );
      expect(places(faults)).to.include("tile/entries/001 301").and.to.include("tile/entries/002.p/188 513");
      cpSync(path.join(other, "tile/entries"), at("tile/entries"), { recursive: true });
      const all = await check();
      expect(all.faultCount).to.equal(400);
      cpSync(path.join(other, "tile"), at("tile"), { recursive: true });
      expect(places((await check()).faults)).to.deep.equal(["checkpoint"]);
    });

    it("lists other files in the folder, but not as faults", async () => {
      await grow(ledger, 900);
      const other = path.join(temporary.path, "longer");
      await new StaticLog({ folder: other, origin: ORIGIN, ledger }).write({
        size: 900,
        note: noteOf(ledger),
      });
      cpSync(path.join(other, "tile/entries/002"), at("tile/entries/002"));
      mkdirSync(at("evidence/ledger_forked-3-ab"), { recursive: true });
      const { faults, notes } = await check();
      expect(faults).to.deep.equal([]);
      expect(notes).to.have.length(2);
      expect(notes.join())
        .to.match(/^1 files of entries/)
        .and.to.match(/ledger_forked-3-ab/);
    });

    it("ends with an error if there is nothing to check, or if a source disappears", async () => {
      const codeOf = (action: Promise<unknown>) =>
        action.then(
          () => "checked",
          (error) => error.code,
        );
      const checkpoint = readFileSync(at("checkpoint"));
      writeFileSync(at("checkpoint"), "[]");
      expect(await codeOf(check())).to.equal("log_invalid");
      rmSync(at("checkpoint"));
      expect(await codeOf(check())).to.equal("unreadable_log");
      const { url, server } = await serveAs({
        now: (_request, response, name) =>
          name === "checkpoint" ? response.end(checkpoint) : response.writeHead(503).end(),
      });
      expect(await codeOf(check({ source: url }))).to.equal("unreadable_log");
      server.close();
    });
  });

  describe("of a service's ledger", () => {
    let ledger: DiskLedger;
    let file: string;
    const check = () => checkLedgerFolder({ folder: ledger.folder });
    const lines = () => readFileSync(file, "latin1").trimEnd().split("\n");
    const have = (texts: string[]) => writeFileSync(file, `${texts.join("\n")}\n`, "latin1");
    const signed = (size: number) =>
      writeLastSigned(ledger.folder, { size, root: toHex(ledger.tree.root(size)) });

    beforeEach(async () => {
      ledger = await ledgerOf(60);
      file = ledger.path;
      await makeCheckpointKey(ledger.folder);
      await signed(50);
    });

    it("finds no fault in a good ledger, also while its service runs, and writes nothing", async () => {
      const before = filesOf(ledger.folder);
      expect(await check()).to.deep.equal({
        kind: "ledger",
        entries: 60,
        root: toHex(ledger.tree.root()),
        faults: [],
        faultCount: 0,
        notes: [],
      });
      expect(filesOf(ledger.folder)).to.deep.equal(before);
    });

    it("names every bad line once, at any place", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 6 }),
          async (bad) => {
            const good = lines();
            have(good.map((line, n) => (bad.includes(n) ? line.replace('"n": ', '"n": 1') : line)));
            const { faults, entries } = await check();
            have(good);
            const named = faults
              .filter(({ file: at }) => at === "ledger.jsonl")
              .map(({ line }) => Number(line) - 1);
            expect(named).to.deep.equal([...bad].sort((a, b) => a - b));
            expect(entries).to.equal(60);
            // The last signature covers 50 entries.
            expect(faults.some(({ file: at }) => at === "last-signed.json")).to.equal(Math.min(...bad) < 50);
          },
        ),
        { numRuns: 20, seed: 26 },
      );
    });

    it("names the place where a line is missing, repeated, replaced, joined with the next, or rewritten with a correct hash", async () => {
      const good = lines();
      const of = async (texts: string[]) => {
        have(texts);
        return (await check()).faults.filter(({ file: at }) => at === "ledger.jsonl").map(({ line }) => line);
      };
      expect(await of(good.toSpliced(20, 1))).to.deep.equal([21]);
      expect(await of(good.toSpliced(20, 0, good[20]!))).to.deep.equal([22]);
      expect(await of(good.with(20, "{}"))).to.deep.equal([21]);
      expect(await of(good.toSpliced(20, 2, `${good[20]}${good[21]}`))).to.deep.equal([21]);
      const other = await ledgerOf(60, "rewritten");
      const theirs = readFileSync(other.path, "latin1").trimEnd().split("\n");
      expect(await of([...good.slice(0, 30), ...theirs.slice(30)])).to.deep.equal([31]);
    });

    it("recognises a torn last line, and compares signed history with the file", async () => {
      truncateSync(file, statSync(file).size - 5);
      const torn = await check();
      expect(torn).to.deep.include({ entries: 59, faults: [] });
      expect(torn.notes.join()).to.match(/^Line 60 is incomplete/);
      have(lines().slice(0, 40));
      expect((await check()).faults).to.have.length(1);
      expect((await check()).faults[0]).to.include({ file: "last-signed.json" });
      rmSync(path.join(ledger.folder, "last-signed.json"));
      rmSync(path.join(ledger.folder, "checkpoint.key"));
      const bare = await check();
      expect(places(bare.faults)).to.deep.equal(["last-signed.json"]);
      expect(bare.notes.join()).to.match(/^checkpoint.key is missing/);
      writeFileSync(path.join(ledger.folder, "last-signed.json"), "{");
      expect(places((await check()).faults)).to.deep.equal(["last-signed.json"]);
    });
  });
});
