import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** One output of a seller, with its request. */
export type Sample = {
  capability: string;
  /** What the sample shows: `an Italian invoice`, `cut off after half`. */
  name: string;
  id: string;
  params: unknown;
  output: unknown;
  /** The check that must find the damage; absent if the output is good. */
  fails?: string;
  /** The oldest version of the checks that finds the damage. */
  version?: string;
};

type Json = { [key: string]: unknown };
type Good = { name: string; id: string; params: Json; output: Json };
type Damaged = Partial<Good> & {
  name: string;
  fails: string;
  version?: string;
  /** The good sample from which this one was made. It gives `id`, `params` and everything that `output` does not replace. */
  of?: string;
  /** The whole output, if even its shape is wrong. */
  instead?: unknown;
};

const FOLDER = path.join(repositoryRoot, "test/capabilities/samples");

/** Every committed sample, good ones first within a capability. `{"$png": file}` is read as the image in base 64. */
export function readSamples(): Sample[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json"));
  return files.sort().flatMap(readFile);
}

function readFile(file: string): Sample[] {
  const { capability, pass, fail } = withImages(
    JSON.parse(readFileSync(path.join(FOLDER, file), "utf8")),
  ) as { capability: string; pass: Good[]; fail: Damaged[] };
  const damaged = fail.map(({ of, instead, output, ...sample }) => {
    const origin = of === undefined ? undefined : pass.find(({ name }) => name === of);
    if (of !== undefined && !origin) throw new Error(`${file}: there is no good sample "${of}"`);
    const whole = instead === undefined ? { ...origin?.output, ...output } : instead;
    return { id: origin?.id, params: origin?.params, ...sample, output: whole } as Sample;
  });
  return [...pass, ...damaged].map((sample) => ({ ...sample, capability }));
}

function withImages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withImages);
  if (value === null || typeof value !== "object") return value;
  const image = (value as Json).$png;
  if (typeof image === "string") return readFileSync(path.join(FOLDER, "images", image)).toString("base64");
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withImages(inner)]));
}
