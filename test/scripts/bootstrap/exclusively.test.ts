import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/**
 * Works for a moment, and notes when it begins and ends. Removing a file takes a while here, so other
 * processes can act in between.
 */
const WORKER = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
const { rmSync } = fs;
fs.rmSync = (...args) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 120);
  rmSync(...args);
};
syncBuiltinESMExports();
const { exclusively } = await import("./checkout.mjs");
await exclusively(async () => {
  fs.appendFileSync(process.argv[2], "begin\\n");
  await sleep(15);
  fs.appendFileSync(process.argv[2], "end\\n");
});
`;

describe("the lock of a checkout's first run", () => {
  let folder: string;
  let bootstrap: string;
  let lock: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-checkout-"));
    bootstrap = path.join(folder, "scripts/bootstrap");
    mkdirSync(bootstrap, { recursive: true });
    for (const name of ["checkout.mjs", "say.mjs"])
      cpSync(path.join(repositoryRoot, "scripts/bootstrap", name), path.join(bootstrap, name));
    writeFileSync(path.join(bootstrap, "worker.mjs"), WORKER);
    mkdirSync(path.join(folder, ".tallystick"));
    lock = path.join(folder, ".tallystick/install.lock");
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("lets one process work at a time, also if all of them find the lock of a process that has ended", async () => {
    const notes = path.join(folder, "notes");
    const gone = spawn(process.execPath, ["-e", ""]);
    await once(gone, "close");
    writeFileSync(lock, String(gone.pid));
    const workers = Array.from({ length: 10 }, () =>
      spawn(process.execPath, [path.join(bootstrap, "worker.mjs"), notes], { stdio: "ignore" }),
    );
    const codes = await Promise.all(workers.map((it) => once(it, "close").then(([code]) => code)));
    expect(codes).to.deep.equal(workers.map(() => 0));
    expect(readFileSync(notes, "utf8")).to.equal("begin\nend\n".repeat(workers.length));
    expect(existsSync(lock)).to.equal(false);
  });

  it("names the process for which it waits as soon as the lock has its number", async () => {
    writeFileSync(lock, "");
    // An empty lock is abandoned when it is some seconds old. On a slow machine this one must not become so old.
    const later = new Date(Date.now() + 600_000);
    utimesSync(lock, later, later);
    const worker = spawn(process.execPath, [path.join(bootstrap, "worker.mjs"), path.join(folder, "later")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const closed = once(worker, "close");
    const told: string[] = [];
    worker.stderr.setEncoding("utf8").on("data", (text) => told.push(text));
    // Longer than the worker needs to start and to find the empty lock.
    await sleep(1_000);
    writeFileSync(lock, String(process.pid));
    while (told.length === 0) await sleep(50);
    rmSync(lock);
    await closed;
    expect(told.join("")).to.match(new RegExp(`^[^\n]*process ${process.pid}\\)[^\n]*\n$`));
  });
});
