import path from "node:path";
import { expect } from "chai";
import { writeDeployment } from "../../../scripts/deploy/deployment.ts";
import { completedSettings } from "../../../scripts/start/completedSettings.ts";
import { suiteFolder } from "../../support/suiteFolder.ts";

const [RECORDED, OLDER] = [`0x${"e5".repeat(20)}`, `0x${"0d".repeat(20)}`] as const;

describe("the settings of a command for an escrow", () => {
  const folder = suiteFolder();
  before(() =>
    writeDeployment(path.join(folder.path, "84532.json"), {
      ...{ chainId: 84_532, startBlock: 700, token: `0x${"70".repeat(20)}` },
      hireEscrow: { address: RECORDED, providerId: "swarmwage-partnered", guardian: `0x${"9a".repeat(20)}` },
      anchoredLedger: `0x${"a1".repeat(20)}`,
    }),
  );

  const startBlockOf = async (given: { [name: string]: string }, escrow?: string) => {
    const before = { ...process.env };
    for (const name of ["NETWORK", "ESCROWS", "START_BLOCK"]) delete process.env[name];
    Object.assign(process.env, { CHAIN_ID: "84532", ...given });
    try {
      return (await completedSettings(escrow, folder.path)).START_BLOCK;
    } finally {
      for (const name of ["CHAIN_ID", ...Object.keys(given)]) delete process.env[name];
      Object.assign(process.env, before);
    }
  };

  it("begin at the block of the recorded contracts if it is the recorded escrow", async () => {
    expect(await startBlockOf({})).to.equal("700");
    expect(await startBlockOf({ ESCROWS: `${RECORDED.toUpperCase().replace("X", "x")}=a` })).to.equal("700");
    const both = { ESCROWS: `${OLDER}=a,${RECORDED}=b` };
    expect(await startBlockOf(both)).to.equal("700");
    expect(await startBlockOf(both, RECORDED)).to.equal("700");
  });

  it("have no such block for an escrow that may be older, unless the operator gives one", async () => {
    const both = { ESCROWS: `${OLDER}=a,${RECORDED}=b` };
    expect(await startBlockOf({ ESCROWS: `${OLDER}=a` })).to.equal(undefined);
    expect(await startBlockOf(both, OLDER)).to.equal(undefined);
    expect(await startBlockOf({ ...both, START_BLOCK: "5" }, OLDER)).to.equal("5");
  });
});
