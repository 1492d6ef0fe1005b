import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import path from "node:path";
import Table from "cli-table3";
import { type Command, Option } from "commander";
import {
  ENTRY_KINDS,
  type EntryKind,
  openLedger,
  pythonRate,
  verifyRate,
  writeLedger,
} from "../bench/ledger/largeLedger.ts";
import { receiptRates, settleRates, signatureLimits } from "../bench/ledger/throughput.ts";
import { type CoveredAfter, coveredAfter } from "../bench/ledger/witnessed.ts";

type BenchOptions = {
  entries: string;
  receipts: string;
  seconds: string;
  memory?: string;
  store?: boolean;
  kinds: EntryKind[];
};

/** `npm run bench:ledger`: the settlement service and its ledger in figures; every ratio is of one run. */
export function registerBenchLedger(program: Command): void {
  program
    .command("bench-ledger")
    .description("Measure the settlement service and its ledger on this machine.")
    .option("--entries <count>", "entries of the large ledger; 0: leave it out", "1000000")
    .option("--receipts <count>", "receipts per number of clients", "4000")
    .option("--seconds <count>", "how long to settle proposals", "5")
    .option("--store", "only durable receipts with and without a shared store, by turns")
    .option("--memory <count>", "only the memory that a service takes with so many entries of each kind")
    .addOption(
      new Option("--kinds <kinds...>", "with --memory: of which kinds")
        .choices(ENTRY_KINDS)
        .default([...ENTRY_KINDS]),
    )
    .action(async (options: BenchOptions) => {
      const say = (text: string): void => void process.stderr.write(`${text}\n`);
      if (options.memory !== undefined) return memoryByKind(Number(options.memory), options.kinds, say);
      if (options.store) return withStore(Number(options.receipts), say);
      const table = new Table({ head: ["what", "figure", "goal"], style: { head: [], border: [] } });
      const whole = (value: number): string => Math.round(value).toLocaleString("en");

      say("signature checks …");
      const { noble, wasm } = await signatureLimits();
      table.push(["signature checks/s, one core, plain JavaScript", whole(noble), ""]);
      table.push(["signature checks/s, one core, as the service does", whole(wasm), ""]);

      say("durable receipts …");
      for (const { clients, rate } of await receiptRates([1, 16, 64], Number(options.receipts))) {
        table.push([
          `durable signed receipts/s, ${clients} clients`,
          `${whole(rate)} (${whole((100 * rate) / wasm)} % of the checks, ${(rate / noble).toFixed(1)} × plain)`,
          clients === 64 ? "≥ 1,500 and ≥ 80 %" : "",
        ]);
      }

      say("proposals …");
      const seconds = Number(options.seconds);
      const one = await settleRates(1, seconds);
      table.push(["settled proposals/s, one re-basing client", whole(one.settled), "≥ 300"]);
      const many = await settleRates(64, 2 * seconds);
      table.push([
        "64 contending clients: settled/s, rejected/s",
        `${whole(many.settled)}, ${whole(many.rejected)}`,
        "",
      ]);
      table.push(["  fewest settled by one of them", whole(many.least), "≥ 1"]);

      say("witnesses …");
      const { signed, witnessed } = await coveredAfter(6 * seconds);
      const p50p99 = ({ p50, p99 }: CoveredAfter) => `${whole(p50)}, ${whole(p99)}`;
      table.push(["from SETTLED to the next checkpoint: median and p99, ms", p50p99(signed), ""]);
      table.push(["  to one that 2 of 3 witnesses cosigned", p50p99(witnessed), "p99 ≤ 1,000"]);

      const entries = Number(options.entries);
      if (entries === 0) return print(table);
      const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
      try {
        say(`writing a ledger of ${whole(entries)} entries …`);
        const file = await writeLedger(path.join(folder, "local"), entries);
        say("verifying it …");
        const ours = await verifyRate(file, entries);
        const python = pythonRate(file);
        table.push([
          `verified entries/s of ${whole(entries)}, with the Merkle root`,
          python === undefined
            ? `${whole(ours)} (no python3)`
            : `${whole(ours)} (${(ours / python).toFixed(2)} × Python)`,
          "≥ 2 × Python",
        ]);
        if (python !== undefined)
          table.push(["  the reference in Python, without a root", whole(python), ""]);
        say("opening it …");
        const opened = await openLedger(folder);
        table.push(["opening it for the first time: seconds", opened.seconds.toFixed(1), ""]);
        table.push(["opening it again: seconds", (await openLedger(folder)).seconds.toFixed(1), "≤ 2"]);
        table.push(["opening it: highest memory, MB", whole(opened.rssMb), "< 300"]);
        table.push(["an inclusion proof from it, ms", opened.proofMs.toFixed(3), "O(log n)"]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      print(table);
    });
}

function print(table: { toString: () => string }): void {
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? "unknown"}, Node ${process.version}`;
  process.stdout.write(`${table.toString()}\n${machine}; clients and service share the cores.\n`);
}

/** Prints durable receipts a second of a service alone, and of one that commits them in a shared store, by turns. */
async function withStore(receipts: number, say: (text: string) => void): Promise<void> {
  const { sharedRates } = await import("../bench/ledger/sharedRates.ts");
  const table = new Table({ head: ["clients", "alone", "shared", "share"], style: { head: [], border: [] } });
  for (const { clients, alone, shared } of await sharedRates([1, 16, 64], receipts, say))
    table.push([clients, Math.round(alone), Math.round(shared), (shared / alone).toFixed(2)]);
  print(table);
}

/** Prints what opening a ledger full of one kind of entries takes, for each kind: without its index, and with it. */
async function memoryByKind(entries: number, kinds: EntryKind[], say: (text: string) => void): Promise<void> {
  const table = new Table({
    head: [
      `${entries.toLocaleString("en")} entries`,
      "highest memory, MB",
      "seconds to open",
      "again: MB",
      "seconds",
    ],
    style: { head: [], border: [] },
  });
  for (const kind of kinds) {
    const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
    try {
      say(`a ledger of ${kind} entries …`);
      await writeLedger(path.join(folder, "local"), entries, kind);
      const first = await openLedger(folder);
      const again = await openLedger(folder);
      const figures = [first, again].flatMap(({ rssMb, seconds }) => [Math.round(rssMb), seconds.toFixed(1)]);
      table.push([kind, ...figures]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  process.stdout.write(`${table.toString()}\ngoal with 1,000,000 entries: at most 300 MB\n`);
}
