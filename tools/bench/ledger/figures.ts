import { availableParallelism, cpus, loadavg } from "node:os";
import Table from "cli-table3";

/** One measured figure. `note` compares it with another figure. `goal` is the value to reach. */
export type Figure = { name: string; value: number; unit: string; note?: string; goal?: string };

/** The figures of one run, as a table for people or as JSON for programs. */
export class Figures {
  readonly #figures: Figure[] = [];
  /** The number of runnable processes before the run: others may use the machine. */
  readonly #load = loadavg()[0] as number;

  add(name: string, value: number, unit: string, { note, goal }: Pick<Figure, "note" | "goal"> = {}): void {
    this.#figures.push({ name, value, unit, ...(note && { note }), ...(goal && { goal }) });
  }

  json(): string {
    const machine = {
      cores: availableParallelism(),
      model: cpus()[0]?.model,
      node: process.version,
      load: this.#load,
    };
    return JSON.stringify({ machine, figures: this.#figures }, null, 2);
  }

  table(): string {
    const table = new Table({
      head: ["what", "figure", "unit", "", "goal"],
      style: { head: [], border: [], compact: true },
    });
    for (const { name, value, unit, note = "", goal = "" } of this.#figures)
      table.push([name, shortOf(value), unit, note, goal]);
    const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? "unknown"}, Node ${process.version}`;
    const load = `load ${this.#load.toFixed(1)} before the run`;
    return `${table.toString()}\n${machine}, ${load}; clients and service share the cores.`;
  }
}

/** A number with three digits, or two if it is below 1. A number of 100 or more is rounded to a whole number. */
export function shortOf(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value.toPrecision(value >= 1 ? 3 : 2);
}
