import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Table from "cli-table3";
import { type Command, Option } from "commander";
import { comparingRates } from "../bench/ledger/comparingRates.ts";
import { insertsPerSecond, syncsPerSecond } from "../bench/ledger/diskLimits.ts";
import { Figures, shortOf } from "../bench/ledger/figures.ts";
import {
  compareLedger,
  ENTRY_KINDS,
  type EntryKind,
  openLedger,
  pythonRate,
  verifyRate,
  verifyRateOfOneCore,
  writeLedger,
} from "../bench/ledger/largeLedger.ts";
import { receiptRates, settleRates, signatureLimits } from "../bench/ledger/throughput.ts";
import { coveredAfter } from "../bench/ledger/witnessed.ts";

type BenchOptions = {
  entries: string;
  receipts: string;
  seconds: string;
  store?: boolean;
  json?: boolean;
  memory?: string;
  kinds: EntryKind[];
};

type Say = (text: string) => void;

const CLIENTS = [1, 16, 64];

/** From this number of entries on, a comparison takes long enough to measure other work during it. */
const LONG_COMPARISON = 500_000;

/** `npm run bench:ledger`: figures of the settlement service and its ledger. Every ratio comes from one run. */
export function registerBenchLedger(program: Command): void {
  program
    .command("bench-ledger")
    .description("Measure the settlement service and its ledger on this machine.")
    .option(
      "--entries <counts>",
      "entries of each large ledger, separated by commas; 0: no large ledger",
      "10000,1000000",
    )
    .option("--receipts <count>", "receipts for each number of clients", "4000")
    .option("--seconds <count>", "how many seconds proposals are settled", "5")
    .option("--store", "measure only durable receipts, in turn with and without a shared store")
    .option("--no-store", "measure no shared store, which would start a Postgres")
    .option("--json", "print JSON")
    .option("--memory <count>", "measure only the memory of a service with this many entries of one kind")
    .addOption(
      new Option("--kinds <kinds...>", "with --memory: the kinds of entries")
        .choices(ENTRY_KINDS)
        .default([...ENTRY_KINDS]),
    )
    .action(async (options: BenchOptions) => {
      const say: Say = (text) => void process.stderr.write(`${text}\n`);
      if (options.memory !== undefined) return memoryByKind(Number(options.memory), options.kinds, say);
      const figures = new Figures();
      const print = (): void =>
        void process.stdout.write(`${options.json ? figures.json() : figures.table()}\n`);
      const receipts = Number(options.receipts);
      if (options.store !== true) await measureReceipts(figures, receipts, say);
      if (options.store !== false) await measureStore(figures, receipts, say);
      if (options.store) return print();
      await measureProposals(figures, Number(options.seconds), say);
      for (const entries of options.entries.split(",").map(Number))
        if (entries > 0) await measureLedger(figures, entries, receipts, say);
      print();
    });
}

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

