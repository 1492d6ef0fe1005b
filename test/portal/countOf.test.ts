import { expect } from "chai";
import type { Agent } from "../../portal/agent/agentQuery.ts";
import { concernsOf } from "../../portal/agent/concerns.ts";
import { FIGURES } from "../../portal/agent/figures.ts";
import { countOf, entriesOf } from "../../portal/design/countOf.ts";
import { allVerify, beforeVerifies } from "../../portal/verify/check.ts";

describe("the words after a number in the portal", () => {
  it("are in the singular after 1, and in the plural after every other number", () => {
    expect([0, 1, 2, 1_500, 1.5].map((it) => countOf(it, "hire"))).to.deep.equal([
      "0 hires",
      "1 hire",
      "2 hires",
      "1,500 hires",
      "1.5 hires",
    ]);
    expect([entriesOf(1), entriesOf(2)]).to.deep.equal(["1 entry", "2 entries"]);
    expect(countOf(1e300, "hire")).to.equal("1.00e+300 hires");
    expect([allVerify(1), allVerify(2)]).to.deep.equal(["The one entry verifies", "All 2 entries verify"]);
    expect([beforeVerifies(1), beforeVerifies(2)]).to.deep.equal([
      "The one entry before it verifies",
      "The 2 entries before it verify",
    ]);
  });

  it("are in the singular after 1 in the sentences about an agent too", () => {
    const figures: { [field: string]: number } = { LAST_30D_HIRE_COUNT_RAW: 1, AUDITS_UNDISCLOSED: 1 };
    const explained = FIGURES.map(({ field }, n) => [`f${n}`, { value: figures[field] ?? 0 }]);
    const said = concernsOf({ clusterSize: 1, ...Object.fromEntries(explained) } as Agent);
    expect(said[0]).to.match(/^Of its 1 hire only 0 count\./);
    expect(said.at(-1)).to.equal("It kept silent about 1 hire drawn for an audit.");
  });
});
