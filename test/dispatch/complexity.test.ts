import { expect } from "chai";
import fc from "fast-check";
import { COMPLEXITY_POINTS, complexity } from "../../services/dispatch/triage/complexity.ts";
import { schemaDepth } from "../../services/dispatch/triage/schemaDepth.ts";

const SCALAR = { type: "object", properties: { name: { type: "string" } } };

describe("the complexity of a task", () => {
  it("is 0 for a question of one line, and near 1 for a long list of steps with code and figures", () => {
    expect(complexity({ prompt: "Which day is it?" }).value).to.equal(0);
    const work = Array.from(
      { length: 20 },
      (_, at) => `${at + 1}. Then prove why step ${at} gives ${at * 7}.5;`,
    );
    expect(complexity({ prompt: work.join("\n") }).value).to.be.above(0.9);
  });

  it("is the sum of the published points", () => {
    const cases: [Parameters<typeof complexity>[0], number][] = [
      [{ prompt: "a".repeat(80) }, 0],
      [{ prompt: "a".repeat(1_240) }, 0.125],
      [{ prompt: "a".repeat(2_400) }, 0.25],
      [{ prompt: "a".repeat(1_000_000) }, 0.25],
      [{ prompt: "Explain why." }, 0.16],
      [{ prompt: "1 2 3 4 5 6 7" }, 0.12],
      [{ prompt: "x = 1;\ny = 2;\nfoo() {\n}" }, 0.066 + 0.02],
      [{ prompt: "", contextBytes: 33_000 }, 0.075],
      [{ prompt: "", outputSchema: { type: "array", items: { type: "array", items: SCALAR } } }, 0.06],
      [{ prompt: "", record: { tasks: 0, escalated: 0 } }, 0],
      [{ prompt: "", record: { tasks: 1, escalated: 1 } }, 0.15],
      [{ prompt: "", record: { tasks: 1_000, escalated: 1_000 } }, 0.45],
      [{ prompt: "", record: { tasks: 1_000, escalated: 10 } }, 0],
    ];
    for (const [input, value] of cases)
      expect(complexity(input).value, JSON.stringify(input).slice(0, 80)).to.be.closeTo(value, 1e-9);
  });

  it("is from 0 to 1 in thousandths, is the same each time, and never falls when a feature grows", () => {
    const input = fc.record({
      prompt: fc.string({ unit: "binary", maxLength: 300 }),
      contextBytes: fc.nat(),
      record: fc
        .nat(500)
        .chain((tasks) => fc.record({ tasks: fc.constant(tasks), escalated: fc.nat(tasks) })),
    });
    fc.assert(
      fc.property(input, (task) => {
        const { value } = complexity(task);
        expect(value).to.be.within(0, 1);
        expect(Number.isInteger(Math.round(value * 1e9) / 1e6)).to.equal(true);
        expect(complexity(task)).to.deep.equal(complexity(structuredClone(task)));
        expect(complexity({ ...task, prompt: `${task.prompt}\n3. Then prove 17` }).value).to.be.at.least(
          value,
        );
        expect(complexity({ ...task, contextBytes: task.contextBytes * 2 }).value).to.be.at.least(value);
      }),
    );
    for (const { from, to, points } of Object.values(COMPLEXITY_POINTS)) {
      expect(from).to.be.below(to);
      expect(points).to.be.within(1, 1_000);
    }
  });

  it("uses the depth of the answer's schema, also for a schema that refers to itself", () => {
    const self: { [key: string]: unknown } = { type: "object" };
    self.properties = { again: self };
    const cases: [unknown, number][] = [
      [{ type: "string" }, 0],
      [true, 0],
      [null, 0],
      [SCALAR, 1],
      [{ type: "array", items: SCALAR }, 2],
      [{ anyOf: [{ type: "string" }, { type: "array", items: SCALAR }] }, 2],
      [{ type: "object", additionalProperties: SCALAR }, 2],
      [self, 32],
    ];
    for (const [schema, depth] of cases) expect(schemaDepth(schema)).to.equal(depth);
  });

  it("is computed in a time that is at most proportional to the text", () => {
    const hostile = [
      " ".repeat(1_000_000),
      `${";".repeat(400)}${" ".repeat(900_000)}x`,
      "1,".repeat(500_000),
      "import ".repeat(140_000),
      "SELECT ".repeat(140_000),
      "\n- ".repeat(300_000),
    ];
    const began = process.cpuUsage();
    for (const prompt of hostile) complexity({ prompt });
    const wide = { anyOf: Array.from({ length: 10_000 }, () => SCALAR) };
    schemaDepth(wide);
    expect(process.cpuUsage(began).user / 1_000).to.be.below(1_500);
  });
});
