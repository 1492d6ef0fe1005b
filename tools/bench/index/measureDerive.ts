import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { openNodeSnapshot } from "../../../indexer/nodeDatabase.ts";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";

export type DeriveFigures = {
  events: number;
  seconds: number;
  cpuSeconds: number;
  peakMegabytes: number;
  digest: string | null;
};

/** Writes a node's event log to a file, as `tallystick export` does. Returns its last digest. */
export async function exportLog(
  databaseUrl: string,
  databaseSchema: string,
  file: string,
): Promise<string | null> {
  const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema });
  try {
    const lines = async function* () {
      for await (const json of snapshot.eventLog()) yield `${json}\n`;
    };
    await pipeline(Readable.from(lines()), createWriteStream(file));
    for await (const state of snapshot.rows("state")) return state.digest;
    return null;
  } finally {
    await snapshot.close();
  }
}

/** Measures what `tallystick derive` does, without starting the program and printing. */
export async function measureDerive(file: string, trustSignatures: boolean): Promise<DeriveFigures> {
  const args = nodeProgram("tools/bench/index/deriveProgram.ts", [
    file,
    ...(trustSignatures ? ["trust"] : []),
  ]);
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: childEnvironment() });
  return JSON.parse(stdout);
}
