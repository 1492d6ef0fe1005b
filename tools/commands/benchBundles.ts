import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Table from "cli-table3";
import type { Command } from "commander";

/** How many of a bundle's packages the table names. */
const NAMED = 5;

/** `npm run bench:bundles`: the bytes that a page fetches when it imports one of our modules. */
export function registerBenchBundles(program: Command): void {
  program
    .command("bench-bundles")
    .description("Bundle each entry for browsers, and print its size and the packages in it.")
    .option("--json", "print JSON")
    .action(async ({ json = false }: { json?: boolean }) => {
      const { bundleEntries } = await import("../bundle/entries.ts");
      const { measureBundle } = await import("../bundle/measureBundle.ts");
      const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bundles-"));
      try {
        const bundles = await Promise.all(bundleEntries.map((entry) => measureBundle(entry, folder)));
        if (json) {
          process.stdout.write(`${JSON.stringify(bundles, null, 2)}\n`);
          return;
        }
        const style = { head: [], border: [] };
        const table = new Table({ head: ["entry", "bytes", "gzip", "at most", "largest"], style });
        for (const [at, { name, initial, largest }] of bundles.entries()) {
          const parts = largest.slice(0, NAMED).map((part) => `${part.name} ${part.bytes}`);
          table.push([name, initial.bytes, initial.gzip, bundleEntries[at]?.most, parts.join("\n")]);
        }
        process.stdout.write(`${table.toString()}\n`);
        const later = new Table({
          head: ["loaded with verify when needed", "bytes", "gzip", "packages"],
          style,
        });
        const lazy = bundles.find(({ name }) => name === "verify")?.lazy ?? {};
        for (const [module, { bytes, gzip, packages }] of Object.entries(lazy)) {
          later.push([module, bytes, gzip, packages.join(", ")]);
        }
        process.stdout.write(`${later.toString()}\n`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
}
