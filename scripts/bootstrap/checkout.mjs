import * as fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { say } from "./say.mjs";

/** The folder of this checkout. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
/** The private folder of this checkout. Git ignores it. */
export const stateDir = path.join(root, ".tallystick");

/** A file that has no content after this time was left by a process that ended. */
const UNFINISHED_MS = 5_000;

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
 * Runs `work` while no other process of this clone runs such work. So two processes that find nothing installed do not
 * install at the same time. The lock is a file with the owner's pid. A lock without a living owner is taken over.
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
    const owner = ownerOf(lock);
    if (owner === undefined) {
      removeAbandoned(lock);
      await sleep(20);
      continue;
    }
    // The owner's number is 0 for the moment until it is written.
    if (!told && owner > 0) {
      say(`waiting for another run (process ${owner}) that installs or compiles`);
      told = true;
    }
    await sleep(300);
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

/**
 * Removes a lock without a living owner. Only one process at a time does this. Otherwise two processes could see the same dead
 * owner, and the slower one would remove the lock that the faster one has just taken.
 *
 * @param {string} lock
 */
function removeAbandoned(lock) {
  const turn = `${lock}.turn`;
  try {
    fs.writeFileSync(turn, String(process.pid), { flag: "wx" });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    // A process needs the turn for a moment only. An old file is from a process that ended during its turn.
    if (ageOf(turn) > UNFINISHED_MS) fs.rmSync(turn, { force: true });
    return;
  }
  if (ownerOf(lock) === undefined) fs.rmSync(lock, { force: true });
  fs.rmSync(turn, { force: true });
}

/**
 * The living process that has a lock; 0 while it writes its number; undefined when there is none.
 *
 * @param {string} lock
 */
function ownerOf(lock) {
  const owner = Number(readText(lock));
  if (owner > 0) return isAlive(owner) ? owner : undefined;
  return ageOf(lock) > UNFINISHED_MS ? undefined : 0;
}

/** @param {string} file */
function ageOf(file) {
  return Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
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
