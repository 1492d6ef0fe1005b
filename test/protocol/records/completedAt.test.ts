import { expect } from "chai";
import { toSeconds } from "tallystick-protocol/records/completedAt";

const DAY = 86_400;

const times: [text: number | string, seconds: number][] = [
  [0, 0],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ["1970-01-01T00:00:00Z", 0],
  ["1970-01-01T00:00Z", 0],
  ["1970-01-01T23:59:59Z", DAY - 1],
  ["1970-01-01T00:00:01.999999999Z", 1],
  ["1970-02-28T00:00:00Z", 58 * DAY],
  ["2024-02-29T00:00:00Z", 1_709_164_800],
  ["9999-12-31T23:59:59Z", 253_402_300_799],
  ["1970-01-02T00:00:00+23:59", 60],
  ["1970-01-01T00:00:00-23:59", DAY - 60],
  ["1970-01-01T01:30:00+01:30", 0],
  ["1970-01-01T01:30:00+0130", 0],
  ["1969-12-31T22:30:00-01:30", 0],
  ["1969-12-31T23:00:01-01:00", 1],
];

const none: (number | string)[] = [
  -1,
  0.5,
  Number.MAX_SAFE_INTEGER + 1,
  Number.NaN,
  "",
  "0",
  "1970-01-01",
  "1970-01-01T00:00:00",
  " 1970-01-01T00:00:00Z",
  "1970-01-01T00:00:00Z ",
  "1970-01-01T00:00:00.1234567890Z",
  "1970-01-01T00:00:00.Z",
  "1970-01-01 00:00:00Z",
  // Before 1970.
  "1969-12-31T23:59:59Z",
  "1970-01-01T00:00:00+00:01",
  "1970-01-01T00:59:59+01:00",
  // These days and times do not exist.
  "1970-00-01T00:00:00Z",
  "1970-13-01T00:00:00Z",
  "1970-01-00T00:00:00Z",
  "1970-01-32T00:00:00Z",
  "2023-02-29T00:00:00Z",
  "1970-01-01T24:00:00Z",
  "1970-01-01T00:60:00Z",
  "1970-01-01T00:00:60Z",
  "1970-01-02T00:00:00+24:00",
  "1970-01-02T00:00:00+00:60",
  // The years 0 to 99 are not those of the last century.
  "0070-01-01T00:00:00Z",
  "0099-12-31T23:59:59Z",
];

describe("the time at which a hire was completed", () => {
  it("is unix seconds, or an ISO time with its zone, without fractions of a second", () => {
    for (const [text, seconds] of times) expect(toSeconds(text), String(text)).to.equal(seconds);
  });

  it("is not before 1970, and not on a day or at a time that does not exist", () => {
    for (const text of none) expect(toSeconds(text), String(text)).to.equal(undefined);
  });
});
