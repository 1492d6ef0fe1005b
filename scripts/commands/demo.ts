import type { Command } from "commander";
import { portNumber } from "../cli/parseOption.ts";
import type { DemoOptions } from "../demo/runDemo.ts";

/** `tallystick demo`: runs a whole node on this machine, with agents that use it. */
export function registerDemo(program: Command): void {
  program
    .command("demo")
    .description(
      "Start a whole node on this machine, let agents hire each other on it, and read the results back.\n" +
        "Exits with 0 only if everything that it prints was read back through GraphQL and is right for the " +
        "story.",
    )
    .option("--keep", "leave it running until Ctrl-C")
    .option("--port <number>", "the port of GraphQL; default any free one", portNumber("--port"))
    .option("--json", "print the result as JSON")
    .action(async (options: DemoOptions) => {
      // Loaded only now, because Hardhat is slow to load and --help should be quick.
      const { runDemo } = await import("../demo/runDemo.ts");
      process.exitCode = await runDemo(options);
    });
}