/** Receipts, and what limits them: signatures, the disk. */
async function measureReceipts(figures: Figures, each: number, say: Say): Promise<void> {
  say("limits …");
  const { noble, wasm } = await signatureLimits();
  figures.add("signature checks, one core, plain JavaScript", noble, "/s");
  figures.add("signature checks, one core, as the service does", wasm, "/s");
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
  try {
    figures.add("fdatasync of one more line", await syncsPerSecond(folder), "/s");
    const file = await writeLedger(path.join(folder, "local"), 20_000);
    const inserts = await insertsPerSecond(file, 20_000, path.join(folder, "index"));
    figures.add("entries into index and tree, processor time", inserts, "/s");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say("durable receipts …");
  for (const { clients, rate, serviceMicros, clientMicros } of await receiptRates(CLIENTS, each)) {
    figures.add(`durable signed receipts, ${clients} clients`, rate, "/s", {
      note: `${percent(rate, wasm)} of the checks`,
      ...(clients === 64 && { goal: "≥ 1,500, ≥ 80 %" }),
    });
    figures.add("  processor time of one: the service's", serviceMicros, "µs");
    figures.add("  processor time of one: its client's", clientMicros, "µs");
  }
}

/** Measures in turn a service alone, and a service that commits its receipts in a shared store. */
async function measureStore(figures: Figures, each: number, say: Say): Promise<void> {
  const { sharedRates } = await import("../bench/ledger/sharedRates.ts");
  for (const { clients, alone, shared } of await sharedRates(CLIENTS, each, say)) {
    const note = `${percent(shared, alone)} of ${shortOf(alone)} alone, alternating`;
    figures.add(`durable signed receipts, ${clients} clients, shared store`, shared, "/s", { note });
  }
}

async function measureProposals(figures: Figures, seconds: number, say: Say): Promise<void> {
  say("proposals …");
  const one = await settleRates(1, seconds);
  figures.add("settled proposals, one client that follows the head", one.settled, "/s", { goal: "≥ 300" });
  const many = await settleRates(64, 2 * seconds);
  figures.add("settled proposals, 64 contending clients", many.settled, "/s");
  figures.add("  rejected, to follow the head", many.rejected, "/s");
  figures.add("  fewest settled by one of them", many.least, "", { goal: "≥ 1" });
  say("witnesses …");
  const { signed, witnessed } = await coveredAfter(6 * seconds);
  figures.add("from SETTLED to the next checkpoint, median", signed.p50, "ms");
  figures.add("  p99", signed.p99, "ms");
  figures.add("  to one that 2 of 3 witnesses cosigned, median", witnessed.p50, "ms");
  figures.add("  p99", witnessed.p99, "ms", { goal: "≤ 1,000" });
}

/** A ledger of receipts: verifying it, starting on it, comparing its index. */
async function measureLedger(figures: Figures, entries: number, receipts: number, say: Say): Promise<void> {
  const count = entries.toLocaleString("en");
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
  try {
    say(`a ledger of ${count} entries …`);
    const file = await writeLedger(path.join(folder, "local"), entries);
    figures.add(`${count} entries`, statSync(file).size / entries, "bytes each");
    await measureVerifying(figures, file, entries);
    await measureStarts(figures, folder);
    if (entries < LONG_COMPARISON) return;
    say("receipts while its index is compared …");
    const { quiet, comparing } = await comparingRates(folder, 16, receipts);
    const note = `${percent(comparing, quiet)} of ${shortOf(quiet)} before and after`;
    figures.add("  durable signed receipts, 16 clients, while comparing", comparing, "/s", { note });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureVerifying(figures: Figures, file: string, entries: number): Promise<void> {
  const python = pythonRate(file);
  const timesPython = (rate: number): string =>
    python === undefined ? "no python3" : `${(rate / python).toFixed(2)} × Python`;
  if (python !== undefined)
    figures.add("  verified by the reference in Python, without a root", python, "/s");
  const one = await verifyRateOfOneCore(file);
  figures.add("  verified on one core, with the Merkle root", one, "/s", { note: timesPython(one) });
  const all = await verifyRate(file, entries);
  figures.add("  verified on all cores", all, "/s", { note: timesPython(all), goal: "≥ 6 × Python" });
}

async function measureStarts(figures: Figures, folder: string): Promise<void> {
  const first = await openLedger(folder);
  figures.add("  first start, which makes the index", first.seconds, "s", {
    note: `${shortOf(first.rssMb)} MB`,
  });
  const again = await openLedger(folder);
  figures.add("  start, until reads are served", again.seconds, "s", { goal: "≤ 2" });
  figures.add("    highest memory", again.rssMb, "MB", { goal: "≤ 200" });
  figures.add("    until writes are taken: every line was read", again.writesSeconds, "s");
  figures.add("    highest memory", again.writesRssMb, "MB");
  figures.add("  an inclusion proof", again.proofMs, "ms");
  const { cpuSeconds, entries, rssMb } = await compareLedger(path.join(folder, "local"));
  figures.add("  index made again and compared, processor time", cpuSeconds, "s", {
    note: `${shortOf(entries / cpuSeconds)} entries/s, ${shortOf(rssMb)} MB`,
  });
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
