import { styleText } from "node:util";
import Table from "cli-table3";
import { readFrozen } from "../../scripts/ignition/frozenContract.ts";
import { compileWith, exploration, IMPOSSIBLE } from "./exploration.ts";
import { explore } from "./explore.ts";
import { openSolver } from "./openSolver.ts";
import type { Property } from "./properties.ts";
import { type ProofResult, proveProperty } from "./proveProperty.ts";

type Line = Pick<Property, "contract" | "claim"> &
  ProofResult & { faults: ({ what: string; found: boolean } & Pick<ProofResult, "verdicts" | "ms">)[] };

/**
 * Proves the chosen properties and prints the results. Each proof is also tried on the code with each of its inserted
 * faults. The exit code is 0 if every property is proved and the code with a fault is never proved.
 */
export async function prove(chosen: Property[], explored: boolean, json: boolean): Promise<number> {
  const solver = await openSolver();
  const lines: Line[] = [];
  try {
    for (const property of chosen) {
      const { contract, claim } = property;
      const proof = await proveProperty(property, solver);
      const faults = [];
      for (const fault of property.faults) {
        const { proved, verdicts, ms } = await proveProperty(property, solver, fault);
        faults.push({ what: fault.what, found: !proved, verdicts, ms });
      }
      lines.push({ contract, claim, ...proof, faults });
      if (!json) process.stderr.write(`${contract} …\n`);
    }
  } finally {
    solver.close();
  }
  if (explored) lines.push(await exploreAll(json));
  process.stdout.write(json ? `${JSON.stringify(lines, null, 2)}\n` : `${table(lines)}\n`);
  return lines.every(({ proved, faults }) => proved && faults.every(({ found }) => found)) ? 0 : 1;
}

/** Explores the escrow as it is deployed, and then once with each of the inserted faults. */
async function exploreAll(json: boolean): Promise<Line> {
  const { name, claim, faults } = exploration;
  const look = async (initCode: string) => {
    const began = performance.now();
    const found = await explore(initCode);
    if (!json) process.stderr.write(`${name}: ${JSON.stringify(found)}\n`);
    return { found, ms: performance.now() - began };
  };
  const { found, ms } = await look(readFrozen("HireEscrow").initCode);
  const proved = found.broken === undefined && String(found.never) === String(IMPOSSIBLE);
  const tried: Line["faults"] = [];
  for (const fault of faults) {
    const { found, ms } = await look(compileWith(fault));
    tried.push({ what: fault.what, found: found.broken !== undefined, verdicts: [], ms });
  }
  return { contract: name, claim, proved, verdicts: [proved ? "proved" : "refuted"], ms, faults: tried };
}

function table(lines: Line[]): string {
  const head = ["property", "", "s", "inserted fault", "", "s"];
  const rows = new Table({ head, style: { head: [], border: [] }, colWidths: [58], wordWrap: true });
  for (const { contract, claim, proved, ms, faults } of lines) {
    faults.forEach(({ what, found, ms: faultMs }, i) => {
      const own = i > 0 ? ["", "", ""] : [`${contract}: ${claim}`, mark(proved, "proved"), seconds(ms)];
      rows.push([...own, what, mark(found, "found"), seconds(faultMs)]);
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
