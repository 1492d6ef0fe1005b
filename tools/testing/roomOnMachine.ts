import { cpus, freemem } from "node:os";

/** The share of all cores' time that must have been idle since the last call. */
const IDLE_SHARE = 0.3;

/** What a step may take: a Postgres, a chain, a node and a browser. */
const BYTES = 3 * 2 ** 30;

/**
 * Returns a function that says whether the machine could run one more step. It could if its cores were idle for a good part of
 * the time since the last call, and if there is free memory for a step.
 */
export function roomOnMachine(times = coreTimes, memory = freemem): () => boolean {
  let before = times();
  return () => {
    const now = times();
    const all = now.all - before.all;
    const idle = now.idle - before.idle;
    before = now;
    return all > 0 && idle / all >= IDLE_SHARE && memory() >= BYTES;
  };
}

/** The time since the machine started, in milliseconds, as a sum over all cores. */
function coreTimes(): { idle: number; all: number } {
  const sum = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sum.idle += times.idle;
    sum.all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return sum;
}
