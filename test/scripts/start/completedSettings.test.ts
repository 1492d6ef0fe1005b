import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { writeDeployment } from "../../../scripts/deploy/deployment.ts";
import { completedSettings } from "../../../scripts/start/completedSettings.ts";

const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const [NEWER, OLDER] = [address("e"), address("d")];
const NAMES = ["NETWORK", "CHAIN_ID", "TOKEN_ADDRESS", "ESCROWS", "START_BLOCK"];

describe("the settings of a keeper and of the other commands for a node", () => {
  let folder: string;
  let before: [string, string | undefined][];
  beforeEach(async () => {
    before = NAMES.map((name) => [name, process.env[name]]);
    for (const name of NAMES) delete process.env[name];
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-settings-"));
    await writeDeployment(path.join(folder, "84532.json"), {
      ...{ chainId: 84_532, startBlock: 77, token: address("9"), anchoredLedger: address("a") },
      hireEscrow: { address: NEWER, providerId: "acme", guardian: address("8") },
    });
  });
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    rmSync(folder, { recursive: true, force: true });
  });

  const startBlock = async (environment: { [name: string]: string }, escrow?: string) => {
    Object.assign(process.env, { CHAIN_ID: "84532", ...environment });
    return (await completedSettings(escrow, folder)).START_BLOCK;
  };

  it("have the block from which the recorded escrow exists, for this escrow", async () => {
    expect(await startBlock({})).to.equal("77");
    expect(await startBlock({}, NEWER.toUpperCase().replace("0X", "0x"))).to.equal("77");
    expect(await startBlock({ ESCROWS: `${OLDER}=acme,${NEWER}=acme` })).to.equal("77");
  });

  it("do not have it for an older escrow: its keeper would miss the older deposits", async () => {
    expect(await startBlock({}, OLDER)).to.equal(undefined);
    expect(await startBlock({ ESCROWS: `${OLDER}=acme` })).to.equal(undefined);
  });

  it("keep a start block that was given", async () => {
    expect(await startBlock({ START_BLOCK: "5" }, OLDER)).to.equal("5");
  });
});
