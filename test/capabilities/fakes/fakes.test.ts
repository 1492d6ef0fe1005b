import { expect } from "chai";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { checkInput } from "tallystick-capabilities/checkInput";
import { findFamily } from "tallystick-capabilities/taxonomy";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { dataFakes } from "./dataFakes.ts";
import type { Fake } from "./fake.ts";
import { pictureFakes } from "./pictureFakes.ts";
import { textFakes } from "./textFakes.ts";

const fakes: Fake[] = [...pictureFakes, ...textFakes, ...dataFakes];

describe("fakes of results", () => {
  it("exist for almost every capability, and some of them pass, which shows the limits of the checks", async () => {
    expect(fakes.length).to.be.at.least(185);
    expect(fakes.filter(({ verdict }) => verdict === "passes").length).to.be.within(15, fakes.length / 4);
    const families = new Set(fakes.map(({ id }) => findFamily(id)?.family.id));
    const without = (await loadCatalogue()).map(({ id }) => id).filter((id) => !families.has(id));
    // These two need no fakes. The check of an enlarged image compares it with the original. A GeoJSON result has the
    // same checks as a JSON result.
    expect(without).to.deep.equal(["image.upscale", "data.lookup.weather.geojson"]);
  });

  for (const { name, id, params, output, verdict } of fakes) {
    it(`${verdict === "passes" ? "pass, because the checks cannot find them" : "are refused"}: ${id}, ${name}`, async () => {
      await checkInput(id, params);
      const { all_passed, details } = await verifyOutput(id, params, output);
      expect(all_passed ? "passes" : "refused", JSON.stringify(details)).to.equal(verdict);
      // A fake must fit the schema. Otherwise the test shows nothing about the other checks.
      if (!all_passed) expect(details).not.to.have.property("matches_schema");
    });
  }
});
