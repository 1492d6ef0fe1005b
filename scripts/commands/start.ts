import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import type { Command } from "commander";
import { TallystickError } from "../../protocol/errors.ts";
import { readDeployment } from "../deploy/deployment.ts";
import { repositoryRoot } from "../repositoryRoot.ts";

/** `tallystick start`: a node on a real network. */
export function registerStart(program: Command): void {
  program
    .command("start")
    .description(
      "Run settlement and indexer with the settings of .env, until Ctrl-C.\n" +
        "Refuses to start, with one list, when settings are missing or what they name is not there.",
    )
    .option("--env-file <file>", "the settings; default .env in the checkout")
    .option("--print", "print the settings that .env leaves out, in its format, and start nothing")
    .option("--logs <folder>", "where the logs go", path.join(repositoryRoot, ".tallystick", "logs"))
    .action(async (options: { envFile?: string; print?: boolean; logs: string }) => {
      const { nodeEnvironment } = await import("../start/nodeEnvironment.ts");
      const { runNode } = await import("../start/runNode.ts");
      const node = await nodeEnvironment(settings(options.envFile), (chainId) =>
        readDeployment(path.join(repositoryRoot, "contracts", "deployments", `${chainId}.json`)),
      );
      if (options.print) {
        for (const [name, value] of Object.entries(node.completed))
          process.stdout.write(`${name}=${value}\n`);
        return;
      }
      process.exitCode = await runNode(node, { logs: path.resolve(options.logs) });
    });
}

/** The settings of a file; what the shell has set wins. */
function settings(envFile: string | undefined): { [name: string]: string | undefined } {
  const file = envFile ?? path.join(repositoryRoot, ".env");
  if (!existsSync(file)) {
    if (envFile === undefined) return process.env;
    throw new TallystickError({ code: "no_such_file", message: `There is no file ${file}.` });
  }
  return { ...parseEnv(readFileSync(file, "utf8")), ...process.env };
}
