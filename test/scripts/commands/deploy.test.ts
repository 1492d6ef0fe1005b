import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { createPublicClient, createTestClient, getAddress, http, parseAbi } from "viem";
import { chainService } from "../../../scripts/demo/services.ts";
import { checkDeployment } from "../../../scripts/deploy/checkDeployment.ts";
import { deploymentSchema } from "../../../scripts/deploy/deployment.ts";
import { frozenAddresses } from "../../../scripts/ignition/frozenAddresses.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { commandHere } from "../../support/commandHere.ts";

const safeAbi = parseAbi(["function getThreshold() view returns (uint256)"]);

describe("tallystick deploy", function () {
  this.timeout(180_000);
  let folder: string;
  let supervisor: Supervisor;
  let rpcUrl: string;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-deploy-"));
    supervisor = await openSupervisor();
    const port = await freePort();
    rpcUrl = `http://127.0.0.1:${port}`;
    await startService(supervisor, chainService({ port, logs: folder }));
  });

  after(async () => {
    await supervisor.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const deploy = (...args: string[]) =>
    commandHere(["deploy", ...args], { RPC_URL: "", DEPLOYER_PRIVATE_KEY: "" });

  it("says what it will do, deploys, checks the contracts on the chain, and records their addresses", async () => {
    const output = path.join(folder, "out", "31337.json");
    const { code, out, err } = await deploy(
      "--rpc-url",
      rpcUrl,
      "--provider",
      "acme-escrow",
      "--output",
      output,
    );
    expect(err)
      .to.match(/chain +31337/)
      .and.match(/provider +acme-escrow/)
      .and.contain("TestUSDC");
    expect(code).to.equal(0);
    const deployment = deploymentSchema.parse(JSON.parse(readFileSync(output, "utf8")));
    expect(JSON.parse(out)).to.deep.equal(deployment);
    expect(deployment.hireEscrow.providerId).to.equal("acme-escrow");
    const client = createPublicClient({ transport: http(rpcUrl) });
    for (const address of [deployment.token, deployment.hireEscrow.address, deployment.anchoredLedger]) {
      expect(await client.getCode({ address })).to.match(/^0x[0-9a-f]{20}/);
    }
    expect(BigInt(deployment.startBlock)).to.be.lessThan(await client.getBlockNumber());
    const guardian = await client.readContract({
      address: deployment.hireEscrow.guardian,
      abi: safeAbi,
      functionName: "getThreshold",
    });
    expect(guardian, "a Safe of three of the node's accounts").to.equal(2n);
    const { token, hireEscrow, anchoredLedger } = deployment;
    expect(
      frozenAddresses({ token, guardian: hireEscrow.guardian, providerId: "acme-escrow" }),
    ).to.deep.include({
      hireEscrow: getAddress(hireEscrow.address),
      anchoredLedger: getAddress(anchoredLedger),
    });
  });

  it("on a fork with another chain id, names the addresses before it sends anything, and reuses existing contracts", async () => {
    const first = await deploy("--rpc-url", rpcUrl, "--output", path.join(folder, "forked.json"));
    const { token, hireEscrow, anchoredLedger } = deploymentSchema.parse(JSON.parse(first.out));
    const port = await freePort();
    const service = chainService({ port, logs: folder });
    const fork = `http://127.0.0.1:${port}`;
    await startService(supervisor, {
      ...service,
      name: "fork",
      args: [...service.args, "--fork", rpcUrl, "--chain-id", "84532"],
      logFile: path.join(folder, "fork.log"),
    });
    // Hardhat does not know the EVM rules of the forked block under this chain id, so it can execute nothing
    // on that block.
    await createTestClient({ mode: "hardhat", transport: http(fork) }).mine({ blocks: 1 });
    const known = ["--network", "base-sepolia", "--rpc-url", fork, "--token", token];
    const asked = [...known, "--guardian", hireEscrow.guardian, "--provider", "on-the-fork"];

    const unconfirmed = await deploy(...asked, "--output", path.join(folder, "no.json"));
    expect(unconfirmed.code).to.equal(1);
    expect(unconfirmed.err)
      .to.contain("Nothing was sent")
      .and.match(/a Safe, 1\.5\.0, that is not .*: 2 of 3/);

    const { code, out, err } = await deploy(...asked, "--yes", "--output", path.join(folder, "84532.json"));
    expect(code, err).to.equal(0);
    const deployment = deploymentSchema.parse(JSON.parse(out));
    expect(deployment.chainId).to.equal(84_532);
    expect(deployment.anchoredLedger).to.equal(anchoredLedger);
    expect(deployment.hireEscrow.address).not.to.equal(hireEscrow.address);
    for (const text of [unconfirmed.err, err]) {
      expect(text.toLowerCase()).to.contain(deployment.hireEscrow.address).and.contain(anchoredLedger);
    }
    const client = createPublicClient({ transport: http(rpcUrl) });
    const before = { address: anchoredLedger, blockNumber: BigInt(deployment.startBlock) };
    expect(await client.getCode(before)).to.equal(undefined);
    const tampered = { ...deployment, hireEscrow: { ...deployment.hireEscrow, address: anchoredLedger } };
    const refused = await checkDeployment(fork, tampered).catch((error: Error) => error.message);
    expect(refused).to.contain("is not that of HireEscrow");
    const refusalOf = (
      changed: Partial<typeof deployment.hireEscrow>,
      more: Partial<typeof deployment> = {},
    ) =>
      checkDeployment(fork, {
        ...deployment,
        ...more,
        hireEscrow: { ...deployment.hireEscrow, ...changed },
      }).then(
        () => "nothing",
        (error: Error) => error.message,
      );
    expect(await refusalOf({})).to.equal("nothing");
    expect(await refusalOf({ guardian: anchoredLedger })).to.contain("The escrow's guardian is");
    expect(await refusalOf({ providerId: "another" })).to.contain("The escrow's provider is");
    // Every contract has code, so only the escrow itself can say which token it uses.
    expect(await refusalOf({}, { token: anchoredLedger })).to.contain("The escrow is for the token");

    const nobody = await deploy(...known, "--provider", "no-guardian");
    expect(nobody.err).to.contain("code: no_guardian");
  });

  it("can run again: the same command finds the same contracts", async () => {
    const again = ["--rpc-url", rpcUrl, "--provider", "again"];
    const first = await deploy(...again, "--output", path.join(folder, "first.json"));
    const second = await deploy(...again, "--output", path.join(folder, "second.json"));
    expect(second.code).to.equal(0);
    expect(JSON.parse(second.out)).to.deep.equal(JSON.parse(first.out));
  });

  it("starts a new deployment for another token, with the same guardian and provider", async () => {
    const common = ["--rpc-url", rpcUrl, "--output", path.join(folder, "tokens.json")];
    const { token } = JSON.parse((await deploy(...common, "--provider", "with-a-token")).out);
    const first = JSON.parse((await deploy(...common, "--provider", "tokens")).out);
    const { code, out, err } = await deploy(...common, "--provider", "tokens", "--token", token);
    expect(code, err).to.equal(0);
    expect(JSON.parse(out).token).to.equal(token).and.not.equal(first.token);
  });

  it("refuses a chain that has another id, does not answer, or is not named", async () => {
    const wrong = await deploy("--network", "base", "--rpc-url", rpcUrl);
    expect(wrong.code).to.equal(1);
    expect(wrong.err).to.contain("is chain 31337, but base is chain 8453").and.contain("code: wrong_chain");

    const silent = await deploy(
      "--rpc-url",
      `http://127.0.0.1:${await freePort()}/v2/secret-key?key=secret-key`,
    );
    expect(silent.code).to.equal(1);
    expect(silent.err).not.to.contain("secret-key");
    expect(silent.err).to.contain("does not answer").and.contain("code: rpc_unreachable");

    const none = await deploy();
    expect(none.code).to.equal(1);
    expect(none.err).to.contain("code: no_chain");
  });

  it("takes no provider that a payment mode cannot name, because the contract keeps it for ever", async () => {
    for (const provider of ["", "acme escrow", "acme:1", "-acme", "acmé", "a".repeat(32)]) {
      const { code, err } = await deploy("--rpc-url", rpcUrl, `--provider=${provider}`);
      expect([code, err.includes("--provider")], provider).to.deep.equal([2, true]);
    }
  });

  it("answers a wrong option with exit code 2 and names it", async () => {
    const token = await deploy("--token", "0x12");
    expect(token.code).to.equal(2);
    expect(token.err).to.contain("--token");
    const owners = await deploy(
      "--guardian-owners",
      `0x${"11".repeat(20)},0x${"11".repeat(20)},0x${"22".repeat(20)}`,
    );
    expect(owners.code).to.equal(2);
    expect(owners.err).to.contain("three different addresses");
    const provider = await deploy("--provider", "x".repeat(32));
    expect(provider.code).to.equal(2);
    expect(provider.err).to.contain("--provider must be 1 to 31 bytes");
  });
});
