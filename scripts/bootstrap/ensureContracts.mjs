import { createHash } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";
import { exclusively, readText, root } from "./checkout.mjs";
import { runQuietly, withNodeFirst } from "./run.mjs";
import { BootstrapError, say } from "./say.mjs";

/**
 * The commands before which the bootstrap compiles contracts, and the contracts that these commands deploy. (`npm test`
 * builds all contracts as one of its steps.)
 */
export const NEED_CONTRACTS = ["demo", "deploy", "bench-index", "soak-index", "check-portal", "prove"];
const DEPLOYED = [
  "contracts/HireEscrow.sol",
  "contracts/AnchoredLedger.sol",
  "contracts/test/TestUSDC.sol",
  "contracts/test/TransferEmitter.sol",
  "contracts/test/exploration/Explorer.sol",
];

/** Compiles the contracts if their sources, the compiler's settings or the dependencies changed since the last time.
 * @param {string} node */
export async function ensureContracts(node) {
  const builtFile = path.join(root, "artifacts", ".tallystick-build");
  const sources = solidityFiles("contracts")
    .filter((name) => !name.startsWith("contracts/test/") || DEPLOYED.includes(name))
    .sort();
  const hash = createHash("sha256");
  for (const file of ["hardhat.config.ts", "package-lock.json", ...sources]) {
    hash.update(`${file}\n${readText(path.join(root, file))}\n`);
  }
  const built = `${hash.digest("hex")}\n`;
  if (readText(builtFile) === built) return;
  await exclusively(async () => {
    if (readText(builtFile) === built) return;
    say("compiling the contracts, about 10 seconds");
    const hardhat = path.join(root, "node_modules", "hardhat", "dist", "src", "cli.js");
    const options = { cwd: root, env: withNodeFirst(node), stdio: ["ignore", "pipe", "pipe"] };
    const { code, output } = await runQuietly(node, [hardhat, "build", ...DEPLOYED], options);
    if (code >= 128) process.exit(code); // The user sent a signal, so this is not a failure.
    if (code !== 0)
      throw new BootstrapError(`The contracts do not compile:\n${output}`, "Fix them: `npm run build`.");
    fs.writeFileSync(builtFile, built);
  });
}

/**
 * All .sol files below a folder of the checkout, with slashes in their paths. (`recursive` is not in every
 * Node 18.)
 *
 * @param {string} folder
 * @returns {string[]}
 */
function solidityFiles(folder) {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return solidityFiles(name);
    return name.endsWith(".sol") ? [name] : [];
  });
}
