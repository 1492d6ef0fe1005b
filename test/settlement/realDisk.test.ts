import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { fileHash } from "tallystick-protocol/erc8004/jsonFile";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { noticeSubscriptionId } from "tallystick-protocol/notices/noticeSubscription";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { FileStore } from "../../services/settlement/erc8004/fileStore.ts";
import { NoticeStore } from "../../services/settlement/notices/noticeStore.ts";
import { propose, type RunningSettlement, settlementProcesses, stop } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

const isRoot = process.platform === "linux" && process.getuid?.() === 0;

/** Whether this machine lets us mount a small file system of our own. */
const canMount =
  isRoot && spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

describe("the settlement process on a real disk", () => {
  const mounted: string[] = [];
  // This hook comes before that of the folder, so the folder is removed after it is unmounted.
  afterEach(() => {
    for (const at of mounted.splice(0)) spawnSync("umount", ["--lazy", at]);
  });
  const folder = temporaryFolder();
  const { start, fail } = settlementProcesses(() => ({ LEDGER_DIR: path.join(folder.path, "disk") }));

  /** Settles until the disk refuses, and returns the hashes of the settled entries. */
  async function fill({ url, file }: RunningSettlement): Promise<string[]> {
    const hashes: string[] = [];
    for (;;) {
      const answer = await propose(url, `task-${hashes.length}`);
      if (answer.hash === undefined) {
        expect(answer).to.deep.equal({ status: 503, code: "ledger_unavailable" });
        await expectExactly(file, hashes);
        return hashes;
      }
      hashes.push(answer.hash);
      expect(hashes.length, "the disk never fills").to.be.below(500);
    }
  }

  /** The file has these entries and not a byte more. */
  async function expectExactly(file: string, hashes: string[]): Promise<void> {
    const verified = await verifyLedgerFile(file);
    if (verified instanceof LedgerLineError) throw verified;
    const lines = readFileSync(file, "latin1").split("\n").slice(0, -1);
    expect(lines.map((line) => JSON.parse(line).current_hash)).to.deep.equal(hashes);
    expect(verified.size).to.equal(hashes.length);
  }

  async function expectReads({ url }: RunningSettlement, hashes: string[]): Promise<void> {
    const latest = (await (await fetch(`${url}/v1/ledger/latest`)).json()) as { size: number; hash: string };
    expect(latest).to.include({ size: hashes.length, hash: hashes.at(-1) });
    const verified = (await (await fetch(`${url}/v1/ledger/verify`)).json()) as object;
    expect(verified).to.include({ valid: true, size: hashes.length });
  }

  if (process.platform !== "win32") {
    it("answers 503 when its file may not grow, leaves nothing half-written, and continues when its file may grow again", async () => {
      // The shell counts in blocks of 512 or 1,024 bytes; with both sizes the index has room, and the ledger has room
      // for some hundred entries.
      const service = await start(["sh", "-c", 'ulimit -f 500 && exec "$0" "$@"']);
      const hashes = await fill(service);
      expect(hashes).to.have.length.above(5);
      expect(await propose(service.url, "once more")).to.deep.equal({
        status: 503,
        code: "ledger_unavailable",
      });
      await expectExactly(service.file, hashes);
      await expectReads(service, hashes);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).to.match(/^tallystick_refused_writes_total [1-9]/m);
      expect(await stop(service.child, "SIGTERM")).to.equal(0);

      const next = await start();
      expect([next.size, next.stderr()]).to.deep.equal([hashes.length, ""]);
      hashes.push((await propose(next.url, "more")).hash as string);
      await expectExactly(next.file, hashes);
    });

    it("does not start in a folder that it cannot write, and explains it in a sentence", async () => {
      const disk = path.join(folder.path, "disk");
      mkdirSync(disk);
      if (canMount) mount(disk, "ro,size=1m");
      else if (isRoot) writeFileSync(path.join(disk, "local"), "");
      else chmodSync(disk, 0o555);
      const { code, err } = await fail();
      expect(code).to.equal(1);
      expect(err).to.match(
        /^error: The ledger's folder cannot be written: E[A-Z]+: .*\nhint: Check its permissions/,
      );
    });
  }

  function mount(at: string, options: string): void {
    const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", at], {
      encoding: "utf8",
    });
    expect(status, stderr).to.equal(0);
    mounted.push(at);
  }

  if (canMount) {
    it("answers 503 while a real disk is full, and settles again as soon as there is space", async () => {
      const disk = path.join(folder.path, "disk");
      mkdirSync(disk);
      mount(disk, "size=1m");
      const ballast = path.join(disk, "ballast");
      writeFileSync(ballast, Buffer.alloc(160 * 1024));
      const service = await start();
      const hashes = await fill(service);
      await expectReads(service, hashes);
      // Sends many proposals at once, while there is no room for any of them.
      const burst = await Promise.all(
        Array.from({ length: 10 }, (_, i) => propose(service.url, `burst-${i}`)),
      );
      expect(burst.filter(({ hash }) => hash !== undefined)).to.deep.equal([]);
      await expectExactly(service.file, hashes);

      rmSync(ballast);
      for (let i = 0; i < 3; i++) hashes.push((await propose(service.url, `again-${i}`)).hash as string);
      await expectExactly(service.file, hashes);
      await expectReads(service, hashes);
      await stop(service.child, "SIGKILL");
      const next = await start();
      expect([next.size, next.stderr()]).to.deep.equal([hashes.length, ""]);
      await stop(next.child, "SIGTERM");
    });

    it("refuses files and subscriptions with 503 while a real disk is full, and stores them as soon as there is space", () => {
      const disk = path.join(folder.path, "disk");
      mkdirSync(disk);
      mount(disk, "size=1m");
      const by = `0x${"11".repeat(20)}` as const;
      const files = new FileStore(disk);
      const notices = new NoticeStore(disk);
      const subscribe = (n: number) => {
        const word = {
          buyer: by,
          url: `https://h${n}.example/${"x".repeat(1_000)}`,
          agents: [by],
          issued_at: n,
        };
        return notices.keep(noticeSubscriptionId(word), word, n);
      };
      const keepFile = (text: string) =>
        files.keep({ text, hash: fileHash(text) }, "feedback", fileHash(text), by);
      const first = subscribe(1);
      keepFile("first");
      const ballast = path.join(disk, "ballast");
      expect(() => writeFileSync(ballast, Buffer.alloc(2 ** 20))).to.throw("ENOSPC");
      for (const work of [
        () => keepFile("x".repeat(20_000)),
        () => {
          for (let n = 2; n < 9; n++) subscribe(n);
        },
        () => {
          for (let n = 0; n < 100; n++) notices.confirm([first]);
        },
      ])
        expect(work).to.throw("refuses writes").with.property("code", "disk_unavailable");
      expect([files.find(fileHash("x".repeat(20_000))), files.find(fileHash("first"))]).to.deep.equal([
        undefined,
        "first",
      ]);

      rmSync(ballast);
      expect(keepFile("x".repeat(20_000))).to.equal(true);
      notices.confirm([first]);
      subscribe(9);
      expect(notices.list("", 10, 9).find(({ id }) => id === first.id)?.isConfirmed).to.equal(true);
      files.close();
      notices.close();
    });
  }
});
