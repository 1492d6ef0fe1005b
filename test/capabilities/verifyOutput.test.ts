import { expect } from "chai";
import * as fc from "fast-check";
import { capabilityOf, findCapability } from "tallystick-capabilities/capabilityOf";
import type { CapabilityInput, CapabilityOutput } from "tallystick-capabilities/capabilityTypes";
import { loadCatalogue, loadFamily } from "tallystick-capabilities/catalogue";
import { checkInput } from "tallystick-capabilities/checkInput";
import { type FamilyId, taxonomy } from "tallystick-capabilities/taxonomy";
import { toWireVerification } from "tallystick-capabilities/verification";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { readSamples } from "../../tools/samples/readSamples.ts";

const mean = "compute.statistics.mean";
const codeOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run();
  } catch (error) {
    if (error instanceof TallystickError) return error.code;
    throw error;
  }
  return "none";
};

describe("capabilityOf", () => {
  it("finds the family of an id, with the values of its placeholders", async () => {
    const found = await findCapability("text.translate.en.it.business");
    expect(found?.capability.id).to.equal("text.translate");
    expect(found?.parts).to.deep.equal({ source: "en", target: "it", level: "business" });
    expect(await capabilityOf("text.translate.en.it.business")).to.equal(found?.capability);
  });

  it("finds no family for an id with a language, register or operation that is not listed", async () => {
    for (const id of ["text.translate.en.xx", "text.translate.en.it.rude", "compute.statistics.mode"]) {
      expect(await capabilityOf(id)).to.equal(undefined);
    }
  });

  it("finds no family for an id that is longer, shorter or spelled differently", async () => {
    for (const id of ["text.translate", `${mean}.fast`, "Compute.Statistics.Mean", "compute..mean", ""]) {
      expect(await capabilityOf(id)).to.equal(undefined);
    }
  });

  it("finds only one family for each id", async () => {
    const catalogue = await loadCatalogue();
    for (const { id } of readSamples()) {
      const families = catalogue.filter((capability) =>
        capability.patterns.some((pattern) => {
          const expression = pattern.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, (_, name: string) => {
            const allowed = capability.values[name];
            return allowed ? `(${allowed.join("|")})` : "[^.]+";
          });
          return new RegExp(`^${expression}$`).test(id);
        }),
      );
      expect(families.length, id).to.equal(1);
    }
  });
});

describe("loadFamily", () => {
  it("says that a definition is unavailable, which says nothing about a result", async () => {
    const error = await loadFamily("text.sing" as FamilyId).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(TallystickError).with.property("code", "capability_unavailable");
    const { message, hint, cause } = error as TallystickError;
    expect(message).to.equal(
      `The definition of text.sing could not be loaded: ${(cause as TypeError).message}`,
    );
    expect(hint).to.equal("Try again. If the page was published again since you opened it, reload it.");
  });

  it("gives each family's definition, with its ids and with rules for its input", async () => {
    for (const family of taxonomy) {
      const capability = await loadFamily(family.id);
      const { id, patterns, values } = capability;
      expect({ id, patterns, values, versions: capability.versions }).to.deep.equal(family);
      expect(capability.inputRules, family.id).to.be.a("function");
    }
    const without = await loadFamily("embed.text");
    expect(without.inputRules({} as never, {})).to.deep.equal([]);
  });
});

describe("checkInput", () => {
  it("names the wrong field", async () => {
    const error = await checkInput(mean, { data: [1, "two"] }).catch((caught) => caught);
    expect(error).to.be.instanceOf(InvalidInputError).with.property("code", "invalid_params");
    expect(error.message).to.contain("params.data.1");
  });

  it("applies the rules that a schema cannot express", async () => {
    const run = () => checkInput("compute.statistics.stddev", { data: [1] });
    expect(await codeOf(run)).to.equal("invalid_params");
    await checkInput(mean, { data: [1] });
  });

  it("refuses unknown standard ids, and lists the known ones", async () => {
    const caught = await checkInput("text.sing.it", { text: "la" }).catch((error: unknown) => error);
    expect((caught as TallystickError).code).to.equal("unknown_capability");
    expect((caught as TallystickError).hint).to.contain("text.translate.{source}.{target}");
    expect(await codeOf(() => checkInput("custom.acme.sing", {}))).to.equal("custom_capability");
    expect(await codeOf(() => checkInput("Not An Id", {}))).to.equal("invalid_capability");
  });
});

