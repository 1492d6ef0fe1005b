import { expect } from "chai";
import { checkInput } from "tallystick-capabilities/checkInput";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { honestCharts } from "./honestCharts.ts";
import { honestPlaces } from "./honestPlaces.ts";
import { honestPrograms } from "./honestPrograms.ts";
import { honestRest } from "./honestRest.ts";
import { honestResults } from "./honestResults.ts";
import { honestTexts } from "./honestTexts.ts";

const all = [
  ...honestResults,
  ...honestTexts,
  ...honestPlaces,
  ...honestPrograms,
  ...honestCharts,
  ...honestRest,
];

describe("honest results from many countries", () => {
  for (const { name, id, params, output } of all) {
    it(`pass: ${id}, ${name}`, async () => {
      await checkInput(id, params);
      const { all_passed, details } = await verifyOutput(id, params, output);
      expect(all_passed, JSON.stringify(details)).to.equal(true);
    });
  }
});
