import { expect } from "chai";
import {
  hasZone,
  isDayOf,
  isFresh,
  isoSeconds,
  isUnixSeconds,
} from "tallystick-capabilities/checks/instants";

const at = (text: string): number => Date.parse(text) / 1_000;

describe("times in results", () => {
  it("are unix seconds from 2020 to 2099, in whole numbers", () => {
    const [first, end] = [at("2020-01-01T00:00:00Z"), at("2100-01-01T00:00:00Z")];
    for (const good of [first, end - 1]) expect(isUnixSeconds(good), String(good)).to.equal(true);
    for (const bad of [first - 1, end, first + 0.5, first * 1_000, Number.NaN])
      expect(isUnixSeconds(bad), String(bad)).to.equal(false);
  });

  it("are read from ISO 8601 in its zone, or else in UTC", () => {
    const noon = at("2026-01-31T12:00:00Z");
    const cases: [unknown, number | undefined][] = [
      ["2026-01-31", at("2026-01-31T00:00:00Z")],
      ["2024-02-29", at("2024-02-29T00:00:00Z")],
      ...[
        ..."T12:00,t12:00, 12:00,T12:00:00,T12:00:00.5,T12:00Z,T12:00z".split(","),
        ...["T12:00:00,123456789Z", "T14:00+02:00", "T14:00+0200", "T14:00+02", "T06:30-05:30"],
        ...["T06:30−05:30", "T12:00-00:00", "T11:59:60"],
      ].map((time) => [`2026-01-31${time}`, noon] as [unknown, number]),
      ...[
        ...["2026-02-31", "2023-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32", "26-01-31"],
        ...["2026-01-31T24:00", "2026-01-31T12:60", "2026-01-31T12:00:61", "2026-01-31T12", "2026-01-31T"],
        ...["x2026-01-31", "2026-01-31x", "2026-01-31T12:00:00.", "2026-01-31T12:00+2", "", "noon"],
        ...[20_260_131, ["2026-01-31"], null, undefined],
      ].map((text) => [text, undefined] as [unknown, undefined]),
    ];
    for (const [text, seconds] of cases) expect(isoSeconds(text), String(text)).to.equal(seconds);
  });

  it("name their zone, or not", () => {
    for (const text of ["2026-01-31T12:00Z", "2026-01-31T12:00+02", "2026-01-31T12:00-05:30"])
      expect(hasZone(text), text).to.equal(true);
    for (const text of ["2026-01-31T12:00", "2026-01-31", "Z", ""])
      expect(hasZone(text), text).to.equal(false);
  });

  it("are on a day if they are written so, or if they are in UTC and it is that day in some zone", () => {
    const day = "2026-01-31";
    const good = [
      ...["2026-01-31", "2026-01-31T23:59", "2026-01-31T05:00+09:00"],
      ...["2026-01-30T10:00Z", "2026-02-01T11:59:59Z", "2026-02-01T11:59z", "2026-01-30T10:00+00:00"],
      ...["2026-01-30T10:00-0000", "2026-01-30T10:00−00"],
    ];
    const bad = [
      ...["2026-01-30T09:59:59Z", "2026-02-01T12:00Z", "2026-02-01T11:00", "2026-02-01T11:00+01:00"],
      ...["2026-02-01T11:00+00:30", "yesterday", ""],
    ];
    for (const text of good) expect(isDayOf(text, day), text).to.equal(true);
    for (const text of bad) expect(isDayOf(text, day), text).to.equal(false);
    expect(isDayOf("2026-01-30T12:00Z", "a day")).to.equal(false);
  });

  it("are fresh within an hour of the question, in both directions, or if its time is unknown", () => {
    expect(isFresh(0, undefined)).to.equal(true);
    const fresh = [-3_601, -3_600, 0, 3_600, 3_601].map((seconds) => isFresh(10_000 + seconds, 10_000));
    expect(fresh).to.deep.equal([false, true, true, true, false]);
    expect([isFresh(110, 100, 10), isFresh(111, 100, 10)]).to.deep.equal([true, false]);
  });

  it("may have a leap second at the end of a day, a month and a year, and no second after it", () => {
    const newYear = at("2017-01-01T00:00:00Z");
    expect(isoSeconds("2016-12-31T23:59:60Z")).to.equal(newYear);
    expect(isoSeconds("2017-01-01T00:59:60+01:00")).to.equal(newYear);
    expect(isoSeconds("2016-12-31T23:59:61Z")).to.equal(undefined);
  });
});
