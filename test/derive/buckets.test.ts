import { expect } from "chai";
import { type BucketName, bucketOf } from "tallystick-derive/buckets";

describe("the buckets of private metrics", () => {
  const rows: [bucket: BucketName, exact: unknown, shown: unknown][] = [
    ["tenths", null, null],
    ["tenths", 0, 0],
    ["tenths", 0.1, 0.1],
    ["tenths", 0.3, 0.3],
    ["tenths", 0.299999999, 0.2],
    ["tenths", 0.999999999, 0.9],
    ["tenths", 1, 1],
    ["halves", null, null],
    ["halves", 4.5, 4.5],
    ["halves", 4.499999999, 4],
    ["halves", 5, 5],
    ["powerOfTen", 0, 0],
    ["powerOfTen", 0.9, 0],
    ["powerOfTen", 1, 1],
    ["powerOfTen", 9.999, 1],
    ["powerOfTen", 10, 10],
    ["powerOfTen", 99, 10],
    ["powerOfTen", 100, 100],
    ["powerOfTenUsdc", "0.00", "0.00"],
    ["powerOfTenUsdc", "0.999999", "0.00"],
    ["powerOfTenUsdc", "1.00", "1.00"],
    ["powerOfTenUsdc", "9.50", "1.00"],
    ["powerOfTenUsdc", "12345678901234567890.123456", "10000000000000000000.00"],
    ["powerOfTwo", null, null],
    ["powerOfTwo", 0, 1],
    ["powerOfTwo", 1, 1],
    ["powerOfTwo", 2, 2],
    ["powerOfTwo", 3, 4],
    ["powerOfTwo", 1_024, 1_024],
    ["powerOfTwo", 1_025, 2_048],
    ["leftOut", { "text.translate": "0.50" }, {}],
  ];

  it("have the value at their lower end, and for latencies the value at their upper end", () => {
    for (const [bucket, exact, shown] of rows)
      expect(bucketOf(bucket, exact), `${bucket} of ${exact}`).to.deep.equal(shown);
  });
});
