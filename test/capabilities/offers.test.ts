import { expect } from "chai";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import { checkInput } from "tallystick-capabilities/checkInput";
import { offerProblem } from "tallystick-capabilities/offerProblem";
import { capabilityProblem } from "tallystick-capabilities/taxonomy";
import { toWireVerification } from "tallystick-capabilities/verification";
import { checksOf, verifyOutput } from "tallystick-capabilities/verifyOutput";
import { currentVersion, minVerificationVersion } from "tallystick-capabilities/versions";
import { InvalidInputError, type TallystickError } from "tallystick-protocol/errors";
import { type Listing, parseListing } from "tallystick-protocol/records/listing";

const refusal = async (run: () => unknown): Promise<TallystickError> => {
  try {
    await run();
  } catch (error) {
    return error as TallystickError;
  }
  throw new Error("nothing was refused");
};
const mean = "compute.statistics.mean";

describe("a new offer", () => {
  const offer = (more: object = {}): Listing =>
    parseListing({
      agent_id: `0x${"aa".repeat(20)}`,
      capability: mean,
      price_usdc: "0.50",
      max_latency_ms: 1_000,
      endpoint: "https://a.example",
      ...more,
    });
  const now = 1_800_000_000;

  it("is of a standard capability, or of custom work, which alone can be clarified", () => {
    for (const good of [
      {},
      { verification_version: "v0" },
      { verification_version: "v1" },
      { capability: "custom.acme.ocr", clarification_supported: true, verification_version: "any" },
    ])
      expect(offerProblem(offer(good), now), JSON.stringify(good)).to.deep.equal({ issues: [] });
    expect(offerProblem(offer({ clarification_supported: true }), now)).to.deep.equal({
      issues: [
        {
          field: "clarification_supported",
          message: "must be false for a standard capability; only custom.* is clarified",
        },
      ],
    });
    const unknown = offer({ capability: "compute.statistics.mode", clarification_supported: true });
    const { message, hint } = capabilityProblem(unknown.capability) as { message: string; hint: string };
    const { issues, ...rest } = offerProblem(unknown, now, "body.");
    expect(rest).to.deep.equal({ code: "unknown_capability", hint });
    expect(issues.map(({ field }) => field)).to.deep.equal([
      "body.capability",
      "body.clarification_supported",
    ]);
    expect(issues[0]?.message).to.equal(message);
  });

  it("names a version that exists and was not replaced long ago, unless it is taken down", () => {
    const wrong = (version: string, message: string) =>
      expect(offerProblem(offer({ verification_version: version }), now, "body.")).to.deep.equal({
        issues: [{ field: "body.verification_version", message }],
      });
    wrong("v2", "must be one of v0, v1 for compute.statistics");
    wrong("v01", "must be one of v0, v1 for compute.statistics");
    const last = 1_795_132_800 + 90 * 86_400;
    const old = offer({ verification_version: "v0" });
    expect(offerProblem(old, last)).to.deep.equal({ issues: [] });
    expect(offerProblem(old, last + 1).issues[0]?.message).to.equal(
      "may no longer be v0, which was replaced more than 90 days ago; it is v1 now",
    );
    const broken = { verification_version: "v9", clarification_supported: true, capability: "text.none" };
    expect(offerProblem(offer({ ...broken, retired: true }), now)).to.deep.equal({ issues: [] });
    const unknown = offerProblem(offer({ capability: "text.none", verification_version: "v9" }), now);
    expect(unknown.issues.map(({ field }) => field)).to.deep.equal(["capability"]);
  });
});

describe("the capability of a hire", () => {
  it("is refused with advice if it is custom, unknown or no id", async () => {
    expect(await refusal(() => requireCapability("custom.acme.ocr"))).to.include({
      code: "custom_capability",
      message: "custom.acme.ocr has the schemas that its seller publishes.",
      hint: "Fetch these schemas from ENDPOINT/capabilities/ID/schema and use verifyCustomOutput.",
      field: "capability",
    });
    expect(await refusal(() => requireCapability("image.upscale.3x"))).to.include({
      code: "unknown_capability",
      message: "image.upscale.3x is no standard capability: image.upscale.{factor} has no factor 3x.",
      hint: "{factor} is 2x, 4x; other ids begin with custom.",
      field: "capability",
    });
    const none = await refusal(() => requireCapability("Not An Id"));
    expect(none).to.be.instanceOf(InvalidInputError);
    expect((none as InvalidInputError).issues).to.deep.equal([
      {
        field: "capability",
        message: "must be lower-case segments joined by dots, like text.translate.en.it",
      },
    ]);
    expect(none.code).to.equal("invalid_capability");
  });

  it("is explained by the ids that begin like it, or else by all ids", () => {
    const message = "is no standard capability, and does not begin with `custom.`";
    expect(capabilityProblem("embed.video")).to.deep.equal({
      message,
      hint: "There is embed.text.{model}; others begin with custom.",
    });
    expect(capabilityProblem("classify.text.joy")?.hint).to.equal(
      "There is classify.text.sentiment, classify.text.toxicity; others begin with custom.",
    );
    const all = capabilityProblem("song.sing");
    expect(all?.message).to.equal(message);
    for (const pattern of [
      "embed.text.{model}",
      "text.translate.{source}.{target}",
      "code.review.{language}",
    ])
      expect(all?.hint).to.contain(pattern);
    expect(capabilityProblem("custom.acme.ocr")).to.equal(undefined);
    expect(capabilityProblem(mean)).to.equal(undefined);
    expect(capabilityProblem("text.translate.en.it.rude")?.message).to.equal(
      "is no standard capability: text.translate.{source}.{target}.{level} has no level rude",
    );
  });

  it("decides about the input by its schema first, and then by its rules", async () => {
    const issues = async (params: unknown) => {
      const error = (await refusal(() =>
        checkInput("compute.statistics.variance", params),
      )) as InvalidInputError;
      expect(error.code).to.equal("invalid_params");
      return error.issues.map(({ field }) => field);
    };
    expect(await issues({ data: ["a"] })).to.deep.equal(["params.data.0"]);
    expect(await issues({ data: [1] })).to.deep.equal(["params.data"]);
  });
});

