import { expect } from "chai";
import { isoSeconds } from "tallystick-capabilities/checks/instants";

describe("the seconds of an ISO 8601 time", () => {
  it("accept a leap second at the end of a day, a month and a year, and no second after it", () => {
    const newYear = Date.UTC(2017, 0, 1) / 1_000;
    expect(isoSeconds("2016-12-31T23:59:60Z")).to.equal(newYear);
    expect(isoSeconds("2016-12-31T23:59:59Z")).to.equal(newYear - 1);
    expect(isoSeconds("2016-12-31T23:59:61Z")).to.equal(undefined);
    expect(isoSeconds("2017-01-01T00:59:60+01:00")).to.equal(newYear);
  });

  it("are undefined for a day, an hour or a minute that no calendar or clock has", () => {
    for (const text of [
      ...["2025-02-29", "2025-04-31", "2025-13-01", "2025-00-10", "2025-01-00"],
      ...["2025-01-01T24:00", "2025-01-01T10:60", "2025-01-01T10"],
    ])
      expect(isoSeconds(text), text).to.equal(undefined);
    expect(isoSeconds("2024-02-29")).to.equal(Date.UTC(2024, 1, 29) / 1_000);
  });

  it("follow the zone, which is UTC if the text names none", () => {
    const noon = Date.UTC(2025, 5, 1, 12) / 1_000;
    for (const text of [
      ...["2025-06-01T12:00", "2025-06-01 12:00:00.5", "2025-06-01T14:00+02", "2025-06-01T14:00+0200"],
      ...["2025-06-01T06:30-05:30", "2025-06-01T06:30−05:30", "2025-06-01t12:00z"],
    ])
      expect(isoSeconds(text), text).to.equal(noon);
  });
});
