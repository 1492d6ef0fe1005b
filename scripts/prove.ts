import { styleText } from "node:util";
import Table from "cli-table3";
import { Command } from "commander";
import { openSolver } from "./proofs/openSolver.ts";
import { type Property, properties } from "./proofs/properties.ts";
import { type ProofResult, proveProperty } from "./proofs/proveProperty.ts";

type Line = Pick<Property, "contract" | "source" | "claim"> &
  ProofResult & { bugs: ({ what: string; found: boolean } & Pick<ProofResult, "assertions" | "ms">)[] };

const program = new Command("prove")
  .description("Prove the bookkeeping of the contracts, and that the proofs find bugs planted for them.")
  .option("--only <contract>", "only the property of this harness contract, such as PartsAddUp")
  .option("--json", "print every assertion and planted bug as JSON")
  .parse();
const { only, json } = program.opts<{ only?: string; json?: boolean }>();
process.exitCode = await prove();

/** Proves and prints; the exit code is 0 when every property is proved and every planted bug loses its proof. */
async function prove(): Promise<number> {
  const chosen = properties.filter(({ contract }) => only === undefined || contract === only);
  if (chosen.length === 0) program.error(`--only: there are ${properties.map((p) => p.contract).join(", ")}`);
  const solver = await openSolver();
  const lines: Line[] = [];
  try {
    for (const property of chosen) {
      const { contract, source, claim } = property;
      const proof = await proveProperty(property, solver);
      const bugs = [];
      for (const bug of property.bugs) {
        const { proved, assertions, ms } = await proveProperty(property, solver, bug);
        bugs.push({ what: bug.what, found: !proved, assertions, ms });
      }
      lines.push({ contract, source, claim, ...proof, bugs });
      if (!json) process.stderr.write(`${contract} …\n`);
    }
  } finally {
    solver.close();
  }
  process.stdout.write(json ? `${JSON.stringify(lines, null, 2)}\n` : `${table(lines)}\n`);
  return lines.every(({ proved, bugs }) => proved && bugs.every(({ found }) => found)) ? 0 : 1;
}

function table(lines: Line[]): string {
  const head = ["property", "", "s", "planted bug", "", "s"];
  const rows = new Table({ head, style: { head: [], border: [] }, colWidths: [58], wordWrap: true });
  for (const { contract, claim, proved, ms, bugs } of lines) {
    bugs.forEach(({ what, found, ms: bugMs }, i) => {
      const own = i > 0 ? ["", "", ""] : [`${contract}: ${claim}`, mark(proved, "proved"), seconds(ms)];
      rows.push([...own, what, mark(found, "found"), seconds(bugMs)]);
    });
  }
  return rows.toString();
}

function mark(good: boolean, word: string): string {
  return good ? styleText("green", word) : styleText("red", `not ${word}`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
