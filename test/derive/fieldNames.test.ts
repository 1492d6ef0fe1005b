import { expect } from "chai";
import { type DeriveEvent, positionOf } from "tallystick-derive/events";
import { camelName, publishedFields } from "tallystick-derive/publishedFields";

describe("the name of a published field in GraphQL", () => {
  it("has a capital in place of each underscore", () => {
    expect(camelName("success_rate")).to.equal("successRate");
    expect(camelName("avg_latency_ms")).to.equal("avgLatencyMs");
    expect(camelName("last_30d_hire_count")).to.equal("last30dHireCount");
    const names = Object.keys(publishedFields) as (keyof typeof publishedFields)[];
    const words = names.map((name) =>
      camelName(name)
        .replaceAll(/(?<!\d)([A-Z])/g, "_$1")
        .toLowerCase(),
    );
    expect(words.map((it) => it.replaceAll("_", ""))).to.deep.equal(
      names.map((it) => it.replaceAll("_", "")),
    );
    expect(new Set(names.map(camelName)).size).to.equal(names.length);
    for (const name of names) expect(camelName(name)).to.match(/^[a-z][A-Za-z0-9]*$/);
  });
});

describe("the position of an event", () => {
  it("has a log unless it is a tick, and a seq only if it is a record", () => {
    const at = { block: 3, time: 4, log: 5, seq: 6 };
    const of = (kind: string) => positionOf({ kind, ...at } as unknown as DeriveEvent);
    expect(of("record")).to.deep.equal(at);
    expect(of("transfer")).to.deep.equal({ ...at, seq: null });
    expect(of("tick")).to.deep.equal({ block: 3, time: 4, log: null, seq: null });
  });
});
