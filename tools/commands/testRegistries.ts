import path from "node:path";
import type { Command } from "commander";

/** `npm run test:registries -- FOLDER`: the tests of ERC-8004's registries against the published code. */
export function registerTestRegistries(program: Command): void {
  program
    .command("test-registries", { hidden: true })
    .description("Run the tests of ERC-8004's registries against the published code of the registries.")
    .argument("[folder]", "the published contracts, compiled; docs/erc8004.md says which")
    .action(async (folder: string | undefined) => {
      const { testRegistries } = await import("../registries/testRegistries.ts");
      process.exitCode = await testRegistries(folder === undefined ? undefined : path.resolve(folder));
    });
}
