import { expect } from "chai";
import { readLcov } from "../../../tools/lineCoverage/readLcov.ts";

describe("tools/lineCoverage/readLcov", () => {
  it("counts the lines of each file that ran, and lists the other lines", () => {
    const report =
      "TN:\nSF:contracts/A.sol\nDA:3,2\nDA:4,0\nDA:9,1\nLH:2\nend_of_record\nSF:contracts/B.sol\n";
    expect(readLcov(report)).to.deep.equal([
      { file: "contracts/A.sol", hit: 2, found: 3, missed: [4] },
      { file: "contracts/B.sol", hit: 0, found: 0, missed: [] },
    ]);
  });
});
