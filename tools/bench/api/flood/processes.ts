import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { nodeProgram } from "../../../../scripts/processes/nodeProgram.ts";
import type { FloodKind } from "./kinds.ts";

/** The default limits of a node, no limits, and limits that count points and are never reached. */
const LIMITS = {
  default: { points: 6_000, streams: 32, sockets: 256 },
  none: { points: 0, streams: 0, sockets: 0 },
  counted: { points: 1e12, streams: 32, sockets: 0 },
};

/** The results of a flood's requests since it began. */
export type FloodCounts = { answered: number; refused: number; closed: number };

/** Starts the API as a process of its own. */
export async function startServer(
  url: string,
  { isProxied, limits }: { isProxied: boolean; limits: keyof typeof LIMITS },
) {
  const args = [url, JSON.stringify(LIMITS[limits]), isProxied ? "1" : "0"];
  const server = start("tools/bench/api/apiServer.ts", args);
  const lines = createInterface({ input: server.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  return {
    port,
    /** The processor time that it has used, and the points that it has charged. */
    used: async (): Promise<{ cpuSeconds: number; points: number }> => {
      server.stdin.write("\n");
      return JSON.parse((await once(lines, "line"))[0]);
    },
    stop: () => end(server),
  };
}

/**
 * Starts the server for the control measurement. It gets the same flood, and answers without doing any work.
 */
export async function startSink(kind: FloodKind) {
  const sink = start("tools/bench/api/flood/sink.ts", [JSON.stringify(kind)]);
  const [line] = (await once(createInterface({ input: sink.stdout }), "line")) as [string];
  return { port: Number(line), stop: () => end(sink) };
}

/** Starts a flooding client. It sends nothing before the first call of `run`. */
export async function startFlooder(port: number, kind: FloodKind, address: string, isProxied: boolean) {
  const args = [
    String(port),
    isProxied ? "127.0.0.1" : address,
    isProxied ? address : "",
    JSON.stringify(kind),
  ];
  const flooder = start("tools/bench/api/flood/flooder.ts", args);
  const lines = createInterface({ input: flooder.stdout });
  await once(lines, "line");
  let last: FloodCounts = { answered: 0, refused: 0, closed: 0 };
  lines.on("line", (line) => {
    last = JSON.parse(line);
  });
  return {
    /** Begins, or continues after a pause. With 0 it sends as many requests a second as it can. */
    run: (perSecond = 0) => {
      flooder.kill("SIGCONT");
      flooder.stdin.write(`${perSecond}\n`);
    },
    counts: () => last,
    pause: () => void flooder.kill("SIGSTOP"),
    stop: () => end(flooder),
  };
}

function start(program: string, args: string[]) {
  return spawn(process.execPath, nodeProgram(program, args), { stdio: ["pipe", "pipe", "inherit"] });
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