describe("verifyOutput", () => {
  it("gives the checks in the forms of a receipt and of an answer", async () => {
    const verification = await verifyOutput(mean, { data: [1, 2] }, { result: 1.6 });
    expect(verification.checks).to.deep.equal({
      matches_schema: true,
      is_possible: true,
      matches_recomputation: false,
    });
    const wire = toWireVerification(verification);
    expect(wire.all_passed).to.equal(false);
    expect(wire.checks.at(-1)).to.deep.equal({
      name: "matches_recomputation",
      passed: false,
      detail: "is not 1.5",
    });
  });

  it("counts all other checks as failed when the result does not fit the schema", async () => {
    const { checks } = await verifyOutput(mean, { data: [1] }, "1");
    expect(Object.values(checks)).to.deep.equal([false, false, false]);
  });

  it("applies only the checks of the requested version", async () => {
    const old = await verifyOutput(mean, { data: [1, 2] }, { result: 1.6 }, "v0");
    expect(old).to.deep.equal({
      all_passed: true,
      checks: { matches_schema: true, is_possible: true },
      details: {},
    });
  });

  it("reads a picture or a drawing once, and says of each check why it cannot be read", async () => {
    const asked = { prompt: "a", width: 64, height: 64 };
    const picture = await verifyOutput("image.generate.photorealistic.png", asked, {
      ...{ image_b64: "!", width: 64, height: 64 },
    });
    const { matches_schema: fits, ...others } = picture.checks;
    expect([fits, new Set(Object.values(others))]).to.deep.equal([true, new Set([false])]);
    expect(new Set(Object.values(picture.details))).to.deep.equal(new Set(["is no base 64"]));
    const drawing = (svg: string) =>
      verifyOutput("image.generate.illustration.svg", { prompt: "a" }, { svg });
    const broken = await drawing("<svg");
    expect(broken.details.is_svg).to.match(/^is no well-formed XML: /);
    expect(new Set(Object.values(broken.details)).size).to.equal(1);
    const circles = '<circle cx="50" cy="50" r="20"/>'.repeat(3);
    const good = await drawing(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${circles}</svg>`,
    );
    expect(good.details).to.deep.equal({});
  });

  it("reads a drawing as often for all its checks as for those of the first version", async () => {
    const readsOf = async (version: string): Promise<number> => {
      let reads = 0;
      const output = {
        get svg() {
          reads++;
          return '<svg xmlns="http://www.w3.org/2000/svg"/>';
        },
      };
      const { checks } = await verifyOutput(
        "image.generate.illustration.svg",
        { prompt: "a" },
        output,
        version,
      );
      expect(Object.keys(checks)).to.have.length(version === "v0" ? 5 : 9);
      return reads;
    };
    expect(await readsOf("v1")).to.equal(await readsOf("v0"));
  });

  it("refuses unknown versions", async () => {
    for (const version of ["v2", "1", "v01", "latest"]) {
      const error = await verifyOutput(mean, { data: [1] }, { result: 1 }, version).catch((caught) => caught);
      expect(error.code).to.equal("unknown_verification_version");
    }
  });

  it("never throws for any result, and gives the same verification twice", async () => {
    const ids = [...new Map(readSamples().map((sample) => [sample.capability, sample])).values()];
    const output = fc.oneof(fc.anything(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ids), output, async ({ id, params }, value) => {
        const first = await verifyOutput(id, params, value);
        expect(await verifyOutput(id, params, value)).to.deep.equal(first);
      }),
      { numRuns: 300 },
    );
  });

  it("fails a result that throws while it is read", async () => {
    const trap = Object.defineProperty({}, "result", {
      enumerable: true,
      get: () => {
        throw new Error("gotcha");
      },
    });
    expect((await verifyOutput(mean, { data: [1] }, trap)).all_passed).to.equal(false);
    const circle: { result?: unknown } = {};
    circle.result = circle;
    expect((await verifyOutput(mean, { data: [1] }, circle)).all_passed).to.equal(false);
  });
});

describe("the types of capabilities", () => {
  it("equal the types of the schemas", () => {
    const params: CapabilityInput<"compute.statistics.mean"> = { data: [1, 2] };
    const chart: CapabilityOutput<"chart.generate.from-data"> = {
      image_b64: "",
      width: 1,
      height: 1,
      chart_type: "bar",
    };
    const translation: CapabilityOutput<"text.translate.en.it"> = { text: "ciao" };
    // @ts-expect-error: only numbers are allowed
    const wrong: CapabilityInput<"compute.statistics.mean"> = { data: ["1"] };
    const other: CapabilityInput<"custom.acme.ocr"> = { anything: true };
    expect([params, chart, translation, wrong, other]).to.have.length(5);
  });
});
