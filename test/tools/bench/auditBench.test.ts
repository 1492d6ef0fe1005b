import { expect } from "chai";
import { operationsOfAudited } from "../../../tools/bench/index/auditBench.ts";

describe("audits in a derivation", () => {
  it("cost less than a tenth more reads and writes of rows, even if every hire may be audited", async () => {
    const [without, withAudits] = [
      await operationsOfAudited(1_500, null),
      await operationsOfAudited(1_500, 30_000),
    ];
    expect(withAudits / without).to.be.below(1.1);
  });
});