describe("the verification of a result", () => {
  it("says why no check ran, or what is no JSON", async () => {
    const misfit = await verifyOutput(mean, { data: [1] }, {});
    expect(Object.keys(misfit.checks)).to.deep.equal([
      "matches_schema",
      "is_possible",
      "matches_recomputation",
    ]);
    expect(misfit.details.matches_schema).to.match(/^output(\.result)?: ./);
    expect(misfit.details.is_possible).to.equal("not run: the schema does not fit");
    const params = await verifyOutput(mean, { data: ["a"] }, { result: 1 });
    expect(params.details.matches_schema).to.match(/^params\.data\.0: ./);
    for (const [thrown, words] of [
      [new Error("gotcha"), "is no JSON: gotcha"],
      [new Error(""), "is no JSON: the check itself failed"],
      ["text", "is no JSON: the check itself failed"],
    ] as const) {
      const trap = Object.defineProperty({}, "result", {
        enumerable: true,
        get: () => {
          throw thrown;
        },
      });
      expect((await verifyOutput(mean, { data: [1] }, trap)).details.matches_schema).to.equal(words);
    }
  });

  it("shortens its explanations, and what they quote", async () => {
    const unknown = { data: [1], ["k".repeat(500)]: 1 };
    expect((await verifyOutput(mean, unknown, { result: 1 })).details.matches_schema).to.have.length(300);
    const long = { fields: ["x".repeat(64)], url: "https://a.example" };
    const output = {
      url: `https://b.example/${"a".repeat(400)}`,
      extracted: {},
      confidence: 1,
      extracted_at: "x",
    };
    const { details } = await verifyOutput("data.extract.from-url", long, output);
    expect(details.is_of_the_asked_page).to.have.length("is of ".length + 200);
    const title = `<b>${"t".repeat(40)}</b>`;
    const url = `https://a.example/${"a".repeat(400)}`;
    const found = await verifyOutput(
      "data.lookup.web-search",
      { query: "x" },
      { results: [{ url, title, snippet: "" }] },
    );
    expect(found.details.has_titles).to.equal(`${url.slice(0, 80)} has no title, or markup in it`);
    const code = `print("${"y".repeat(200)}")`;
    const run = { stdout: "", stderr: "", exit_code: 0, duration_ms: 0, truncated: false };
    const printed = await verifyOutput("code.execute.sandboxed", { code }, run);
    expect(printed.details.printed_what_it_must).to.equal(`does not print "${"y".repeat(80)}"`);
  });

  it("is that of a version that its capability has", async () => {
    const { capability } = await requireCapability(mean);
    expect(await refusal(() => checksOf(capability, "v9"))).to.include({
      code: "unknown_verification_version",
      message: "compute.statistics has no verification version v9.",
      hint: "It has v0 and v1.",
      field: "verification_version",
    });
    expect(checksOf(capability, "v0").map(([name]) => name)).to.deep.equal(["is_possible"]);
    expect(checksOf(capability, "v1").map(([name]) => name)).to.deep.equal([
      ...["is_possible", "matches_recomputation"],
    ]);
    expect([currentVersion({ versions: [] }, 0), minVerificationVersion({ versions: [] }, 0)]).to.deep.equal([
      ...["v0", "v0"],
    ]);
  });

  it("has a detail in its wire form only for a check that has one", () => {
    expect(
      toWireVerification({ all_passed: false, checks: { a: true, b: false }, details: { b: "no" } }),
    ).to.deep.equal({
      all_passed: false,
      checks: [
        { name: "a", passed: true },
        { name: "b", passed: false, detail: "no" },
      ],
    });
  });
});
