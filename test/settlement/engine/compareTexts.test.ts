import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { compareTexts } from "../../../services/settlement/engine/compareTexts.ts";
import { divergence } from "../../../services/settlement/engine/divergence.ts";
import { areEqualTexts, type ComparatorName } from "../../../services/settlement/engine/textComparators.ts";
import { anyPyJson } from "../../support/arbitraries.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService } from "../support/testService.ts";

const A = "The invoice of March was paid late, so a fee of 12.50 applies.";
const PARAPHRASE = "A fee of 12.50 applies, so the March invoice was paid late.";

describe("comparators for free text", () => {
  const cases: [ComparatorName, string, string, boolean][] = [
    ["exact", "a", "a", true],
    ["exact", "a", "A", false],
    ["normalised", "It  is\n“good”.", "it is good", true],
    ["normalised", "ﬁne", "fine", true],
    ["normalised", "good is it", "it is good", false],
    ["normalised", "!", "?", false],
    ["normalised", "1.5", "15", false],
    ["overlap/1", A, PARAPHRASE, true],
    ["overlap/1", A, PARAPHRASE.replace("12.50", "125.0"), false],
    ["overlap/1", A, PARAPHRASE.replace("was", "was not"), false],
    ["overlap/1", "We can do it today", "We can't do it today", false],
    ["overlap/1", "it rose by 3", "it rose by -3", false],
    ["overlap/1", A, "Something else altogether", false],
    ["overlap/1", "", "", true],
    ["overlap/1", "", "x", false],
    ["overlap/1", "???", "!!!", false],
  ];
  it("are asked for at most 64 texts of an answer; the others count as they are", () => {
    const texts = (text: string) => Array.from({ length: 70 }, () => text);
    const rule = { path: ["*"], comparator: "normalised", overlap: 0.9 } as const;
    const { shadow, comparisons } = compareTexts(texts("It is good."), texts("it is good"), [rule]);
    expect(comparisons).to.have.length(64);
    expect(shadow).to.deep.equal([...texts("It is good.").slice(0, 64), ...texts("it is good").slice(64)]);
  });

  for (const [comparator, a, b, equal] of cases) {
    it(`${comparator}: ${JSON.stringify(a)} and ${JSON.stringify(b)} are ${equal ? "" : "not "}equal`, () => {
      expect(areEqualTexts(a, b, comparator)).to.equal(equal);
      expect(areEqualTexts(b, a, comparator)).to.equal(equal);
    });
  }

  it("take time in proportion to the length of the texts", () => {
    const texts = ["'a".repeat(30_000), "1.".repeat(30_000), "-".repeat(60_000), "n’t".repeat(20_000)];
    const began = process.cpuUsage();
    for (const a of texts) for (const b of texts) areEqualTexts(a, `${b}x`, "overlap/1");
    expect(process.cpuUsage(began).user / 1_000).to.be.below(1_500);
  });

  const rule = (path: string, comparator: ComparatorName = "overlap/1") => ({
    path: path.split("."),
    comparator,
    overlap: 600,
  });

  it("compare only the paths that the rules name, including lists and any key", () => {
    const proposed = { notes: [{ text: A, id: "x" }], free: A };
    const shadow = { notes: [{ text: PARAPHRASE, id: "y" }], free: PARAPHRASE };
    const judged = compareTexts(proposed, shadow, [rule("notes.*.text")]);
    expect(judged.shadow).to.deep.equal({ notes: [{ text: A, id: "y" }], free: PARAPHRASE });
    expect(judged.comparisons).to.deep.equal([
      { path: "notes.0.text", comparator: "overlap/1", equal: true, shadow: PARAPHRASE },
    ]);
  });

  it("never increase the divergence of two values, and change nothing without rules", () => {
    fc.assert(
      fc.property(anyPyJson, anyPyJson, (a, b) => {
        expect(compareTexts(a, b, [])).to.deep.equal({ shadow: b, comparisons: [] });
        const { shadow } = compareTexts(a, b, [rule("*"), rule("*.*", "normalised")]);
        expect(divergence(a, shadow)).to.be.at.most(divergence(a, b));
      }),
    );
  });

  describe("in settlement", () => {
    const folder = temporaryFolder();
    const openWith = async (rules: object) => {
      const file = path.join(folder.path, "rules.json");
      writeFileSync(file, JSON.stringify({ version: 1, ...rules }));
      return await openTestService(folder.path, { RULES_FILE: file });
    };

    it("let a paraphrase settle with a note in the entry, and hold another meaning with both texts", async () => {
      const service = await openWith({ comparators: [{ path: "summary", comparator: "overlap/1" }] });
      const settle = async (summary: string, other: string) =>
        (
          await service.post(
            "/v1/settle",
            {
              header: { task_id: "t", parent_hash: service.ledger.head },
              payload: { data_update: { summary }, confidence_score: 0.9, comparisons: "mine" },
              shadow: { payload: { data_update: { summary: other } } },
            },
            { authorization: `Bearer ${API_KEY}` },
          )
        ).json;
      expect(await settle(A, PARAPHRASE)).to.include({ status: "SETTLED" });
      expect((await service.ledger.entry(0)).payload.comparisons).to.deep.equal([
        { path: "summary", comparator: "overlap/1", equal: true, shadow: PARAPHRASE },
      ]);
      expect(await settle(A, "Nothing is due.")).to.include({ status: "ESCROWED", divergence: 1 });
      expect(await settle(A, A)).to.include({ status: "SETTLED" });
      expect((await service.ledger.entry(1)).payload).not.to.have.property("comparisons");
      await service.close();
    });

    it("are refused, with the faulty field, if they are not valid", async () => {
      for (const [comparators, field] of [
        [[{ path: "a", comparator: "overlap/2" }], "rules.comparators.0.comparator"],
        [[{ path: "a", comparator: "exact", overlap: 0.5 }], "rules.comparators.0.overlap"],
        [[{ path: "", comparator: "exact" }], "rules.comparators.0.path"],
      ] as const) {
        const error = await openWith({ comparators }).catch((reason) => reason);
        expect(error).to.include({ code: "invalid_rules", field });
      }
    });
  });
});
