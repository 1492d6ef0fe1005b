import { expect } from "chai";
import { exitOfResumed } from "../../../scripts/hire/exitOfResumed.ts";

describe("the exit code of hire --resume", () => {
  it("is 0 only if every hire was done and verified, and 1 if one failed or was not verified", () => {
    const [good, bad] = [true, false].map((all_passed) => ({ status: "done", verification: { all_passed } }));
    const [over, running] = [{ status: "over" }, { status: "running" }];
    const codes = [[], [good], [bad], [over], [good, bad], [good, running], [running, over], [running]].map(
      (hires) => exitOfResumed(hires as { status: string }[]),
    );
    expect(codes).to.deep.equal([0, 0, 1, 1, 1, 75, 1, 75]);
  });
});
