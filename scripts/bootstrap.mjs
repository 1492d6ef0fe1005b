#!/usr/bin/env node
// The start of `npm run demo`, `npm test` and `npm run tallystick`, in a fresh clone and under any Node from
// 18 on. It finds a Node that can run this repository, or gets one from npm. It installs the dependencies
// under that Node if they differ from package-lock.json. Then it runs scripts/cli.ts. It is plain JavaScript
// without dependencies, because nothing is installed yet when it runs. It prints only to stderr, because
// stdout belongs to the command.

import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./bootstrap/checkout.mjs";
import { ensureContracts, NEED_CONTRACTS } from "./bootstrap/ensureContracts.mjs";
import { ensureDependencies } from "./bootstrap/ensureDependencies.mjs";
import { ensurePortal, NEED_PORTAL } from "./bootstrap/ensurePortal.mjs";
import { findNode } from "./bootstrap/findNode.mjs";
import { run, withNodeFirst } from "./bootstrap/run.mjs";
import { BootstrapError, say } from "./bootstrap/say.mjs";

/** @param {string[]} args */
async function main(args) {
  const node = await findNode();
  await ensureDependencies(node);
  if (NEED_CONTRACTS.includes(args[0] ?? "") && !args.includes("--help")) await ensureContracts(node);
  if (NEED_PORTAL.includes(args[0] ?? "") && !args.includes("--help")) await ensurePortal(node);
  const readTypeScript = pathToFileURL(path.join(root, "scripts", "processes", "readTypeScript.mjs")).href;
  const env = withNodeFirst(node);
  env.TALLYSTICK_LIFELINE = "3";
  // The folder keeps compiled code and the places of modules (scripts/processes/rememberModules.mjs) for later starts.
  env.NODE_COMPILE_CACHE ??= path.join(root, "node_modules", ".cache", "tallystick-compiled");
  env.TSX_TSCONFIG_PATH = path.join(root, "tsconfig.json");
  return await run(node, ["--import", readTypeScript, path.join(root, "scripts", "cli.ts"), ...args], {
    // npm runs scripts in the package's folder, but a FILE argument is relative to the user's folder.
    cwd: process.env.npm_lifecycle_event && process.env.INIT_CWD ? process.env.INIT_CWD : process.cwd(),
    env,
    stdio: ["inherit", "inherit", "inherit", "pipe"],
  });
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    say(
      error instanceof BootstrapError ? `${error.message}\n  ${error.hint}` : String(error?.stack ?? error),
    );
    process.exit(1);
  },
);
