import { createHash } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";
import { exclusively, readText, root } from "./checkout.mjs";
import { runQuietly, withNodeFirst } from "./run.mjs";
import { BootstrapError, say } from "./say.mjs";

/** The commands that serve a node's pages. */
export const NEED_PORTAL = ["demo", "start", "indexer", "replica", "upgrade", "dev", "check-portal"];

/** The sources of the portal, without npm packages. */
const SOURCES = ["portal", "packages/protocol", "packages/derive", "packages/sdk"];

/** Builds the portal when its sources, its packages or the dependencies changed since the last time.
 * @param {string} node */
export async function ensurePortal(node) {
  const builtFile = path.join(root, "portal", "dist", ".tallystick-build");
  const hash = createHash("sha256");
  for (const name of ["package-lock.json", ...SOURCES.flatMap(filesBelow).sort()])
    hash.update(`${name}\n${readText(path.join(root, name))}\n`);
  const built = `${hash.digest("hex")}\n`;
  if (readText(builtFile) === built) return;
  await exclusively(async () => {
    if (readText(builtFile) === built) return;
    say("building the portal, about 3 seconds");
    const options = { cwd: root, env: withNodeFirst(node), stdio: ["ignore", "pipe", "pipe"] };
    const { code, output } = await runQuietly(node, [path.join(root, "portal", "build.mjs")], options);
    if (code >= 128) process.exit(code); // The user sent a signal, so this is not a failure.
    if (code !== 0)
      throw new BootstrapError(`The portal does not build:\n${output}`, "Fix it: `npm run build:portal`.");
    fs.writeFileSync(builtFile, built);
  });
}

/**
 * All source files below a folder of the checkout, with slashes in their paths.
 *
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(folder) {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ["dist", "node_modules"].includes(entry.name) ? [] : filesBelow(name);
    return /\.(?:tsx?|mjs|css|html|svg|json)$/.test(entry.name) ? [name] : [];
  });
}
