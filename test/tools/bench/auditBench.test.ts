import { expect } from "chai";
import { operationsOfAudited } from "../../../tools/bench/index/auditBench.ts";

describe("the cost of audits in a derivation", () => {
  it("is a tenth more rows read and written if every hire may be audited", async () => {
    const [without, withAudits] = [
      await operationsOfAudited(1_500, null),
      await operationsOfAudited(1_500, 30_000),
    ];
    expect(withAudits / without).to.be.below(1.1);
  });
});
