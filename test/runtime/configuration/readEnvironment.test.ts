import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  addressSetting,
  httpSetting,
  portSetting,
  privateKeySetting,
  proxiesSetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";

const schema = z.object({
  TOKEN: addressSetting.optional(),
  KEEPER_PRIVATE_KEY: privateKeySetting.optional(),
  RPC_URL: httpSetting.optional(),
  PORT: portSetting.default(42_070),
  COUNT: wholeNumberSetting(3).optional(),
  TRUST_PROXY: proxiesSetting("this process").default(0),
});
const key = `0x${"aB".repeat(32)}`;

function issuesOf(environment: { [name: string]: string }): { [field: string]: string } {
  try {
    readEnvironment(environment, schema, "keeper");
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError).with.property("code", "invalid_configuration");
    return Object.fromEntries((error as InvalidInputError).issues.map((it) => [it.field, it.message]));
  }
  return expect.fail("it was accepted");
}

describe("the environment of a process", () => {
  it("is read by the names of a schema, and other variables are ignored", () => {
    const given = {
      TOKEN: `0x${"aB".repeat(20)}`,
      KEEPER_PRIVATE_KEY: key,
      RPC_URL: "https://rpc.example/v1",
      PORT: "1",
      COUNT: "007",
      TRUST_PROXY: "true",
      HOME: "/root",
    };
    expect(readEnvironment(given, schema, "keeper")).to.deep.equal({
      TOKEN: `0x${"ab".repeat(20)}`,
      KEEPER_PRIVATE_KEY: key,
      RPC_URL: "https://rpc.example/v1",
      PORT: 1,
      COUNT: 7,
      TRUST_PROXY: 1,
    });
  });

  it("may have empty variables, which are read as missing, also for keys of other processes", () => {
    const empty = { TOKEN: "", PORT: "", TRUST_PROXY: "", DEPLOYER_PRIVATE_KEY: "", COUNT: undefined };
    expect(readEnvironment(empty, schema, "keeper")).to.deep.equal({ PORT: 42_070, TRUST_PROXY: 0 });
  });

  it("is refused with every wrong variable and its expected form", () => {
    const bad = {
      TOKEN: "0x12",
      KEEPER_PRIVATE_KEY: key.slice(2),
      RPC_URL: "ftp://rpc.example",
      PORT: "65536",
      COUNT: "1000",
      TRUST_PROXY: "5",
    };
    const issues = issuesOf(bad);
    expect(issues).to.have.all.keys(...Object.keys(bad));
    expect(issues.TRUST_PROXY).to.equal("must be the number of proxies in front of this process, 0 to 4");
    for (const count of ["-1", "1.5", "1e2", " 1", "0x1"])
      expect(issuesOf({ COUNT: count })).to.deep.equal({ COUNT: "must be a whole number" });
  });

  it("must not contain the key of another process", () => {
    expect(issuesOf({ DEPLOYER_PRIVATE_KEY: key, PORT: "x" })).to.have.all.keys("DEPLOYER_PRIVATE_KEY");
  });
});
