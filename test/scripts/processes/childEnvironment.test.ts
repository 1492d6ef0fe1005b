import { expect } from "chai";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";

describe("scripts/processes/childEnvironment", () => {
  it("passes on the machine's variables and no settings of a node", () => {
    const shell = {
      PATH: "/bin",
      HOME: "/root",
      LC_ALL: "C",
      RPC_URL: "https://mainnet",
      npm_config_cache: "/c",
    };
    expect(childEnvironment({ CHAIN_ID: "31337" }, shell)).to.deep.equal({
      PATH: "/bin",
      HOME: "/root",
      LC_ALL: "C",
      CHAIN_ID: "31337",
    });
  });
});
