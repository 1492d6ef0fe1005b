import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
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
    ["normalised", "1.5", "1 5", false],
    ["normalised", "1.55", "1.5 5", false],
    ["normalised", "15", "1 5", false],
    ["normalised", "(3)", "3", true],
    ["normalised", "a1", "a 1", false],
    ["normalised", "good", "go od", false],
    ["normalised", "we’re", "we’r e", false],
    ["overlap/1", A, PARAPHRASE, true],
    ["overlap/1", A, PARAPHRASE.replace("12.50", "125.0"), false],
    ["overlap/1", A, PARAPHRASE.replace("was", "was not"), false],
    ["overlap/1", "We can do it today", "We can't do it today", false],
    ["overlap/1", "it rose by 3", "it rose by -3", false],
    ["overlap/1", "we can do it today and not tomorrow", "we can do it today", false],
    ["overlap/1", A, "Something else altogether", false],
    ["overlap/1", "a b c d e", "c b a x y", true],
    ["overlap/1", "a b c d e f", "c b a x y z", false],
    ["overlap/1", "a a a a b", "a c d e f", false],
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

  it("use the first rule for a path, and leave texts above and below it alone", () => {
    const value = (text: string) => ({
      a: text,
      b: { c: text, d: { e: text } },
      "": { "": text },
      f: [text],
    });
    const judged = (rules: ReturnType<typeof rule>[]) =>
      compareTexts(value("It is good."), value("it is good"), rules).comparisons.map(
        ({ path: at, comparator, equal }) => `${at} ${comparator} ${equal}`,
      );
    expect(judged([rule("b.c", "exact"), rule("b.*", "normalised")])).to.deep.equal(["b.c exact false"]);
    expect(judged([rule("b.*", "normalised"), rule("b.c", "exact")])).to.deep.equal(["b.c normalised true"]);
    expect(judged([rule("*.*.*", "exact"), rule("*", "normalised")])).to.deep.equal([
      "a normalised true",
      "b.d.e exact false",
    ]);
    expect(judged([rule("f.0", "normalised")])).to.deep.equal(["f.0 normalised true"]);
    expect(judged([rule("f.1"), rule("g"), rule("c"), rule("b")])).to.deep.equal([]);
  });

  it("compare no text with a value of another kind, and nothing that only one side has", () => {
    const good = "It is good.";
    const kinds = (text: string): PyJson[] => [text, 1n, 1.5, true, null, [text], { 0: text }, {}, []];
    const rules = [rule("*", "normalised"), rule("*.*", "normalised")];
    for (const [at, one] of kinds(good).entries())
      for (const [of, other] of kinds("it is good").entries()) {
        if (at === of) continue;
        const judged = compareTexts({ a: one }, { a: other, b: "it is good" }, rules);
        expect(judged).to.deep.equal({ shadow: { a: other, b: "it is good" }, comparisons: [] });
      }
    const longer = compareTexts({ a: [good] }, { a: ["it is good", "it is good"] }, rules);
    expect(longer.shadow).to.deep.equal({ a: [good, "it is good"] });
    const shorter = compareTexts({ a: [good, good] }, { a: ["it is good"] }, rules);
    expect(shorter.shadow).to.deep.equal({ a: [good] });
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
