import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { failure, History } from "./history.ts";
import { type Load, readCheckpoint, startLoad } from "./load.ts";
import { closeMachine, type Machine, openMachine } from "./machine.ts";
import { until, writerAfter } from "./writerAfter.ts";

/** What happens to the machine that writes. */
const FAULTS = ["kill", "stop", "frozen", "answer", "question", "answer and kill"] as const;
export type StandbyFault = (typeof FAULTS)[number];

export type SoakStandbyParameters = {
  runs: number;
  leaseSeconds: number;
  /** A number from 0 to 1. */
  random: () => number;
  clients?: number;
  /** The faults, one after the other. Default: random ones. */
  faults?: readonly StandbyFault[];
  isOver?: () => boolean;
  onRun?: (run: StandbyRun) => void;
};

/** One run; `seconds` are those of the takeover, undefined if none was due. */
export type StandbyRun = { number: number; fault: StandbyFault; seconds: number | undefined };

export type SoakStandbyCounts = {
  runs: number;
  takeovers: number;
  cuts: number;
  entries: number;
  answers: number;
  checkpoints: number;
  /** Seconds from a fault until the other machine is ready, in ascending order. */
  takeoverSeconds: number[];
};

/**
 * The time limit for each step of a run, in milliseconds, in addition to the lease. On a machine with a load of 20 a
 * process of low priority takes a minute to start. The durations of takeovers are reported.
 */
const DEADLINE_MS = 300_000;

/**
 * Two machines share a ledger under load. They are real processes, with a real Postgres behind one proxy for each. In
 * each run a fault hits the machine that writes. After each run both files must have the same history, with every
 * acknowledged entry exactly once.
 *
 * @throws TallystickError `standby_test_failed` saying what was lost, forked, or not taken over in time
 */
