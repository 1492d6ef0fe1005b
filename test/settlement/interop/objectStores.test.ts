import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { AwsClient } from "aws4fetch";
import { expect } from "chai";
import { freePort } from "../../../scripts/processes/freePort.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { openBucket } from "../../../services/settlement/objectStore/bucket.ts";
import { BucketCopy } from "../../../services/settlement/objectStore/bucketCopy.ts";
import { folderSource } from "../../../services/settlement/staticLog/logSource.ts";
import { StaticLog } from "../../../services/settlement/staticLog/staticLog.ts";
import { CREDENTIALS } from "../../support/objectStore.ts";
import { grow, noteOf, ORIGIN, openLedger } from "../mirror/support.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** Installs two servers of other projects into a separate folder: some 200 MB, by pip (moto) and npm (fauxqs). */
const RUNS = process.env.S3_INTEROP === "1";

/** In this region, the request that makes a bucket does not have to name the region again. */
const SIGNED = { ...CREDENTIALS, region: "us-east-1" };

if (RUNS) {
  describe("S3-compatible servers of other projects", function () {
    this.timeout(600_000);
    const temporary = temporaryFolder();
    const children: ChildProcess[] = [];
    let installed: string;

    before(() => {
      installed = mkdtempSync(path.join(tmpdir(), "tallystick-s3-"));
    });
    after(() => rmSync(installed, { recursive: true, force: true }));
    afterEach(async () => {
      for (const child of children.splice(0)) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    });

    /** A Python that has moto. If python3 has none, this makes a separate environment and installs moto there. */
    function pythonWithMoto(): string {
      try {
        execFileSync("python3", ["-c", "import moto.server"], { stdio: "ignore" });
        return "python3";
      } catch {
        const python = path.join(installed, "moto", "bin", "python");
        execFileSync("python3", ["-m", "venv", path.join(installed, "moto")]);
        execFileSync(python, ["-m", "pip", "-q", "install", "moto[s3,server]==5.2.1"]);
        return python;
      }
    }

    /** Starts a server and makes a bucket in it. */
    async function bucketOf(
      command: string,
      args: (port: string) => string[],
      setting = "PORT",
    ): Promise<string> {
      const port = String(await freePort());
      const child = spawn(command, args(port), {
        stdio: "ignore",
        env: { PATH: process.env.PATH, [setting]: port },
      });
      children.push(child);
      const url = `http://127.0.0.1:${port}/bucket`;
      const client = new AwsClient({ ...SIGNED, service: "s3", retries: 0 });
      await waitUntil(async () => (await client.fetch(url, { method: "PUT" }).catch(() => undefined))?.ok, {
        what: "a server that has a bucket",
        withinMs: 120_000,
        everyMs: 200,
      });
      return `${url}/log`;
    }

    it("store a log if they honour conditions (moto)", async () => {
      const python = pythonWithMoto();
      const url = await bucketOf(python, (port) => ["-m", "moto.server", "-H", "127.0.0.1", "-p", port]);
      const bucket = await openBucket({ config: { ...SIGNED, url } });
      const ledger = await openLedger(temporary.path, 300);
      const folder = path.join(temporary.path, "log");
      const said: unknown[] = [];
      const copy = new BucketCopy({ from: folderSource(folder), bucket, log: (...all) => said.push(all) });
      for (const size of [300, 700]) {
        await grow(ledger, size);
        await new StaticLog({ folder, origin: ORIGIN, ledger }).write({ size, note: noteOf(ledger) });
        expect(await copy.round(), JSON.stringify(said)).to.equal(true);
        expect(copy.state.size).to.equal(size);
      }
      // The copy writes nothing where another log is.
      const other = await openLedger(temporary.path, 800, "another");
      const theirs = path.join(temporary.path, "theirs");
      await new StaticLog({ folder: theirs, origin: ORIGIN, ledger: other }).write({
        size: 800,
        note: noteOf(other),
      });
      const foreign = new BucketCopy({ from: folderSource(theirs), bucket, log: () => {} });
      expect(await foreign.round()).to.equal(false);
      expect(foreign.state).to.include({ code: "bucket_contradicts" });
      await ledger.close();
      await other.close();
    });

    it("are refused if they answer 200 and overwrite (fauxqs)", async () => {
      execFileSync("npm", [
        "install",
        "--silent",
        "--prefix",
        path.join(installed, "fauxqs"),
        "fauxqs@2.4.1",
      ]);
      const program = path.join(installed, "fauxqs", "node_modules/fauxqs/dist/server.js");
      const url = await bucketOf(process.execPath, () => [program], "FAUXQS_PORT");
      const refused = await openBucket({ config: { ...SIGNED, url } }).catch((error) => error);
      expect(refused).to.include({ code: "bucket_unsafe" });
    });
  });
}
