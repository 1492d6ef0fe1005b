import { expect } from "chai";
import { loadCatalogue } from "tallystick-capabilities/catalogue";
import { capabilityProblem, findFamily, taxonomy } from "tallystick-capabilities/taxonomy";
import { readSamples } from "../../tools/samples/readSamples.ts";

describe("the taxonomy of capabilities", () => {
  it("has a definition for each family, in the same order", async () => {
    const catalogue = await loadCatalogue();
    expect(catalogue.map(({ id }) => id)).to.deep.equal(taxonomy.map(({ id }) => id));
  });

  it("knows the id of every sample, and its family", () => {
    for (const { id, capability } of readSamples()) {
      expect(findFamily(id)?.family.id, id).to.equal(capability);
      expect(capabilityProblem(id), id).to.equal(undefined);
    }
  });

  it("gives the values of an id's placeholders", () => {
    expect(findFamily("audio.transcribe.it.json-with-timestamps")?.parts).to.deep.equal({ language: "it" });
    expect(findFamily("embed.text.anything")?.parts).to.deep.equal({ model: "anything" });
    expect(findFamily("compute.math.numeric")?.parts).to.deep.equal({});
    expect(findFamily("embed.text.A B"), "no capability id").to.equal(undefined);
  });

  it("lists the possible values when a value does not belong to the family", () => {
    expect(capabilityProblem("image.upscale.3x")).to.deep.equal({
      message: "is no standard capability: image.upscale.{factor} has no factor 3x",
      hint: "{factor} is 2x, 4x; other ids begin with custom.",
    });
    expect(capabilityProblem("text.translate.en.it.rude")?.message).to.contain("has no level rude");
  });

  it("finds no family for ids with the names of properties that every object has", () => {
    for (const id of ["text.summarize.constructor", "text.rewrite.__proto__", "image.upscale.tostring"]) {
      expect(findFamily(id), id).to.equal(undefined);
      expect(capabilityProblem(id), id).not.to.equal(undefined);
    }
  });
});
