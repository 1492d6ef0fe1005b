import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { auditedHire, shows, useAuditScene } from "./auditScene.ts";
import type { AuditorTask } from "./support/auditorProcess.ts";

const PROCESS = nodeProgram("test/sdk/audits/support/auditorProcess.ts");

describe("the process of an auditor", function () {
  // The test starts four processes, one after the other.
  this.timeout(600_000);
  const { scene, ledger } = useAuditScene();

  it("signs one verdict, even if it is killed after it gets the work, before it sends the verdict, and after that", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tallystick-auditor-"));
    const hire = await auditedHire();
    const { clock, text, hold, verdicts } = scene();
    const holder = await hold(hire.seller.address, shows(hire.disclosure));
    ledger().follow(clock.now);
    const server = serve({ fetch: ledger().app.fetch, hostname: "127.0.0.1", port: 0 }) as Server;
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      let detail = 0;
      const run = (killAt: AuditorTask["killAt"]) =>
        runProcess({
          ...{ privateKey: hire.auditor.privateKey, folder, baseUrl, origin: holder.origin, killAt },
          ...{ assignment: hire.assignment, now: clock.now * 1000, detail: `words ${++detail}` },
        });

      expect(await run({ path: "/audits/", when: "after" })).to.equal("SIGKILL");
      expect(await run({ path: "/v1/records", when: "before" })).to.equal("SIGKILL");
      expect(verdicts()).to.deep.equal([]);
      expect(await run({ path: "/v1/records", when: "after" })).to.equal("SIGKILL");
      expect(await run(null)).to.equal(0);

      // The second process stored its verdict. Every later process sent the same verdict. The ledger has it once.
      expect(verdicts().map(({ body }) => body.reasons[0].detail)).to.deep.equal(["words 2"]);
      expect(readdirSync(path.join(folder, "bytes")).length, "the shown work is deleted").to.equal(0);
      expect(text()).not.to.match(/library|biblioteca/);
    } finally {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Runs an auditor's process to its end. Gives its exit code, or the signal that ended it. */
async function runProcess(task: AuditorTask): Promise<number | string | null> {
  const child = spawn(process.execPath, PROCESS, {
    env: { ...process.env, AUDITOR_TASK: JSON.stringify(task) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (words) => {
    said += words;
  });
  const ended = await new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => resolve(signal ?? code));
  });
  if (ended === 1) throw new Error(said);
  return ended;
}
