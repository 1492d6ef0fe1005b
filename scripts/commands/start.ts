import path from "node:path";
import type { Command } from "commander";
import { repositoryRoot } from "../repositoryRoot.ts";

type Options = { envFile?: string; print?: boolean; save?: boolean; logs: string };

/** `tallystick start`: a node on a real network. */
export function registerStart(program: Command): void {
  program
    .command("start")
    .description(
      "Run settlement and indexer with the settings of .env, until Ctrl-C.\n" +
        "If settings are missing or wrong, it names each of these settings and starts nothing.",
    )
    .option("--env-file <file>", "the settings; default .env in the checkout")
    .option(
      "--print",
      "print the settings that this command adds to yours, as lines for .env, and start nothing",
    )
    .option("--save", "write the settings that this command adds to yours into .env, and start nothing")
    .option("--logs <folder>", "where the logs go", path.join(repositoryRoot, ".tallystick", "logs"))
    .action(async ({ envFile, print, save, logs }: Options) => {
      const { ENV_FILE, readSettings } = await import("../start/readSettings.ts");
      const { linesOf, saveSettings } = await import("../start/saveSettings.ts");
      const node = await readSettings(envFile, "node");
      if (save) {
        const file = envFile ?? ENV_FILE;
        saveSettings(file, node.completed);
        process.stdout.write(`added ${Object.keys(node.completed).length} settings to ${file}\n`);
      } else if (print) {
        process.stdout.write(linesOf(node.completed));
        if (isBehindBanner()) process.stderr.write(BANNER);
      } else {
        const { openFileNote } = await import("../start/openFileNote.ts");
        const note = openFileNote(envFile ?? ENV_FILE);
        if (note !== undefined) process.stderr.write(`${note}\n`);
        const { runNode } = await import("../start/runNode.ts");
        process.exitCode = await runNode(node, { logs: path.resolve(logs), part: "node" });
      }
    });
}

const BANNER =
  "note: npm has written two lines of its own above these settings; take them out of the file, or use --save\n";

/** Whether npm has written its banner to the file that gets our output. */
function isBehindBanner(): boolean {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env;
  return script !== undefined && level !== "silent" && !process.stdout.isTTY;
}
