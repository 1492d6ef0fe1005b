import { readdirSync, readFileSync } from "node:fs";

/** `/proc/PID/stat` counts in hundredths of a second on every Linux on which Node runs. */
const MS_PER_TICK = 10;

/** The positions of fields of `/proc/PID/stat` (proc(5)), counted from the state on, which follows the program's name. */
const PARENT = 1;
const TIMES = [11, 12, 13, 14];

type Process = { parent: number; ms: number };

/**
 * The processor time of this process and of all processes that it started, in milliseconds. A process that has ended is included
 * if its parent waited for it. Where there is no `/proc`, this is the time of this process alone.
 *
 * A busy machine changes this time far less than the time by the clock.
 */
export function processorTime(): number {
  const processes = runningProcesses();
  if (!processes.has(process.pid)) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of processes) children.set(parent, [...(children.get(parent) ?? []), pid]);
  let sum = 0;
  const waiting = [process.pid];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    sum += processes.get(pid)?.ms ?? 0;
    waiting.push(...(children.get(pid) ?? []));
  }
  return sum;
}

function runningProcesses(): Map<number, Process> {
  const processes = new Map<number, Process>();
  for (const name of namesIn("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = textOf(`/proc/${name}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = TIMES.reduce((sum, at) => sum + Number(fields[at]), 0);
    if (Number.isFinite(ticks))
      processes.set(Number(name), { parent: Number(fields[PARENT]), ms: ticks * MS_PER_TICK });
  }
  return processes;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty when the process ended since it was listed. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
