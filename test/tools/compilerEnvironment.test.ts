import { expect } from "chai";
import { compilerEnvironmentFor } from "../../tools/compilerEnvironment.ts";

describe("tools/compilerEnvironment", () => {
  it("leaves the garbage collector as it is on a machine with little memory", () => {
    expect(compilerEnvironmentFor(4 * 2 ** 30)).to.deep.equal({});
    expect(compilerEnvironmentFor(16 * 2 ** 30)).to.deep.equal({ GOGC: "off", GOMEMLIMIT: "3GiB" });
  });
});
