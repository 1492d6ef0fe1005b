import Table from "cli-table3";
import type { Command } from "commander";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { minVerificationVersion, versionStatus } from "tallystick-capabilities/versions";
import { plainJson } from "tallystick-runtime/plainText";

/** `tallystick capabilities`: lists the standard capabilities; with `--bench`, measures their verifiers. */
export function registerCapabilities(program: Command): void {
  program
    .command("capabilities")
    .description("List the standard capabilities, or measure their verifiers.")
    .option("--bench", "run every committed sample through its verifier")
    .option("--json", "print JSON")
    .action(async ({ bench = false, json = false }: { bench?: boolean; json?: boolean }) => {
      if (bench) await printBench(json);
      else await printList(json, Math.floor(Date.now() / 1000));
    });
}

async function printList(json: boolean, now: number): Promise<void> {
  const rows = (await loadCatalogue()).map((capability) => ({
    id: capability.id,
    patterns: capability.patterns,
    summary: capability.summary,
    versions: capability.versions.map(({ version }) => ({
      version,
      status: versionStatus(capability, version, now),
    })),
    min_verification_version: minVerificationVersion(capability, now),
    checks: Object.keys(capability.checks),
  }));
  if (json) {
    process.stdout.write(`${plainJson(rows, 2)}\n`);
    return;
  }
  const table = new Table({ head: ["ids", "what", "versions"], style: { head: [], border: [] } });
  for (const { patterns, summary, versions } of rows) {
    const states = versions.map(({ version, status }) => `${version} ${status}`).join("\n");
    table.push([patterns.join("\n"), summary, states]);
  }
  process.stdout.write(`${table.toString()}\n`);
}

async function printBench(json: boolean): Promise<void> {
  const { measureLargest } = await import("../../tools/bench/capabilities/largestInputs.ts");
  const { measureVerifiers } = await import("../../tools/bench/capabilities/measureVerifiers.ts");
  const figures = await measureVerifiers();
  const largest = await measureLargest();
  if (json) {
    process.stdout.write(`${plainJson({ figures, largest }, 2)}\n`);
    return;
  }
  const head = ["id", "checks", "good accepted", "damaged refused", "slowest ms"];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { id, checks, accepted, good, refused, damaged, slowestMs } of figures) {
    table.push([id, checks, `${accepted} of ${good}`, `${refused} of ${damaged}`, slowestMs.toFixed(1)]);
  }
  process.stdout.write(`${table.toString()}\n`);
  for (const { what, milliseconds } of largest) {
    process.stdout.write(`${what}: ${milliseconds.toFixed(0)} ms\n`);
  }
}
