import { Command, CommanderError } from "commander";
import { commands } from "./cli/commands.ts";
import { watchLifeline } from "./cli/lifeline.ts";
import { loadEnvFile } from "./cli/loadEnvFile.ts";
import { printError } from "./cli/printError.ts";

/** The exit code for wrong usage, as in most Unix tools. */
const USAGE = 2;

/**
 * The `tallystick` program. It loads only the module of the requested command. The help shows the other
 * commands by their one-line summaries.
 *
 * @param argv the arguments after the program's name
 * @returns the exit code: 0 done, 1 failed or "no", 2 called wrongly
 */
export async function runCli(argv: string[]): Promise<number> {
  const program = new Command("tallystick")
    .description("Escrow, an anchored ledger, and reputation that anyone can compute again.")
    .usage("<command> [options]")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show the help of a command")
    .showHelpAfterError("(add --help to see what it takes)")
    .exitOverride()
    .addHelpText("after", "\nIn a checkout: npm run -s tallystick -- <command> [options]");

  const words = argv.filter((word) => !word.startsWith("-"));
  const wanted = words[0] === "help" ? words[1] : words[0];
  for (const entry of commands) {
    if (entry.name !== wanted) {
      program.command(entry.name, { hidden: entry.hidden ?? false }).description(entry.summary);
      continue;
    }
    const { settings = [] } = entry;
    loadEnvFile(typeof settings === "function" ? await settings(words.slice(1)) : settings);
    const register = await entry.load();
    register(program);
  }
  for (const command of program.commands) command.exitOverride().showHelpAfterError(true);

  try {
    if (argv.length === 0) program.help();
    await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    printError(error);
    return 1;
  }
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  watchLifeline();
  // `tallystick … | head` closes our output early. That is not an error, but a check that failed has still failed.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? Number(process.exitCode ?? 0) : 1);
  });
  process.exitCode = await runCli(process.argv.slice(2));
}