export async function soakStandby(parameters: SoakStandbyParameters): Promise<SoakStandbyCounts> {
  const { runs, random, faults, isOver = () => false, onRun = () => {}, clients = 6 } = parameters;
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-standby-"));
  const postgres = await startPostgres();
  const history = new History();
  const counts = { runs: 0, takeovers: 0, takeoverSeconds: [] as number[] };
  const machines: Machine[] = [];
  let load: Load | undefined;
  try {
    const databaseUrl = await postgres.createDatabase("standby");
    const settings = { folder, databaseUrl, leaseSeconds: parameters.leaseSeconds };
    for (const name of ["a", "b"]) machines.push(await openMachine(name, settings));
    load = startLoad(machines, history, clients);
    while (counts.runs < runs && !isOver()) {
      const fault = faults?.[counts.runs % faults.length] ?? pick(FAULTS, random());
      const world = { machines, leaseMs: 1_000 * parameters.leaseSeconds, random };
      const taken = await oneRun(fault, world).catch((error) => {
        const logs = machines
          .map(({ name, log, logBefore }) => `\n--- ${name}\n${logBefore}\n${log}`)
          .join("");
        throw failure(`run ${counts.runs + 1}, ${fault}: ${error.message}${logs}`);
      });
      counts.runs++;
      if (taken !== undefined) {
        counts.takeovers++;
        counts.takeoverSeconds.push(taken);
      }
      for (const { file } of machines) await history.read(file);
      history.check();
      onRun({ number: counts.runs, fault, seconds: taken });
    }
    // On a busy machine the clients may have had no turn yet.
    await until(() => history.counts.answers > 0, "nothing was settled", DEADLINE_MS);
    await load.stop();
    load = undefined;
    history.signed(await lastCheckpoint(machines));
    await bothHaveAll(machines, history);
    counts.takeoverSeconds.sort((a, b) => a - b);
    const cuts = machines.reduce((sum, { proxy }) => sum + proxy.cuts(), 0);
    return { ...counts, cuts, ...history.counts };
  } finally {
    await load?.stop();
    for (const machine of machines) await closeMachine(machine);
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes one fault and checks its effects. Returns the seconds of the takeover, undefined if none was due. */
async function oneRun(
  fault: StandbyFault,
  { machines, leaseMs, random }: { machines: readonly Machine[]; leaseMs: number; random: () => number },
): Promise<number | undefined> {
  const { writer, life } = await writerAfter(300 * random(), machines, DEADLINE_MS + leaseMs);
  const since = performance.now();
  const takeover = async (): Promise<number | undefined> => {
    // If another machine writes already, this process has lost the ledger and ends soon. Then nobody has to take over.
    const isDue = machines.every((it) => it === writer || !it.isWriter);
    // The same machine may be faster than the other one when its process is started again.
    const isNext = (it: Machine): boolean => it.isWriter && (it !== writer || it.lives > life);
    await until(() => machines.some(isNext), "nobody took over", DEADLINE_MS + leaseMs);
    return isDue ? (performance.now() - since) / 1_000 : undefined;
  };
  if (fault === "stop" || fault === "frozen") {
    if (fault === "stop") writer.child.kill("SIGSTOP");
    else writer.proxy.set("frozen");
    const taken = await takeover();
    // The other machine gets time to write before the first one wakes, perhaps in the middle of a flush.
    await sleep(200 * random());
    if (fault === "stop") writer.child.kill("SIGCONT");
    else writer.proxy.set("none");
    // On a busy computer the other process may have missed its lease meanwhile. Then this one continues alone.
    const isAlone = (): boolean => machines.every((it) => it === writer || !it.isWriter);
    const complaint = `${writer.name} writes beside another`;
    await until(() => writer.lives > life || isAlone(), complaint, DEADLINE_MS + leaseMs);
    return taken;
  }
  if (fault !== "kill") await cutOnce(writer, life, fault === "question" ? "question" : "answer");
  if (fault === "kill" || fault === "answer and kill") {
    writer.child.kill("SIGKILL");
    return takeover();
  }
  await sleep(100 * random());
  // A busy machine may miss its lease, which is not a fault. A lost answer must not end the process.
  if (writer.lives > life && !/lease|not this one's/.test(writer.logBefore))
    throw failure(`${writer.name} ended because an answer was lost:\n${writer.logBefore}`);
  return undefined;
}

/** Lets a proxy cut one connection, unless the writing process behind it ends before. */
async function cutOnce(writer: Machine, life: number, fault: "answer" | "question"): Promise<void> {
  const { proxy } = writer;
  const before = proxy.cuts();
  proxy.set(fault);
  await until(() => proxy.cuts() > before || writer.lives > life, "nothing was cut", DEADLINE_MS);
  proxy.set("none");
}

/** Waits until one of the machines serves a checkpoint. */
async function lastCheckpoint(machines: readonly Machine[]): Promise<string> {
  const end = performance.now() + DEADLINE_MS;
  while (performance.now() <= end) {
    for (const { port } of machines) {
      const checkpoint = await readCheckpoint(port);
      if (checkpoint !== undefined) return checkpoint;
    }
    await sleep(50);
  }
  throw failure("no machine serves a checkpoint");
}

/** Waits until both machines have the whole ledger, and compares everything with it. */
async function bothHaveAll(machines: readonly Machine[], history: History): Promise<void> {
  const sizeOf = async ({ port, name }: Machine) => {
    // One of them may be restarting.
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    return answer ? ((await answer.json()) as { size: number }).size : `${name}: none`;
  };
  const end = performance.now() + DEADLINE_MS;
  for (;;) {
    const sizes = await Promise.all(machines.map(sizeOf));
    if (new Set(sizes).size === 1) break;
    if (performance.now() > end) throw failure(`the machines have ${sizes.join(" and ")} entries`);
    await sleep(50);
  }
  for (const { file } of machines) await history.read(file);
  history.check({ isWhole: true });
}

function pick<T>(from: readonly T[], random: number): T {
  return from[Math.min(from.length - 1, Math.floor(random * from.length))] as T;
}
