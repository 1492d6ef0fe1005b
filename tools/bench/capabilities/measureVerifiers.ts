import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { checksOf, verifyOutput } from "tallystick-capabilities/verifyOutput";
import { newestVersion } from "tallystick-capabilities/versions";
import { readSamples, type Sample } from "../../samples/readSamples.ts";

/** One capability's line of the verifier table. */
export type VerifierFigures = {
  id: string;
  checks: number;
  /** How many good samples were accepted, and how many there are. */
  accepted: number;
  good: number;
  /** How many damaged samples were refused, and how many there are. */
  refused: number;
  damaged: number;
  /** The slowest sample, by the best of its runs, in milliseconds of wall time. */
  slowestMs: number;
};

/** Runs every committed sample through its verifier, `runs` times. */
export async function measureVerifiers(runs = 3): Promise<VerifierFigures[]> {
  const samples = readSamples();
  const figures: VerifierFigures[] = [];
  for (const capability of await loadCatalogue()) {
    const own = samples.filter((sample) => sample.capability === capability.id);
    const row: VerifierFigures = {
      id: capability.id,
      checks: checksOf(capability, newestVersion(capability)).length + 1,
      accepted: 0,
      good: 0,
      refused: 0,
      damaged: 0,
      slowestMs: 0,
    };
    for (const sample of own) {
      const { passed, milliseconds } = await measure(sample, runs);
      row.slowestMs = Math.max(row.slowestMs, milliseconds);
      if (sample.fails === undefined) {
        row.good++;
        if (passed) row.accepted++;
      } else {
        row.damaged++;
        if (!passed) row.refused++;
      }
    }
    figures.push(row);
  }
  return figures;
}

async function measure(
  { id, params, output }: Sample,
  runs: number,
): Promise<{ passed: boolean; milliseconds: number }> {
  let milliseconds = Number.POSITIVE_INFINITY;
  let passed = false;
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    passed = (await verifyOutput(id, params, output)).all_passed;
    milliseconds = Math.min(milliseconds, performance.now() - started);
  }
  return { passed, milliseconds };
}
