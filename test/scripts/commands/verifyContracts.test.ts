import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { AbiCoder, concat, Interface } from "ethers";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import {
  createTestClient,
  encodeFunctionData,
  keccak256,
  type PublicClient,
  pad,
  publicActions,
  stringToHex,
  walletActions,
} from "viem";
import type { VerificationResult } from "../../../scripts/commands/verifyContracts.ts";
import { chainService } from "../../../scripts/demo/services.ts";
import { type Deployment, deploymentSchema, writeDeployment } from "../../../scripts/deploy/deployment.ts";
import { describeGuardian, readGuardian } from "../../../scripts/deploy/describeGuardian.ts";
import {
  CANONICAL_SAFE,
  canonicalSafeAddress,
  SAFE_CONTRACTS,
  SAFE_SINGLETON_FACTORY,
} from "../../../scripts/ignition/canonicalSafe.ts";
import { type FrozenName, readFrozen } from "../../../scripts/ignition/frozenContract.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import { localTransport } from "../../../scripts/processes/localTransport.ts";
import { readTypeScript } from "../../../scripts/processes/nodeProgram.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import type { VerifiedContract } from "../../../scripts/verification/verifyContract.ts";
import { commandHere } from "../../support/commandHere.ts";
import type { Question } from "../fixtures/verifyFrozen.ts";

/** The runtime code of Safe's singleton factory. It deploys the code that it receives after a salt (CREATE2). */
const FACTORY_CODE =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

