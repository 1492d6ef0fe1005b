import { apply } from "tallystick-derive/apply";
import { openNotes } from "tallystick-derive/applyContext";
import type { DeriveEvent } from "tallystick-derive/events";
import { LogReader } from "tallystick-derive/logReader";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

// Derives a log without checking its signatures, and measures each event by itself. This makes the whole run slower.
// For each kind of event it prints the median time and the sum of the times. Other work of the machine does not show in
// the median. Argument: FILE; without it, standard input.
const [file = "-"] = process.argv.slice(2);
const store = new MemoryStore();
const notes = openNotes(store);
const reader = new LogReader();
const times = new Map<string, number[]>();

for await (const text of readWholeLines(file)) {
  for (const line of text.split("\n")) {
    const began = process.hrtime.bigint();
    const event = reader.read(line);
    if (event === undefined) continue;
    note("reading any line", began);
    const kind = kindOf(event);
    const applied = process.hrtime.bigint();
    apply(store, event, { trustSignatures: true, sha256Hex: sha256HexByNode }, notes);
    note(kind, applied);
  }
}
process.stdout.write(JSON.stringify([...times].map(([kind, all]) => ({ kind, ...summaryOf(all) }))));

function note(kind: string, since: bigint): void {
  const taken = Number(process.hrtime.bigint() - since) / 1000;
  const known = times.get(kind);
  if (known === undefined) times.set(kind, [taken]);
  else known.push(taken);
}

function kindOf(event: DeriveEvent): string {
  if (event.kind === "record") return event.type;
  if (event.kind !== "transfer") return event.kind;
  const concerns = [event.from, event.to].some((it) => store.get("agent", it) !== null);
  return concerns ? "transfer of an agent" : "transfer of others";
}

function summaryOf(all: number[]): { events: number; microseconds: number; seconds: number } {
  const sorted = all.toSorted((a, b) => a - b);
  const microseconds = sorted[Math.floor(all.length / 2)] ?? 0;
  return { events: all.length, microseconds, seconds: all.reduce((sum, it) => sum + it, 0) / 1_000_000 };
}
