import type { Command } from "commander";
import { runAllTests } from "../test.ts";

/** `tallystick test`: what `npm test` runs. */
export function registerTest(program: Command): void {
  program
    .command("test", { hidden: true })
    .description("Check and test this repository: lint, build, types, Solidity tests, TypeScript tests.")
    .argument("[files...]", "run only these TypeScript test files (or globs)")
    .option("-g, --grep <text>", "run only the TypeScript tests whose name contains the text")
    .action(async (files: string[], options: { grep?: string }) => {
      process.exitCode = await runAllTests({ files, ...options });
    });
}
