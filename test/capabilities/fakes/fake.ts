import { readSamples, type Sample } from "../../../tools/samples/readSamples.ts";

/** A result that a cheating seller may send. `passes` marks a fake that the checks cannot find. */
export type Fake = {
  name: string;
  id: string;
  params: unknown;
  output: unknown;
  verdict: "refused" | "passes";
};

const samples = readSamples().filter(({ fails }) => fails === undefined);

/** A good sample of an id, by its position among the good samples. */
export function good(id: string, at = 0): Sample {
  const own = samples.filter((sample) => sample.id === id || sample.capability === id);
  const sample = own[at];
  if (!sample) throw new Error(`${id} has no good sample ${at}`);
  return sample;
}

/** A good sample with other output. */
export function instead(
  of: Sample,
  name: string,
  output: { [key: string]: unknown },
  verdict: Fake["verdict"] = "refused",
): Fake {
  return { name, id: of.id, params: of.params, output: { ...(of.output as object), ...output }, verdict };
}
