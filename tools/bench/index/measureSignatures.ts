import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Progress } from "../../../scripts/cli/progress.ts";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { writeLog } from "../derive/writeLog.ts";
import { measureDerive } from "./measureDerive.ts";
import type { WorldSize } from "./world.ts";

/** Seconds. `bare`: the recovery of all signers on all cores, and nothing else. `derived`: a derivation that recovers them. */
export type SignatureFigures = { records: number; bare: number; derived: number };

const RUNS = 3;

/** Takes the best of some runs of each kind. The two kinds take turns. */
export async function measureSignatures(size: WorldSize, progress: Progress): Promise<SignatureFigures> {
  const folder = await mkdtemp(path.join(tmpdir(), "tallystick-signatures-"));
  try {
    const file = path.join(folder, "log.jsonl");
    await progress.step("log", async () => ({ value: await writeLog(size, file) }));
    const best: SignatureFigures = {
      records: 0,
      bare: Number.POSITIVE_INFINITY,
      derived: Number.POSITIVE_INFINITY,
    };
    for (let run = 1; run <= RUNS; run++) {
      await progress.step(`run ${run} of ${RUNS}`, async () => {
        const bare = await recoverAll(file);
        const { seconds } = await measureDerive(file, false);
        best.records = bare.records;
        best.bare = Math.min(best.bare, bare.seconds);
        best.derived = Math.min(best.derived, seconds);
        return { value: null, detail: `${bare.seconds.toFixed(1)} s bare, ${seconds.toFixed(1)} s derived` };
      });
    }
    return best;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Recovers the signers on all cores. Each core recovers its share of them. */
async function recoverAll(file: string): Promise<{ records: number; seconds: number }> {
  const parts = availableParallelism();
  const all = await Promise.all(
    Array.from({ length: parts }, async (_, part) => {
      const args = nodeProgram("tools/bench/index/signaturesProgram.ts", [file, String(part), String(parts)]);
      const { stdout } = await promisify(execFile)(process.execPath, args, { env: childEnvironment() });
      return JSON.parse(stdout) as { records: number; seconds: number };
    }),
  );
  return {
    records: all.reduce((sum, it) => sum + it.records, 0),
    seconds: Math.max(...all.map(({ seconds }) => seconds)),
  };
}
