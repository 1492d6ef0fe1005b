import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { makeChartSamples } from "./makeChartSamples.ts";
import { makeImageSamples } from "./makeImageSamples.ts";

/** Generates the sample images again: `node tools/samples/makeSamples.ts`. */
const folder = path.join(repositoryRoot, "test/capabilities/samples/images");
mkdirSync(folder, { recursive: true });
for (const [file, bytes] of Object.entries({ ...makeChartSamples(), ...makeImageSamples() })) {
  writeFileSync(path.join(folder, file), bytes);
}
