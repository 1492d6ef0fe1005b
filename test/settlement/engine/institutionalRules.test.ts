import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import {
  defaultRules,
  millionths,
  parseRules,
  readRules,
  toPlainJson,
} from "../../../services/settlement/engine/institutionalRules.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const DEFAULTS = { minConfidence: 0.85, maxDriftAllowed: 0.15 };
const read = (rules: object) =>
  parseRules(parsePythonJson(JSON.stringify({ version: 1, ...rules })), DEFAULTS);
/** The faults of a file of rules, as `field: message`. */
const faults = (rules: object): string[] => {
  try {
    read(rules);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    expect(error.code).to.equal("invalid_rules");
    return error.issues.map(({ field, message }) => `${field}: ${message}`);
  }
  return [];
};
const other = { "*": { allow: false } };

describe("an amount in millionths", () => {
  it("is exact for ints and decimal strings, rounded up for floats, and nothing for all else", () => {
    const cases: (readonly [unknown, bigint | undefined])[] = [
      ...([
        [0n, 0n],
        [5n, 5_000_000n],
        [-1n, undefined],
      ] as const),
      ...([
        ["0", 0n],
        ["1.5", 1_500_000n],
        ["1.000001", 1_000_001n],
        ["9".repeat(30), BigInt("9".repeat(30)) * 1_000_000n],
      ] as const),
      ...["9".repeat(31), "1.0000001", "1.", ".5", "-1", "1e3", " 1", "1 ", "x1", "1x", ""].map(
        (text) => [text, undefined] as const,
      ),
      ...([
        [0, 0n],
        [1.5, 1_500_000n],
        [0.1 + 0.2, 300_000n],
        [0.0000001, 1n],
        [1e15, 10n ** 21n],
      ] as const),
      ...[-0.5, 1e15 + 1, Number.NaN, Number.POSITIVE_INFINITY, true, null, undefined, {}].map(
        (value) => [value, undefined] as const,
      ),
    ];
    for (const [value, amount] of cases) expect(millionths(value), String(value)).to.equal(amount);
  });
});

describe("JSON for schemas", () => {
  it("has JavaScript's numbers in place of ints, at every depth", () => {
    const value = { a: 1n, b: [2n, { c: null, d: 3n }], e: "x", f: true, g: 1.5 };
    const plain = { a: 1, b: [2, { c: null, d: 3 }], e: "x", f: true, g: 1.5 };
    expect(toPlainJson(value)).to.deep.equal(plain);
  });
});

