import * as fs from "node:fs";
import path from "node:path";
import { run, withNodeFirst } from "./run.mjs";
import { BootstrapError } from "./say.mjs";

/**
 * Finds npm's own program, to run it under a Node of our choice. `npm_execpath` names it when npm started us. Otherwise
 * it is next to the running Node, or below a folder of the PATH.
 * @param {Record<string, string | undefined>} env @param {string} execPath
 * @param {(file: string) => boolean} exists
 * @returns {string | undefined}
 */
export function findNpm(env, execPath, exists = fs.existsSync) {
  const candidates = [];
  const named = env.npm_execpath;
  if (named) {
    if (path.basename(named) === "npm-cli.js") candidates.push(named);
    candidates.push(path.join(path.dirname(named), "npm-cli.js"));
  }
  const nodeDir = path.dirname(execPath);
  candidates.push(path.join(nodeDir, "node_modules/npm/bin/npm-cli.js"));
  candidates.push(path.join(nodeDir, "../lib/node_modules/npm/bin/npm-cli.js"));
  candidates.push(path.join(nodeDir, "../share/nodejs/npm/bin/npm-cli.js"));
  for (const dir of (env.PATH ?? "").split(path.delimiter)) {
    if (!dir) continue;
    candidates.push(path.join(dir, "node_modules/npm/bin/npm-cli.js"));
    candidates.push(path.join(dir, "../lib/node_modules/npm/bin/npm-cli.js"));
  }
  return candidates.find((file) => exists(file));
}

/**
 * Runs npm under `node`, with its output on stderr. The settings of the outer `npm run` are not passed on.
 *
 * @param {string} node
 * @param {string[]} args
 * @param {string} cwd
 */
export async function npm(node, args, cwd) {
  const cli = findNpm(process.env, process.execPath);
  if (!cli) {
    throw new BootstrapError(
      "npm was not found.",
      "Install npm (it comes with Node) and run this through `npm run`.",
    );
  }
  const env = withNodeFirst(node);
  for (const name of ["npm_config_global", "npm_config_omit", "npm_config_include", "NODE_ENV"])
    delete env[name];
  const code = await run(node, [cli, ...args], { cwd, env, stdio: ["ignore", 2, 2] });
  if (code >= 128) process.exit(code); // The user sent a signal, so this is not a failure.
  if (code !== 0) {
    throw new BootstrapError(
      `npm ${args[0]} ended with ${code}.`,
      "The lines above say why. The first run needs a network; later runs do not.",
    );
  }
}
