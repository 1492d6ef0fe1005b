import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { auditorAt, joinRoster, leaveRoster, rosterOf, rosterSize } from "tallystick-derive/audits/rosters";
import { contextAt } from "../contextAt.ts";

const ROSTER = rosterOf("op", "text.translate");

const placesOf = (context: ApplyContext): string[] =>
  Array.from({ length: rosterSize(context, ROSTER) }, (_, place) => auditorAt(context, ROSTER, place));

/** A roster that these auditors joined, in this order. */
function joined(...auditors: string[]): ApplyContext {
  const context = contextAt(9, 0);
  for (const it of auditors) joinRoster(context, ROSTER, it);
  return context;
}

describe("a roster of auditors", () => {
  it("is named by its operator and its capability, and is empty at first", () => {
    expect(ROSTER).to.equal("op/text.translate");
    expect(placesOf(contextAt(9, 0))).to.deep.equal([]);
  });

  it("gives each auditor one place, in the order in which they join", () => {
    expect(placesOf(joined("a", "b", "a", "c", "b"))).to.deep.equal(["a", "b", "c"]);
    const context = joined("a");
    joinRoster(context, "op/other", "b");
    expect(placesOf(context)).to.deep.equal(["a"]);
    expect(auditorAt(context, "op/other", 0)).to.equal("b");
    expect(() => auditorAt(context, ROSTER, 1)).to.throw(`${ROSTER}/1 in rosterPlace`);
  });

  it("gives the place of an auditor that leaves to the last one", () => {
    const without = (auditor: string) => {
      const context = joined("a", "b", "c");
      leaveRoster(context, ROSTER, auditor);
      return context;
    };
    expect(placesOf(without("a"))).to.deep.equal(["c", "b"]);
    expect(placesOf(without("b"))).to.deep.equal(["a", "c"]);
    expect(placesOf(without("c"))).to.deep.equal(["a", "b"]);
    expect(placesOf(without("d"))).to.deep.equal(["a", "b", "c"]);
    const context = without("a");
    leaveRoster(context, ROSTER, "a");
    expect(placesOf(context)).to.deep.equal(["c", "b"]);
    // The auditor that moved can leave its new place, and the other can come back.
    leaveRoster(context, ROSTER, "c");
    expect(placesOf(context)).to.deep.equal(["b"]);
    joinRoster(context, ROSTER, "a");
    expect(placesOf(context)).to.deep.equal(["b", "a"]);
    for (const it of ["a", "b"]) leaveRoster(context, ROSTER, it);
    expect(placesOf(context)).to.deep.equal([]);
    expect(context.store.get("rosterMember", `${ROSTER}/b`)?.place).to.equal(null);
  });
});
