import { expect } from "chai";
import * as fc from "fast-check";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { divergence } from "../../../services/settlement/engine/divergence.ts";
import { anyPyJson } from "../../support/arbitraries.ts";

const between = (a: string, b: string): number => divergence(parsePythonJson(a), parsePythonJson(b));

describe("divergence", () => {
  const cases: [string, string, number, string][] = [
    ["{}", "{}", 0, "two empty objects are equal"],
    ['{"a": 1}', '{"a": 1}', 0, "equal values"],
    ['{"a": 1}', '{"a": 1.0}', 0, "an int and a float of one value are equal"],
    ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', 0, "the order of keys does not matter"],
    ['{"a": "x", "b": "y"}', '{"a": "x", "b": "z"}', 0.5, "one of two leaves differs"],
    ['{"a": 100}', '{"a": 90}', 0.1, "numbers differ by their relative difference"],
    ['{"a": 100, "b": "x"}', '{"a": 90, "b": "x"}', 0.05, "a leaf counts the same whatever its type"],
    ['{"a": 0}', '{"a": 1000}', 1, "from zero every number is far"],
    ['{"a": 1}', '{"a": -1}', 1, "opposite numbers are capped at 1"],
    ['{"a": 0.0}', '{"a": -0.0}', 0, "zeros are equal"],
    [
      '{"a": 1.7976931348623157e308}',
      '{"a": -1.7976931348623157e308}',
      1,
      "the largest doubles do not overflow",
    ],
    ['{"a": 5e-324}', '{"a": 1e-323}', 0.5, "the smallest doubles do not underflow"],
    [
      `{"a": 1${"0".repeat(400)}}`,
      `{"a": 9${"0".repeat(399)}}`,
      0.1,
      "ints beyond every double compare exactly",
    ],
    [`{"a": 1${"0".repeat(400)}}`, '{"a": 1.5}', 1, "an int beyond every double is far from a small float"],
    ['{"a": true}', '{"a": 1}', 1, "true is not 1"],
    ['{"a": "1"}', '{"a": 1}', 1, "text is not a number"],
    ['{"a": null}', "{}", 1, "a null is a leaf, nothing is none"],
    ['{"a": 1}', '{"b": 1}', 1, "the same value under another key"],
    ['{"a": 1, "b": 1}', '{"b": 1}', 0.5, "a missing leaf differs"],
    ['{"a": [1, 2, 3]}', '{"a": [1, 2]}', 1 / 3, "arrays compare by position"],
    ['{"a": [1, 2]}', '{"a": [2, 1]}', 0.5, "swapped numbers differ by how far they are apart"],
    ['{"a": []}', '{"a": []}', 0, "an empty array is a leaf"],
    ['{"a": []}', '{"a": {}}', 1, "an empty array is not an empty object"],
    ['{"a": {}}', '{"a": {"b": 1}}', 1, "an empty object is not a filled one"],
    ['{"a": []}', '{"a": [1]}', 1, "an empty array is not a filled one"],
    ['{"a": {}}', '{"a": null}', 1, "an empty object is not null"],
    ['{"a": {}}', '{"a": ""}', 1, "an empty object is not an empty text"],
    ['{"x": 1}', '{"x": 1, "b": {"c": 1}}', 0.5, "an absent branch counts by its leaves"],
    ['{"x": 1}', '{"x": 1, "b": {}}', 0.5, "an absent empty object counts as one leaf"],
    ['{"a": [7], "b": 1}', '{"a": {"0": 7}, "b": 1}', 2 / 3, "a place in an array is not a key"],
    ['{"a": 1.7e308}', '{"a": 0.85e308}', 0.5, "large doubles differ by their relative difference"],
    ['{"a": [7]}', '{"a": {"0": 7}}', 1, "an array is not an object with the same keys"],
    ['{"a": {"b": {"c": 1}}, "d": 1}', '{"a": {"b": {"c": 2}}, "d": 1}', 0.25, "depth makes no difference"],
    [
      '{"a": 1, "d": 1}',
      '{"a": {"x": 1, "y": 2}, "d": 1}',
      0.75,
      "a leaf against a branch: all their leaves differ",
    ],
  ];
  for (const [a, b, expected, why] of cases) {
    it(`is ${expected.toFixed(2)}: ${why}`, () => {
      expect(between(a, b)).to.be.closeTo(expected, 1e-9);
      expect(between(b, a)).to.be.closeTo(expected, 1e-9);
    });
  }

  it("never treats different large ints as equal", () => {
    expect(between(`{"a": 1${"0".repeat(30)}}`, `{"a": 1${"0".repeat(29)}1}`)).to.be.greaterThan(0);
  });

  it("is from 0 to 1, symmetric, and 0 for a value and itself", () => {
    fc.assert(
      fc.property(anyPyJson, anyPyJson, (a, b) => {
        const result = divergence(a, b);
        expect(result).to.be.within(0, 1);
        expect(divergence(b, a)).to.be.closeTo(result, 1e-12);
        expect(divergence(a, a)).to.equal(0);
      }),
      { numRuns: 500 },
    );
  });
});
