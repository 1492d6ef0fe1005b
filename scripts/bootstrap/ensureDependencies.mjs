import { createHash } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";
import { exclusively, readJson, readText, root } from "./checkout.mjs";
import { npm } from "./npm.mjs";
import { BootstrapError, say } from "./say.mjs";

const stampFile = path.join(root, "node_modules", ".tallystick-install");

/**
 * The packages that package-lock.json requires on this machine, and that node_modules lacks. Optional packages
 * count if they name this machine's os or cpu, because npm under Node 20 silently leaves out Hardhat's native
 * part.
 *
 * @param {{ packages: Record<string, any> }} lock package-lock.json
 * @param {{ packages: Record<string, any> } | undefined} installed node_modules/.package-lock.json, npm's own
 * record
 * @param {{ os: string, cpu: string, libc: string | undefined }} machine
 * @returns {string[]} paths such as "node_modules/viem"
 */
export function missingPackages(lock, installed, machine) {
  const fits = (/** @type {string[] | undefined} */ list, /** @type {string | undefined} */ own) =>
    !list ||
    !own ||
    (!list.includes(`!${own}`) && (list.includes(own) || list.every((item) => item.startsWith("!"))));
  const missing = [];
  for (const [where, wanted] of Object.entries(lock.packages)) {
    if (where === "" || wanted.link) continue;
    const platformBound = wanted.os !== undefined || wanted.cpu !== undefined;
    const ours =
      fits(wanted.os, machine.os) && fits(wanted.cpu, machine.cpu) && fits(wanted.libc, machine.libc);
    if (wanted.optional && !(platformBound && ours)) continue;
    const have = installed?.packages[where];
    if (!have || have.version !== wanted.version || have.integrity !== wanted.integrity) missing.push(where);
  }
  return missing;
}

/**
 * Installs the packages of package-lock.json under `node`. Does nothing if they are there already.
 *
 * @param {string} node
 */
export async function ensureDependencies(node) {
  const lockFile = path.join(root, "package-lock.json");
  const text = readText(lockFile);
  if (!text)
    throw new BootstrapError(
      "package-lock.json is missing.",
      "Restore it: `git checkout package-lock.json`.",
    );
  const stamp = `${createHash("sha256").update(text).digest("hex")} ${process.platform} ${process.arch}\n`;
  if (readText(stampFile) === stamp) return;

  await exclusively(async () => {
    if (readText(stampFile) === stamp) return;
    const installed = readJson(path.join(root, "node_modules", ".package-lock.json"));
    const machine = { os: process.platform, cpu: process.arch, libc: libc() };
    const missing = missingPackages(JSON.parse(text), installed, machine);
    if (missing.length > 0) {
      const why = installed
        ? `${missing.length} packages differ from package-lock.json`
        : "nothing is installed yet";
      say(`installing dependencies (${why}); the first time takes about a minute`);
      const options = ["--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
      await npm(node, ["ci", ...options], root);
    }
    fs.writeFileSync(stampFile, stamp);
  });
}

/** The C library, as package-lock.json names it; undefined on systems other than Linux. */
function libc() {
  if (process.platform !== "linux") return undefined;
  const report = /** @type {any} */ (process.report);
  report.excludeNetwork = true;
  return report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
}