describe("a file of rules", () => {
  const folder = temporaryFolder();

  it("has the service's thresholds and denies all actions if it says nothing else", () => {
    const rules = defaultRules(DEFAULTS);
    expect(rules).to.deep.include({ version: 0, ...DEFAULTS, comparators: [] });
    expect([...rules.types]).to.deep.equal([]);
    expect([...rules.actions]).to.deep.equal([["*", { allow: false, max: new Map(), budget: [] }]]);
    const slices = { version: 0n, min_confidence: 0.85, max_drift_allowed: 0.15 };
    expect(rules.slices).to.deep.equal(slices);
  });

  it("is read with its own thresholds, actions, amounts and comparators", () => {
    const budget = [{ field: "usd", max: 7, per_seconds: 1 }];
    const rules = read({
      ...{ min_confidence: 0, max_drift_allowed: 1, core_logic: "be kind" },
      actions: { ...other, "Pay Now": { max: { usd: "2.5" }, budget }, stop: { allow: false, shadow: true } },
      comparators: [
        { path: "a.*.b", comparator: "overlap/1" },
        { path: "c", comparator: "overlap/1", overlap: 0.3336 },
        { path: "d", comparator: "exact" },
      ],
    });
    expect(rules).to.include({ version: 1, minConfidence: 0, maxDriftAllowed: 1 });
    expect(rules.slices).to.include({ core_logic: "be kind", min_confidence: 0, max_drift_allowed: 1 });
    expect([...rules.actions]).to.deep.equal([
      ["*", { allow: false, max: new Map(), budget: [] }],
      [
        "pay_now",
        {
          allow: true,
          max: new Map([["usd", 2_500_000n]]),
          budget: [{ field: "usd", max: 7_000_000n, perSeconds: 1 }],
        },
      ],
      ["stop", { allow: false, max: new Map(), budget: [] }],
    ]);
    expect(rules.comparators).to.deep.equal([
      { path: ["a", "*", "b"], comparator: "overlap/1", overlap: 600 },
      { path: ["c"], comparator: "overlap/1", overlap: 334 },
      { path: ["d"], comparator: "exact", overlap: 600 },
    ]);
  });

  it("may have the longest and smallest values, and is refused beyond them with the field", () => {
    const comparators = (count: number) =>
      Array.from({ length: count }, () => ({ path: "a", comparator: "exact" }));
    const max = (amount: unknown) => ({ actions: { ...other, a: { max: { usd: amount } } } });
    const budget = (change: object) => ({
      actions: { ...other, a: { budget: [{ field: "usd", max: 1, per_seconds: 1, ...change }] } },
    });
    const path256 = "a".repeat(256);
    const good = [
      ...[{ version: 0 }, { min_confidence: 1 }, { min_confidence: 0 }, { max_drift_allowed: 0 }],
      ...[{ comparators: comparators(64) }, { comparators: [{ path: path256, comparator: "exact" }] }],
      ...["1".repeat(15), "0.000001", 0.5, 7].map(max),
      budget({}),
    ];
    for (const rules of good) expect(faults(rules), JSON.stringify(rules)).to.deep.equal([]);
    const range = "must be from 0 to 1";
    const amount = "must be a number, or a decimal string with at most 6 decimals";
    const at = "rules.actions.a";
    const bad: [object, RegExp | string][] = [
      [{ version: -1 }, /^rules\.version: /],
      [{ version: 0.5 }, /^rules\.version: /],
      [{ min_confidence: 1.01 }, `rules.min_confidence: ${range}`],
      [{ min_confidence: -0.01 }, `rules.min_confidence: ${range}`],
      [{ max_drift_allowed: 1.01 }, `rules.max_drift_allowed: ${range}`],
      [{ comparators: comparators(65) }, /^rules\.comparators: /],
      [{ comparators: [{ path: `${path256}a`, comparator: "exact" }] }, /^rules\.comparators\.0\.path: /],
      [
        { comparators: [{ path: "a", comparator: "exact", overlap: 1 }] },
        "rules.comparators.0.overlap: is for overlap/1 only",
      ],
      ...["1".repeat(16), "1.", "1.0000001", "x1", "1x", "1,5", true].map(
        (value) => [max(value), `${at}.max.usd: ${amount}`] as [object, string],
      ),
      [budget({ field: "" }), /^rules\.actions\.a\.budget\.0\.field: /],
      [budget({ per_seconds: 0 }), /^rules\.actions\.a\.budget\.0\.per_seconds: /],
      [budget({ per_seconds: 1.5 }), /^rules\.actions\.a\.budget\.0\.per_seconds: /],
      [budget({ max: "x" }), `${at}.budget.0.max: ${amount}`],
      [
        { actions: { a: {} } },
        'rules.actions.*: must say what becomes of other actions: "*": {"allow": false}',
      ],
      [
        { actions: { ...other, a_b: {}, "A b": {} } },
        "rules.actions.A b: is already here in another spelling",
      ],
      [
        { types: { a: { type: "nonsense" } } },
        /^rules\.types\.a: is not a JSON Schema that this service understands: ./,
      ],
    ];
    for (const [rules, fault] of bad) {
      const [first, ...more] = faults(rules);
      expect(more, JSON.stringify(rules)).to.deep.equal([]);
      if (typeof fault === "string") expect(first).to.equal(fault);
      else expect(first, JSON.stringify(rules)).to.match(fault);
    }
  });

  it("stops the start with its name if it is missing or no JSON", () => {
    const missing = path.join(folder.path, "none.json");
    expect(() => readRules(missing, DEFAULTS))
      .to.throw(TallystickError, `The rules in ${missing} cannot be read: ENOENT`)
      .that.includes({ code: "unreadable_file", hint: "Set RULES_FILE to a JSON file." });
    const file = path.join(folder.path, "rules.json");
    writeFileSync(file, '{"version": 1');
    expect(() => readRules(file, DEFAULTS))
      .to.throw(InvalidInputError, /^RULES_FILE: is no JSON: ./)
      .that.includes({ code: "invalid_rules" });
    writeFileSync(file, '{"version": 4, "note": {"a": 1}}');
    const { version, slices } = readRules(file, DEFAULTS);
    const note: PyJson = { a: 1n };
    expect([version, slices.note]).to.deep.equal([4, note]);
  });
});
