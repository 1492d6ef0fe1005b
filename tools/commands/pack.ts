import type { Command } from "commander";

/** `npm run pack`: each package that others install, as a tarball. */
export function registerPack(program: Command): void {
  program
    .command("pack")
    .description("Make a tarball of each package that others install.")
    .option("--out <folder>", "where the tarballs go", "dist")
    .action(async ({ out }: { out: string }) => {
      const { packPackages } = await import("../pack/packPackages.ts");
      for (const { file, size, files, manifest, internal } of await packPackages(out)) {
        process.stdout.write(`${file}\n`);
        const entries = Object.keys(manifest.exports).length - internal.length - 1;
        process.stderr.write(
          `  ${files} files, ${(size / 1024).toFixed(0)} KiB, ${entries} entry points; needs ${needs(manifest)}\n`,
        );
        if (internal.length > 0)
          process.stderr.write(`  for its siblings under internal/: ${internal.join(", ")}\n`);
      }
    });
}

function needs({
  dependencies,
  peerDependencies = {},
}: {
  dependencies: { [name: string]: string };
  peerDependencies?: { [name: string]: string };
}): string {
  const all = Object.entries({ ...dependencies, ...peerDependencies });
  return all.map(([name, version]) => `${name} ${version}`).join(", ");
}
