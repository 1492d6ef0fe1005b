import type { Command } from "commander";

/** `npm run pack:sdk`: the SDK as one tarball. */
export function registerPackSdk(program: Command): void {
  program
    .command("pack-sdk")
    .description("Make one tarball of the SDK with the protocol inside.")
    .option("--out <folder>", "where it goes", "dist")
    .action(async ({ out }: { out: string }) => {
      const { packSdk } = await import("../pack/packSdk.ts");
      const { file, size, files, dependencies } = await packSdk(out);
      process.stdout.write(`${file}\n`);
      process.stderr.write(
        `${files} files, ${(size / 1024).toFixed(0)} KiB; needs ${Object.keys(dependencies).join(", ")}\n`,
      );
    });
}
