import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import fc from "fast-check";
import { parseTilePath } from "tallystick-protocol/merkle/tilePath";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { formatSignedNote, noteVerifierKey, signNote } from "tallystick-protocol/note/signedNote";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { readTile } from "../../../services/settlement/proofs/tiles.ts";
import { StaticLog } from "../../../services/settlement/staticLog/staticLog.ts";
import { verifyStaticLog } from "../../../services/settlement/staticLog/verifyStaticLog.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { openTestService } from "../support/testService.ts";

const ORIGIN = "tallystick.test/static";
const SEED = new Uint8Array(32).fill(3);
const key = noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED));

describe("a static log", () => {
  const folder = temporaryFolder();
  const ledgers: DiskLedger[] = [];
  afterEach(async () => {
    for (const ledger of ledgers.splice(0)) await ledger.close();
  });

  async function openLedger(name = "ledger"): Promise<DiskLedger> {
    const ledger = await DiskLedger.open({ folder: path.join(folder.path, name) });
    ledgers.push(ledger);
    return ledger;
  }

  async function grow(ledger: DiskLedger, size: number, text = ""): Promise<void> {
    const appended = [];
    for (let n = ledger.size; n < size; n++)
      appended.push(
        ledger.append({ timestamp: 1_767_225_600 + n, taskId: `task-${n}`, payload: { n: BigInt(n), text } }),
      );
    await Promise.all(appended.map(({ durable }) => durable));
  }

  function checkpoint(ledger: DiskLedger, size = ledger.size, origin = ORIGIN) {
    const text = formatCheckpoint({ origin, size, root: ledger.tree.root(size) });
    return { size, note: formatSignedNote({ text, signatures: [signNote(text, origin, SEED)] }) };
  }

  const out = (name = "static") => path.join(folder.path, name);
  const log = (ledger: DiskLedger, name?: string) =>
    new StaticLog({ folder: out(name), origin: ORIGIN, ledger });
  const verify = (source = out()) => verifyStaticLog({ source, keys: [key], pauseMs: 1 });
  const files = (at = out()) =>
    readdirSync(at, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => path.relative(at, path.join(one.parentPath, one.name)));

  async function refusal(
    action: Promise<unknown>,
  ): Promise<{ code: string; message: string; line?: number }> {
    return action.then(
      () => expect.fail("it went through"),
      (error) => error,
    );
  }

  it("has the same tiles as the service, byte by byte, after growth in any steps", async () => {
    const ledger = await openLedger();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat(5), fc.nat(300)), { minLength: 1, maxLength: 4 }),
        async (steps) => {
          const name = `run-${files(folder.path).length}`;
          const written = log(ledger, name);
          let size = 0;
          for (const step of steps) {
            size += step;
            if (size > ledger.size) await grow(ledger, size);
            await written.write(checkpoint(ledger, size));
            expect(await verify(out(name))).to.deep.include({
              size,
              root: ledger.tree.root(size),
              trusted: true,
            });
          }
          for (const file of files(out(name)).filter((one) => one !== "checkpoint")) {
            const tile = parseTilePath(file.slice("tile/".length));
            expect(tile, file).to.not.equal(undefined);
            expect(
              readFileSync(path.join(out(name), file)).equals((await readTile(ledger, tile!))!),
              file,
            ).to.equal(true);
          }
        },
      ),
      { numRuns: 7, seed: 26, examples: [[[256, 0, 1]], [[255, 1, 256]], [[0]], [[700]]] },
    );
  });

  it("keeps partial tiles only until they become full", async () => {
    const ledger = await openLedger();
    const written = log(ledger);
    for (const size of [1, 200, 255, 256, 257, 300]) {
      await grow(ledger, size);
      await written.write(checkpoint(ledger));
    }
    expect(files().sort()).to.deep.equal(
      [
        "checkpoint",
        "tile/0/000",
        "tile/0/001.p/1",
        "tile/0/001.p/44",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/1",
        "tile/entries/001.p/44",
      ].sort(),
    );
  });

  it("is complete for its checkpoint after an interrupted write, and continues", async () => {
    const ledger = await openLedger();
    await grow(ledger, 250);
    await log(ledger).write(checkpoint(ledger));
    await grow(ledger, 600);
    for (let after = 0; after < 7; after++) {
      let reads = 0;
      const cut = new Proxy(ledger, {
        get(target, name) {
          const value = Reflect.get(target, name, target);
          // Every tile of hashes reads `tree`, and every bundle of entries reads `segment`.
          if (name !== "segment" && name !== "tree")
            return typeof value === "function" ? value.bind(target) : value;
          if (reads++ >= after + 1) throw new Error("the power is gone");
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      await refusal(log(cut).write(checkpoint(ledger, 600)));
      expect((await verify()).size).to.equal(250);
    }
    await log(ledger).write(checkpoint(ledger, 600));
    expect((await verify()).size).to.equal(600);
  });

  it("is not changed by an older checkpoint, and accepts one of the same size with more signatures", async () => {
    const ledger = await openLedger();
    await grow(ledger, 9);
    const written = log(ledger);
    await written.write(checkpoint(ledger));
    await written.write(checkpoint(ledger, 4));
    expect((await verify()).size).to.equal(9);
    const more = checkpoint(ledger);
    const text = more.note.slice(0, more.note.indexOf("\n\n") + 1);
    const signatures = [signNote(text, ORIGIN, SEED), signNote(text, "other", new Uint8Array(32).fill(4))];
    await written.write({ size: 9, note: formatSignedNote({ text, signatures }) });
    expect(readFileSync(path.join(out(), "checkpoint"), "utf8")).to.match(/— other /);
  });

  it("keeps its witnesses' signatures when its service starts again, and accepts their newer signatures", async () => {
    const ledger = await openLedger();
    await grow(ledger, 9);
    const own = checkpoint(ledger);
    const text = own.note.slice(0, own.note.indexOf("\n\n") + 1);
    const at = path.join(out(), "checkpoint");
    const by = (name: string, seed: number) => signNote(text, name, new Uint8Array(32).fill(seed));
    const ours = signNote(text, ORIGIN, SEED);
    const note = (...signatures: ReturnType<typeof by>[]) => formatSignedNote({ text, signatures });
    await log(ledger).write({ size: 9, note: note(ours, by("one", 4), by("two", 5)) });
    const before = readFileSync(at, "utf8");
    // The next process has no signatures of witnesses yet.
    const again = log(ledger);
    await again.write(own);
    expect(readFileSync(at, "utf8")).to.equal(before);
    const newer = { ...by("two", 5), signature: new Uint8Array(72).fill(1) };
    await again.write({ size: 9, note: note(ours, newer, by("three", 6)) });
    expect(readFileSync(at, "utf8")).to.equal(note(ours, newer, by("three", 6), by("one", 4)));
    await grow(ledger, 10);
    await again.write(checkpoint(ledger));
    expect(readFileSync(at, "utf8")).to.equal(checkpoint(ledger).note);
  });

  for (const [what, make] of [
    ["more of the ledger", async (other: DiskLedger) => grow(other, 30)],
    ["other entries", async (other: DiskLedger) => grow(other, 5, "another")],
  ] as const) {
    it(`refuses a folder that has ${what}, and changes nothing there`, async () => {
      const other = await openLedger("other");
      await make(other);
      await log(other).write(checkpoint(other));
      const before = readFileSync(path.join(out(), "checkpoint"), "utf8");
      const ledger = await openLedger();
      await grow(ledger, 20);
      expect(await refusal(log(ledger).write(checkpoint(ledger)))).to.include({
        code: "static_log_contradicts",
      });
      expect(readFileSync(path.join(out(), "checkpoint"), "utf8")).to.equal(before);
    });
  }

  for (const [what, text] of [
    ["something else", "hello"],
    ["nothing", ""],
    ["another log's checkpoint", undefined],
  ] as const) {
    it(`refuses a folder whose checkpoint is ${what}`, async () => {
      const ledger = await openLedger();
      await grow(ledger, 3);
      mkdirSync(out());
      writeFileSync(path.join(out(), "checkpoint"), text ?? checkpoint(ledger, 3, "elsewhere.test").note);
      expect(await refusal(log(ledger).write(checkpoint(ledger)))).to.include({
        code: "static_log_contradicts",
      });
    });
  }

  describe("when it is verified", () => {
    beforeEach(async () => {
      const ledger = await openLedger();
      await grow(ledger, 520);
      await log(ledger).write(checkpoint(ledger));
    });

    const bundle = (name: string) => path.join(out(), "tile/entries", name);

    it("has the same result by its address and by its folder", async () => {
      const served = createServer((request, response) => {
        const file = path.join(out(), request.url ?? "");
        if (!existsSync(file)) response.writeHead(404).end();
        else response.end(readFileSync(file));
      });
      await new Promise<void>((resolve) => served.listen(0, "127.0.0.1", resolve));
      const { port } = served.address() as { port: number };
      const byAddress = await verify(`http://127.0.0.1:${port}/`);
      expect(byAddress).to.deep.equal(await verify());
      rmSync(bundle("001"));
      expect(await refusal(verify(`http://127.0.0.1:${port}`))).to.include({ code: "unreadable_log" });
      await new Promise((resolve) => served.close(resolve));
    });

    it("may grow: a partial bundle that is gone is read from the full bundle", async () => {
      const shown = readFileSync(path.join(out(), "checkpoint"));
      const ledger = ledgers[0] as DiskLedger;
      await grow(ledger, 800);
      await log(ledger).write(checkpoint(ledger));
      writeFileSync(path.join(out(), "checkpoint"), shown);
      expect((await verify()).size).to.equal(520);
    });

    for (const [what, change, expected] of [
      ["a byte of an entry is another", (bytes: Buffer) => (bytes[40]! ^= 1), { line: 257 }],
      ["a length says more than there is", (bytes: Buffer) => bytes.writeUInt16BE(65_535), { line: 257 }],
      ["a length says less", (bytes: Buffer) => bytes.writeUInt16BE(10), { line: 257 }],
    ] as const) {
      it(`is refused if ${what}, with the entry`, async () => {
        const bytes = readFileSync(bundle("001"));
        change(bytes);
        writeFileSync(bundle("001"), bytes);
        expect(await refusal(verify())).to.include(expected);
      });
    }

    it("is refused if a bundle is cut off, missing, or from another place", async () => {
      const whole = readFileSync(bundle("001"));
      writeFileSync(bundle("001"), whole.subarray(0, -1));
      expect(await refusal(verify())).to.include({ line: 512 });
      cpSync(bundle("000"), bundle("001"));
      expect(await refusal(verify())).to.include({ line: 257 });
      rmSync(bundle("001"));
      expect(await refusal(verify())).to.include({ code: "unreadable_log" });
    });

    it("is refused with another key, another root, or a larger size", async () => {
      const other = noteVerifierKey(ORIGIN, ed25519.getPublicKey(new Uint8Array(32).fill(9)));
      expect(await refusal(verifyStaticLog({ source: out(), keys: [other] }))).to.include({
        code: "log_invalid",
      });
      const text = formatCheckpoint({ origin: ORIGIN, size: 520, root: new Uint8Array(32) });
      const note = formatSignedNote({ text, signatures: [signNote(text, ORIGIN, SEED)] });
      writeFileSync(path.join(out(), "checkpoint"), note);
      expect((await refusal(verify())).message).to.match(/do not have the checkpoint's root/);
      const more = note.replace("\n520\n", "\n521\n");
      writeFileSync(path.join(out(), "checkpoint"), more);
      expect(await refusal(verifyStaticLog({ source: out() }))).to.include({ code: "unreadable_log" });
    });
  });

  it("is written by a settlement service next to its ledger, and stops a service whose copy of the ledger is older", async () => {
    const settings = { STATIC_LOG_DIR: out() };
    const service = await openTestService(path.join(folder.path, "service"), settings);
    const { json: latest } = await service.get("/v1/ledger/latest");
    const body = {
      header: { task_id: "a", parent_hash: latest.hash },
      payload: { data_update: { a: 1 }, confidence_score: 0.9 },
    };
    expect((await service.post("/v1/settle", body, { authorization: "Bearer test-key" })).status).to.equal(
      200,
    );
    await until(() => existsSync(path.join(out("static/local"), "tile/entries/000.p/1")));
    const vkey = (await service.get("/v1/ledger/key")).text.trim();
    await service.close();
    expect((await verifyStaticLog({ source: out("static/local") })).size).to.equal(1);
    expect(vkey).to.match(/^tallystick\.local\/ledger/);

    const older = await openTestService(path.join(folder.path, "older"), settings);
    expect((await older.post("/v1/settle", body, { authorization: "Bearer test-key" })).json).to.include({
      code: "static_log_contradicts",
    });
    const health = await older.get("/health");
    expect(health.status).to.equal(503);
    expect(health.text).not.to.contain(folder.path);
    await older.close();
  });
});

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error("it has not come to that");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
