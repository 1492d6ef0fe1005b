import { readFileSync } from "node:fs";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { costOf, mostOf, tierOf } from "../../services/dispatch/models/modelTable.ts";
import { openModel } from "../../services/dispatch/models/openModel.ts";
import { readModels } from "../../services/dispatch/models/readModels.ts";
import { modelsYaml, SHADOW } from "./support/dispatchScene.ts";

const YAML = modelsYaml("http://127.0.0.1:11434/v1", SHADOW);
const refusal = (yaml: string): InvalidInputError => {
  try {
    readModels(yaml);
  } catch (error) {
    return error as InvalidInputError;
  }
  throw new Error("nothing was refused");
};

describe("models.yaml", () => {
  it("is read with exact prices, with and without quotation marks", () => {
    const { models, tiers, dated } = readModels(
      YAML.replace("input: 0.1,", "input: 0.100001, cached_input: '0.01',"),
    );
    expect(dated).to.equal("2026-11-01");
    expect(models.get("small")?.prices).to.deep.equal({
      input: 100_001n,
      cachedInput: 10_000n,
      output: 400_000n,
      reasoning: 400_000n,
    });
    expect(tiers.premium.map(({ name }) => name)).to.deep.equal(["large"]);
  });

  it("gives each kind of token its own price", () => {
    const prices = { input: 10n, cachedInput: 1n, output: 40n, reasoning: 50n };
    expect(costOf({ input: 100, cachedInput: 60, output: 20, reasoning: 5 }, prices)).to.equal(
      400n + 60n + 600n + 250n,
    );
    expect(mostOf({ input: 100, output: 20 }, prices)).to.equal(1_000n + 1_000n);
    expect([0, 0.299, 0.3, 0.699, 0.7, 1].map(tierOf)).to.deep.equal([
      "thrifty",
      "thrifty",
      "standard",
      "standard",
      "premium",
      "premium",
    ]);
  });

  const lineOf = (text: string): number => YAML.split("\n").findIndex((line) => line.includes(text)) + 1;
  const faults: [string, (yaml: string) => string, number, string][] = [
    [
      "an invalid price",
      (it) => it.replace("input: 5,", "input: five,"),
      lineOf("input: 5,"),
      "models.large.prices.input",
    ],
    [
      "a negative price",
      (it) => it.replace("input: 5,", "input: -5,"),
      lineOf("input: 5,"),
      "must be a price",
    ],
    [
      "an unknown model",
      (it) => it.replace("premium: [large]", "premium: [huge]"),
      lineOf("premium: ["),
      "huge is not listed",
    ],
    [
      "an unknown key of a model",
      (it) => it.replace("family: a", "familly: a"),
      lineOf("  small:") + 1,
      "models.small",
    ],
    [
      "an unknown provider",
      (it) => it.replace("provider: openai-compatible", "provider: acme"),
      lineOf("provider:"),
      "provider",
    ],
    [
      "a missing tier",
      (it) => it.replace("  thrifty: [small]\n", ""),
      lineOf("  thrifty"),
      "tiers.thrifty: is required",
    ],
    [
      "a shadow of the same family",
      (it) => it.replace("family: c", "family: b"),
      lineOf("shadow:"),
      "no model of another family",
    ],
    [
      "more output tokens than context",
      (it) => it.replace("output: 500", "output: 50000"),
      lineOf("output: 500"),
      "more than the context",
    ],
    [
      "a private key in place of a vendor's key",
      (it) => it.replace("id: small", "id: small\n    api_key_env: ANCHOR_PRIVATE_KEY"),
      lineOf("id: small") + 1,
      "_API_KEY",
    ],
    [
      "another service's key in place of a vendor's key",
      (it) => it.replace("id: small", "id: small\n    api_key_env: TALLYSTICK_API_KEY"),
      lineOf("id: small") + 1,
      "to no vendor",
    ],
    [
      "a key over plain http",
      (it) =>
        it.replace(
          "base_url: http://127.0.0.1:11434/v1",
          "base_url: http://example.org/v1\n    api_key_env: A_API_KEY",
        ),
      lineOf("base_url"),
      "must be https",
    ],
    [
      "a password in an address",
      (it) => it.replace("http://127.0.0.1", "http://me:pw@127.0.0.1"),
      lineOf("base_url"),
      "no password",
    ],
    ["the same model twice", (it) => it.replace("  middle:", "  small:"), lineOf("  middle:"), "unique"],
    ["a text that is not YAML", (it) => it.replace("tiers:", "tiers: ["), lineOf("tiers:") + 2, ""],
  ];
  for (const [what, damage, line, message] of faults) {
    it(`is refused with the line of ${what}`, () => {
      const damaged = damage(YAML);
      expect(damaged).not.to.equal(YAML);
      const error = refusal(damaged);
      expect(error).to.be.instanceOf(InvalidInputError).with.property("code", "invalid_models");
      const told = error.issues.map((issue) => `${issue.field}: ${issue.message}`).join("\n");
      expect(told).to.contain(message);
      expect(told).to.match(new RegExp(`models.yaml line ${line}\\b`));
    });
  }

  it("is refused if its aliases expand too much, or if it is too long", () => {
    const bomb = Array.from(
      { length: 12 },
      (_, at) => `a${at}: &a${at} [${at ? `*a${at - 1},`.repeat(9) : "1,"}]`,
    ).join("\n");
    expect(refusal(bomb).message).to.match(/alias/i);
    expect(refusal(`# ${"x".repeat(300_000)}`).message).to.contain("longer than");
  });

  it("is refused with the name of the variable if a key is missing", () => {
    const { models } = readModels(YAML.replace("id: small", "id: small\n    api_key_env: MY_API_KEY"));
    expect(() => openModel(models.get("small") as never, {}))
      .to.throw(InvalidInputError)
      .with.property("field", "MY_API_KEY");
  });

  it("can be the published example", () => {
    const { tiers, shadow } = readModels(
      readFileSync(`${repositoryRoot}/services/dispatch/models.example.yaml`, "utf8"),
    );
    expect(tiers.thrifty.length).to.be.above(0);
    expect(shadow?.models.length).to.be.above(0);
  });
});
