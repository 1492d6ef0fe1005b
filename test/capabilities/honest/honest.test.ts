import { expect } from "chai";
import { checkInput } from "tallystick-capabilities/checkInput";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { honestResults } from "./honestResults.ts";

describe("honest results from many countries", () => {
  for (const { name, id, params, output } of honestResults) {
    it(`pass: ${id}, ${name}`, async () => {
      await checkInput(id, params);
      const { all_passed, details } = await verifyOutput(id, params, output);
      expect(all_passed, JSON.stringify(details)).to.equal(true);
    });
  }
});
