import * as fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "./say.mjs";

/** The folder of this checkout. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
/** The private folder of this checkout. Git ignores it. */
export const stateDir = path.join(root, ".tallystick");

/** @param {string} file */
export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} file */
export function readText(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/**
 * Runs `work` while no other process of this clone runs such work, so that two first runs do not install at
 * the same time. The lock is a file with the owner's pid. A lock without a living owner is taken over.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusively(work) {
  fs.mkdirSync(stateDir, { recursive: true });
  const lock = path.join(stateDir, "install.lock");
  let told = false;
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const owner = Number(readText(lock));
    const age = Date.now() - (fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (owner > 0 ? !isAlive(owner) : age > 5_000) {
      fs.rmSync(lock, { force: true });
      continue;
    }
    if (!told) say(`waiting for another run (process ${owner}) that installs or compiles`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
