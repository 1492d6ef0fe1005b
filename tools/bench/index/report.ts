import { styleText } from "node:util";
import Table from "cli-table3";
import type { BackfillFigures } from "./measureIndexer.ts";
import type { MicroFigures } from "./microBenches.ts";
import type { SizeFigures } from "./runBench.ts";

export type BenchFigures = {
  machine: { cpu: string; cores: number; node: string; loadAverage: number[] };
  sizes: SizeFigures[];
  micro: MicroFigures[];
};

/** A goal, and what was measured against it. */
export type Goal = { goal: string; measured: string; met: boolean };

/** The goals of the bench. They are for chains of a million transfers; smaller runs say less. */
export function goalsOf({ sizes, micro }: BenchFigures): Goal[] {
  const goals: Goal[] = [];
  const check = (goal: string, value: number, holds: boolean, digits = 2, unit = "") =>
    goals.push({ goal, measured: `${value.toFixed(digits)}${unit}`, met: holds });
  for (const { size, chain, bare, indexer, derive } of sizes) {
    const at = `${size.transfers}: `;
    const ratio = indexer.cold.seconds / bare.cold.seconds;
    const most = size.agents === 0 ? 1.25 : 1.5;
    check(`${at}cold, indexer ≤ ${most} × bare`, ratio, ratio <= most);
    check(
      `${at}peak memory ≤ 2.5 GB`,
      indexer.cold.peakMegabytes / 1000,
      indexer.cold.peakMegabytes <= 2_500,
      2,
      " GB",
    );
    const live = indexer.liveTransfersPerSecond;
    if (live !== null) check(`${at}live ≥ 3,000 transfers/s`, live, live >= 3_000, 0, "/s");
    if (derive === null) continue;
    const trusting = derive.trusting.events / derive.trusting.seconds;
    check(`${at}derive, trusting, ≥ 100,000 events/s`, trusting, trusting >= 100_000, 0, "/s");
    const verifying = recordsPerSecond(derive, chain.records);
    check(`${at}derive, verifying, ≥ 3,000 records/s`, verifying, verifying >= 3_000, 0, "/s");
    goals.push({
      goal: `${at}one digest, node and offline`,
      measured: derive.digestsAgree ? "yes" : "NO",
      met: derive.digestsAgree,
    });
  }
  const [small, large] = [sizes[0], sizes.at(-1)];
  if (small !== undefined && large !== undefined && small !== large) {
    const ratio = large.indexer.cold.handlerMicroseconds / small.indexer.cold.handlerMicroseconds;
    check(
      `handler time a transfer, ${large.size.transfers} ≤ 1.2 × ${small.size.transfers}`,
      ratio,
      ratio <= 1.2,
    );
  }
  for (const { name, mean, first, last } of micro) {
    if (name.includes("what no other does"))
      check(`${name}: ≤ 2 ms each`, mean / 1000, mean <= 2_000, 3, " ms");
    else if (!name.includes("look-alikes"))
      check(`${name}: last tenth ≤ 1.5 × first`, last / first, last <= 1.5 * first);
  }
  return goals;
}

/** Records a second of a verifying derivation, without the time that the rest of the log takes. */
function recordsPerSecond(
  { trusting, verifying }: NonNullable<SizeFigures["derive"]>,
  records: number,
): number {
  const others = (trusting.events - records) / trusting.events;
  return records / (verifying.seconds - others * trusting.seconds);
}

/** The figures as tables for people. */
export function printReport(figures: BenchFigures): string {
  const { machine } = figures;
  const load = machine.loadAverage.map((it) => it.toFixed(1)).join(" ");
  const text = [
    `\n${machine.cores} × ${machine.cpu}, Node ${machine.node}, load average at the end ${load}\n`,
  ];
  for (const { size, chain, bare, indexer, derive } of figures.sizes) {
    text.push(
      styleText(
        "bold",
        `\n${size.transfers} transfers, ${size.agents} agents, ${chain.records} signed records\n`,
      ),
    );
    const table = new Table({
      head: ["", "seconds", "of which CPU", "events/s", "µs a transfer", "peak MB"],
      colAligns: ["left", "right", "right", "right", "right", "right"],
    });
    for (const [name, app, events] of [
      ["bare Ponder app", bare, chain.transfers],
      ["indexer", indexer, chain.transfers + chain.records],
    ] as const) {
      for (const how of ["cold", "cached"] as const) {
        const figures = app[how];
        if (figures === null) continue;
        const { seconds, cpuSeconds, handlerMicroseconds, peakMegabytes } = figures;
        const rate = (events / seconds).toFixed(0);
        table.push([
          `${name}, ${how}`,
          seconds.toFixed(1),
          cpuSeconds?.toFixed(1) ?? "",
          rate,
          handlerMicroseconds.toFixed(1),
          peakMegabytes.toFixed(0),
        ]);
      }
      const live = app.liveTransfersPerSecond;
      if (live !== null) table.push([`${name}, live`, "", "", live.toFixed(0), "", ""]);
    }
    for (const [name, it] of [
      ["derive, trusting signatures", derive?.trusting],
      ["derive, verifying them", derive?.verifying],
    ] as const) {
      if (it === undefined) continue;
      table.push([
        name,
        it.seconds.toFixed(1),
        it.cpuSeconds.toFixed(1),
        (it.events / it.seconds).toFixed(0),
        "",
        it.peakMegabytes.toFixed(0),
      ]);
    }
    text.push(`${table}\n`);
    const ratio = (a: BackfillFigures, b: BackfillFigures) => (a.seconds / b.seconds).toFixed(2);
    text.push(`indexer / bare: ${ratio(indexer.cold, bare.cold)} cold`);
    if (indexer.cached !== null && bare.cached !== null) {
      text.push(`, ${ratio(indexer.cached, bare.cached)} cached`);
    }
    text.push("\n");
  }
  const micro = new Table({
    head: ["in memory", "events", "CPU µs each", "first tenth", "last tenth"],
    colAligns: ["left", "right", "right", "right", "right"],
  });
  for (const it of figures.micro) {
    micro.push([it.name, it.events, it.mean.toFixed(1), it.first.toFixed(1), it.last.toFixed(1)]);
  }
  text.push(`\n${micro}\n`);
  const goals = new Table({ head: ["goal", "measured", ""] });
  for (const { goal, measured, met } of goalsOf(figures)) {
    goals.push([goal, measured, met ? styleText("green", "met") : styleText("red", "missed")]);
  }
  text.push(`${goals}\n`);
  return text.join("");
}