describe("deployed contracts that others check", function () {
  this.timeout(400_000);
  let folder: string;
  let supervisor: Supervisor;
  let rpcUrl: string;
  let deployment: Deployment;
  let record: string;
  let owners: Address[];
  const open = () =>
    createTestClient({ mode: "hardhat", transport: localTransport(rpcUrl) })
      .extend(publicActions)
      .extend(walletActions);
  let client: ReturnType<typeof open>;
  let verifier: ChildProcess;

  const run = (...args: string[]) => commandHere(args, { RPC_URL: "", DEPLOYER_PRIVATE_KEY: "" });

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-verify-"));
    supervisor = await openSupervisor();
    verifier = fork(path.join(repositoryRoot, "test/scripts/fixtures/verifyFrozen.ts"), {
      execArgv: readTypeScript,
      cwd: repositoryRoot,
    });
    const port = await freePort();
    rpcUrl = `http://127.0.0.1:${port}`;
    await startService(supervisor, chainService({ port, logs: folder }));
    client = open();
    owners = (await client.getAddresses()).slice(0, 3).map((it) => it.toLowerCase() as Address);
    // Safe's own contracts, deployed in the same way as on every chain.
    await client.setCode({ address: SAFE_SINGLETON_FACTORY, bytecode: FACTORY_CODE });
    for (const { bytecode } of Object.values(SAFE_CONTRACTS)) {
      const data = concat([`0x${"00".repeat(32)}`, bytecode]) as Hex;
      const hash = await client.sendTransaction({
        account: owners[0] as Address,
        to: SAFE_SINGLETON_FACTORY,
        data,
        gas: 12_000_000n,
        chain: null,
      });
      await client.waitForTransactionReceipt({ hash });
    }
    for (const address of Object.values(CANONICAL_SAFE))
      expect(await client.getCode({ address: address as Address }), address).to.match(/^0x[0-9a-f]{20}/);
    record = path.join(folder, "31337.json");
    const asked = ["--guardian-owners", owners.join(), "--provider", "acme-escrow", "--output", record];
    const { code, out, err } = await run("deploy", "--rpc-url", rpcUrl, ...asked);
    expect(code, err).to.equal(0);
    deployment = deploymentSchema.parse(JSON.parse(out));
  });
  after(async () => {
    verifier.kill();
    await supervisor.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A record that says that somebody else provides the escrow. */
  const wrongRecord = async (more: Partial<Deployment> = {}) => {
    const file = path.join(folder, "other.json");
    const hireEscrow = { ...deployment.hireEscrow, providerId: "somebody-else" };
    await writeDeployment(file, { ...deployment, hireEscrow, ...more });
    return file;
  };
  const escrow = () => deployment.hireEscrow.address;
  /** Compares a contract with the frozen code, which is not compiled again. */
  const verify = (name: FrozenName, address: Address, isPlain = false): Promise<VerifiedContract> =>
    ask({ rpcUrl, name, address, isPlain });
  const verifyAll = (options: {
    deployment?: string;
    address?: Address;
  }): Promise<VerificationResult & { compiled: FrozenName[] }> => ask({ rpcUrl, options });
  const ask = async (question: Question) => {
    const answer = once(verifier, "message");
    verifier.send(question);
    return (await answer)[0];
  };
  /** Puts other code at a free address, and verifies it there. */
  const verifyCode = async (name: FrozenName, code: string) => {
    const address: Address = `0x${"c0de".repeat(10)}`;
    await client.setCode({ address, bytecode: code as Hex });
    return verify(name, address);
  };

  it("have an official Safe as guardian if the chain has Safe's contracts; its address follows from its owners", async () => {
    const { guardian } = deployment.hireEscrow;
    expect(guardian).to.equal(canonicalSafeAddress(owners, 2).toLowerCase());
    expect(await readGuardian(client as PublicClient, guardian)).to.deep.equal({
      kind: "safe",
      version: "1.5.0",
      official: true,
      isAtItsAddress: true,
      threshold: 2,
      owners,
      modules: [],
      guards: [],
      handler: null,
    });
    // Another order of the owners, or another threshold, gives another Safe.
    const others = [canonicalSafeAddress([...owners].reverse(), 2), canonicalSafeAddress(owners, 3)];
    expect(others.map((it) => it.toLowerCase())).to.not.include(guardian);
  });

  it("show whether their guardian is an official Safe, only claims to be one, or is a key, also a delegated key", async () => {
    const { guardian } = deployment.hireEscrow;
    const at: Address = `0x${"5afe".repeat(10)}`;
    const kindOf = async (bytecode: Hex) => {
      await client.setCode({ address: at, bytecode });
      return readGuardian(client as PublicClient, at);
    };
    // The proxy has the right code, but it runs somebody else's contract: a copy of Safe's code at another address.
    const own: Address = `0x${"0b".repeat(20)}`;
    const bytecode = (await client.getCode({ address: CANONICAL_SAFE.singleton as Address })) as Hex;
    await client.setCode({ address: own, bytecode });
    const runs = (singleton: string) =>
      client.setStorageAt({
        address: guardian,
        index: 0,
        value: `0x${singleton.slice(2).toLowerCase().padStart(64, "0")}`,
      });
    await runs(own);
    expect(await readGuardian(client as PublicClient, guardian)).to.include({
      kind: "safe",
      official: false,
    });
    await runs(CANONICAL_SAFE.singleton);
    expect(await readGuardian(client as PublicClient, guardian)).to.include({ kind: "safe", official: true });
    expect(await kindOf("0x")).to.deep.equal({ kind: "key", delegated: false });
    const delegated = await kindOf(`0xef0100${own.slice(2)}`);
    expect(delegated).to.deep.equal({ kind: "key", delegated: true });
    expect(describeGuardian(delegated)).to.contain("EIP-7702").and.contain("not a multisig");
    expect(await kindOf("0x00")).to.deep.equal({ kind: "contract" });
  });

  describe("with a Safe as guardian whose set-up wrote to its storage", () => {
    const hidden: Address = `0x${"1d".repeat(20)}`;
    const word = (value: Hex) => pad(value, { size: 32 });
    /** The place of a key in a mapping of the Safe. */
    const placeOf = (key: Hex, mapping: Hex) => keccak256(concat([word(key), word(mapping)]) as Hex);
    const [MODULES, OWNERS] = ["0x01", "0x02"] as const;
    let salt = 0;

    /** A Safe of the canonical factory. Its set-up runs code that stores these words at these places. */
    async function createSafe(words: [Hex, Hex][]): Promise<Address> {
      const writer: Address = `0x${"3e".repeat(20)}`;
      const stores = words.flatMap(([place, value]) => ["0x7f", word(value), "0x7f", place, "0x55"]);
      await client.setCode({ address: writer, bytecode: concat([...stores, "0x00"]) as Hex });
      const none = `0x${"00".repeat(20)}`;
      const setup = new Interface(SAFE_CONTRACTS.singleton.abi).encodeFunctionData("setup", [
        ...[owners, 2, writer, "0x", CANONICAL_SAFE.handler, none, 0, none],
      ]);
      const creation = [CANONICAL_SAFE.singleton, setup, ++salt];
      const factory = new Interface(SAFE_CONTRACTS.factory.abi);
      const hash = await client.sendTransaction({
        ...{ account: owners[0] as Address, to: CANONICAL_SAFE.factory as Address, chain: null },
        data: factory.encodeFunctionData("createProxyWithNonce", creation) as Hex,
      });
      const { logs } = await client.waitForTransactionReceipt({ hash });
      const created = logs.map((log) => factory.parseLog(log)).find((it) => it?.name === "ProxyCreation");
      return String(created?.args.proxy).toLowerCase() as Address;
    }
    const read = async (words: [Hex, Hex][]) => {
      const found = await readGuardian(client as PublicClient, await createSafe(words));
      return { found, said: describeGuardian(found) };
    };

    it("say that a hidden owner is possible", async () => {
      const { found, said } = await read([[placeOf(hidden, OWNERS), "0x01"]]);
      expect(found).to.deep.include({ kind: "safe", official: true, isAtItsAddress: false, owners });
      expect(said).to.contain("2 of 3").and.contain("not verified");
      const known = await readGuardian(client as PublicClient, deployment.hireEscrow.guardian);
      expect(describeGuardian(known)).to.equal("an official Safe 1.5.0: 2 of 3");
    });

    it("name a module, which acts without the owners", async () => {
      const { found, said } = await read([
        [placeOf("0x01", MODULES), hidden],
        [placeOf(hidden, MODULES), "0x01"],
      ]);
      expect(found).to.deep.include({ official: false, modules: [hidden] });
      expect(said).to.contain("modules").and.not.contain("official");
    });

    it("name another fallback handler than the canonical one, because anybody can call it in the Safe's name", async () => {
      const escrow = deployment.hireEscrow.address;
      const { found, said } = await read([
        [keccak256(stringToHex("fallback_manager.handler.address")), escrow],
      ]);
      expect(found).to.deep.include({ official: false, handler: escrow });
      expect(said)
        .to.contain("another fallback handler than the canonical one of 1.5.0")
        .and.not.contain("official")
        .and.not.contain("Safe's own");
    });

    for (const name of ["guard_manager.guard.address", "module_manager.module_guard.address"]) {
      it(`name the guard at ${name}`, async () => {
        const { found, said } = await read([[keccak256(stringToHex(name)), hidden]]);
        expect(found).to.deep.include({ official: false, guards: [hidden] });
        expect(said).to.contain("guard").and.not.contain("official");
      });
    }
  });

  it("are refused with a key as guardian, unless the command allows it", async () => {
    const key = `0x${"6e".repeat(20)}`;
    const asked = [
      "deploy",
      "--rpc-url",
      rpcUrl,
      "--guardian",
      key,
      "--output",
      path.join(folder, "key.json"),
    ];
    const refused = await run(...asked);
    expect(refused.code).to.equal(1);
    expect(refused.err).to.contain("code: guardian_is_a_key").and.contain("--guardian-is-a-key");
    expect(refused.err).to.not.contain("This will deploy");
    const taken = await run(...asked, "--guardian-is-a-key", "--provider", "by-key");
    expect(taken.code, taken.err).to.equal(0);
    expect(JSON.parse(taken.out).hireEscrow.guardian).to.equal(key);
  });

  it("equal the compiled sources in verify-contracts, which exits with 1 when the record is wrong", async () => {
    // Compiling takes long, so here the record is wrong and the compiled code is right.
    const asked = ["--rpc-url", rpcUrl, "--deployment", await wrongRecord(), "--json"];
    const { code, out, err } = await run("verify-contracts", ...asked);
    expect(code, err).to.equal(1);
    const { contracts, differences } = JSON.parse(out);
    expect(differences).to.deep.equal(["The escrow's provider is acme-escrow, not somebody-else."]);
    expect(contracts.map((it: VerifiedContract) => it.differences)).to.deep.equal([[], []]);
    expect(contracts.map((it: { contract: string }) => it.contract)).to.deep.equal([
      "HireEscrow",
      "AnchoredLedger",
    ]);
    expect(contracts[0].values.providerId).to.equal("acme-escrow");
    expect(contracts[0].values.token.toLowerCase()).to.equal(deployment.token);
    expect(contracts[0].guardian).to.deep.include({ official: true, threshold: 2, owners });
    // The arguments in the form for explorers. The deployment sent the init code, followed by these arguments.
    expect(contracts[0].constructorArguments).to.equal(
      AbiCoder.defaultAbiCoder().encode(
        ["address", "address", "string"],
        [deployment.token, deployment.hireEscrow.guardian, "acme-escrow"],
      ),
    );
  });

  it("are compared with the record, and found by their address", async () => {
    expect((await verifyAll({ deployment: record })).differences).to.deep.equal([]);
    const elsewhere = await wrongRecord({ anchoredLedger: deployment.token });
    const { differences } = await verifyAll({ deployment: elsewhere });
    expect(differences).to.include("The escrow's provider is acme-escrow, not somebody-else.");
    expect(differences.join()).to.match(/is not that of AnchoredLedger|does not answer/);
    for (const [name, address] of [
      ["AnchoredLedger", deployment.anchoredLedger],
      ["HireEscrow", escrow()],
    ] as const) {
      const found = await verifyAll({ address });
      expect(found.differences).to.deep.equal([]);
      expect(found.contracts.map(({ contract }) => contract)).to.deep.equal([name]);
      expect(found.compiled, "the other contract is not compiled").to.deep.equal([name]);
    }
  });

  it("differ after a change of any byte, of any immutable, or of the address", async () => {
    for (const [name, address] of [
      ["HireEscrow", escrow()],
      ["AnchoredLedger", deployment.anchoredLedger],
    ] as const) {
      expect((await verify(name, address)).differences).to.deep.equal([]);
      const code = (await client.getCode({ address })) as string;
      // A copy of the code at another address still contains the first address, and signatures for the contract contain
      // its address. So the copy is refused.
      expect((await verifyCode(name, code)).differences[0]).to.contain(`is not that of ${name}`);
      const longer = await verifyCode(name, `${code}00`);
      expect(longer.differences[0]).to.match(/\d+ bytes instead of \d+/);
      for (const at of [0.3, 0.7, 1]) {
        const n = 2 * Math.floor((at * (code.length - 4)) / 2) + 2;
        const byte = (Number.parseInt(code.slice(n, n + 2), 16) ^ 1).toString(16).padStart(2, "0");
        const changed = code.slice(0, n) + byte + code.slice(n + 2);
        await client.setCode({ address, bytecode: changed as Hex });
        const { differences } = await verify(name, address);
        expect(differences, `${name} byte ${(n - 2) / 2}`).to.have.length(1);
        await client.setCode({ address, bytecode: code as Hex });
      }
      expect((await verify(name, address)).differences).to.deep.equal([]);
    }
    expect((await verify("HireEscrow", deployment.anchoredLedger)).differences[0]).to.contain(
      "does not answer",
    );
    expect((await verify("HireEscrow", deployment.token)).differences).to.have.length(1);
    const nobody = await verify("AnchoredLedger", `0x${"77".repeat(20)}`);
    expect(nobody.differences[0]).to.contain("There is no code");
  });

  it("are distinguished from the same code at another address, where a foreign constructor may have put credits into its storage", async () => {
    // A copy with the escrow's values, at an address that follows from the deployer's nonce.
    const { guardian, providerId } = deployment.hireEscrow;
    const args = AbiCoder.defaultAbiCoder().encode(
      ["address", "address", "string"],
      [deployment.token, guardian, providerId],
    );
    const data = concat([readFrozen("HireEscrow").initCode, args]) as Hex;
    const hash = await client.sendTransaction({
      account: owners[0] as Address,
      data,
      gas: 12_000_000n,
      chain: null,
    });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash });
    const copy = contractAddress?.toLowerCase() as Address;
    const { differences, isAtItsAddress } = await verify("HireEscrow", copy);
    expect(isAtItsAddress).to.equal(false);
    expect(differences).to.have.length(1);
    expect(differences[0]).to.contain("not at the address that it gets through CreateX");
    expect(await verify("HireEscrow", copy, true)).to.deep.include({
      differences: [],
      isAtItsAddress: false,
    });
    for (const [name, address] of [
      ["HireEscrow", escrow()],
      ["AnchoredLedger", deployment.anchoredLedger],
    ] as const)
      expect(await verify(name, address)).to.deep.include({ differences: [], isAtItsAddress: true });
  });

  it("are not accepted if they answer with another contract's values", async () => {
    // The escrow's code, with another address wherever the guardian's address is. The code answers with this address.
    const code = (await client.getCode({ address: escrow() })) as string;
    const thief = "be".repeat(20);
    const changed = code.replaceAll(deployment.hireEscrow.guardian.slice(2), thief);
    expect(changed).to.not.equal(code);
    await client.setCode({ address: escrow(), bytecode: changed as Hex });
    const asked = encodeFunctionData({ abi: hireEscrowAbi, functionName: "guardian" });
    expect((await client.call({ to: escrow(), data: asked })).data).to.contain(thief);
    // Alone, this is a valid escrow with another guardian. Only the record and the address show which escrow was meant.
    const { values, differences } = await verify("HireEscrow", escrow());
    expect(values.guardian?.toLowerCase()).to.equal(`0x${thief}`);
    expect(differences[0]).to.contain("not at the address that it gets through CreateX");
    await client.setCode({ address: escrow(), bytecode: code as Hex });
  });
});
