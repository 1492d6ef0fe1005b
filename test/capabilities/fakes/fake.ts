import { readSamples, type Sample } from "../../../tools/samples/readSamples.ts";

/** A result that a dishonest seller may send. The checks cannot find a fake with the verdict `passes`. */
export type Fake = {
  name: string;
  id: string;
  params: unknown;
  output: unknown;
  verdict: "refused" | "passes";
};

const samples = readSamples().filter(({ fails }) => fails === undefined);

/** The good sample of an id at this position among its good samples. */
export function good(id: string, at = 0): Sample {
  const own = samples.filter((sample) => sample.id === id || sample.capability === id);
  const sample = own[at];
  if (!sample) throw new Error(`${id} has no good sample ${at}`);
  return sample;
}

/** A fake that has the params of a good sample and other output. */
export function instead(
  of: Sample,
  name: string,
  output: { [key: string]: unknown },
  verdict: Fake["verdict"] = "refused",
): Fake {
  return { name, id: of.id, params: of.params, output: { ...(of.output as object), ...output }, verdict };
}
