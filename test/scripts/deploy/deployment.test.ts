import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { type Deployment, readDeployment, writeDeployment } from "../../../scripts/deploy/deployment.ts";

describe("scripts/deploy/deployment", () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-deployment-"));
    file = path.join(folder, "deployments", "8453.json");
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const deployment: Deployment = {
    chainId: 8_453,
    startBlock: 12,
    token: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    hireEscrow: {
      address: "0x0000000000000000000000000000000000000001",
      providerId: "acme",
      guardian: "0x0000000000000000000000000000000000000002",
    },
    anchoredLedger: "0x0000000000000000000000000000000000000003",
  };

  it("reads what it wrote, and leaves no half-written file behind", async () => {
    expect(await readDeployment(file)).to.equal(undefined);
    await writeDeployment(file, deployment);
    expect(await readDeployment(file)).to.deep.equal(deployment);
    expect(readdirSync(path.dirname(file))).to.deep.equal(["8453.json"]);
  });

  it("names a file that is not a deployment, and the fault in it", async () => {
    await writeDeployment(file, deployment);
    writeFileSync(file, JSON.stringify({ ...deployment, token: "0x12" }));
    const error = await readDeployment(file).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(TallystickError).that.includes({ code: "bad_deployment_file" });
    expect((error as Error).message)
      .to.contain(file)
      .and.contain("token");
  });
});
