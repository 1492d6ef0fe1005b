import { readFileSync } from "node:fs";
import path from "node:path";
import { AbiCoder, concat, getAddress, getBytes } from "ethers";
import type { Artifact } from "hardhat/types/artifacts";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Hex } from "tallystick-protocol/hex";
import { releaseAddress } from "tallystick-protocol/releaseAddress";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { StandardInput } from "../verification/standardInput.ts";

/** A contract as it is deployed to the same address on every chain. */
export type FrozenContract = {
  contractName: string;
  sourceName: string;
  compiler: {
    version: string;
    evmVersion: string;
    viaIR: boolean;
    optimizer: object;
    /** `none`: the code contains no hash of the sources, so comments do not change the address. */
    metadata: { bytecodeHash: string };
  };
  initCodeHash: string;
  /** Without constructor arguments. */
  initCode: string;
};

export const frozenNames = ["HireEscrow", "AnchoredLedger"] as const;
export type FrozenName = (typeof frozenNames)[number];

const abis = { HireEscrow: hireEscrowAbi, AnchoredLedger: anchoredLedgerAbi };

export function frozenFile(name: string): string {
  return path.join(repositoryRoot, "contracts", "frozen", `${name}.json`);
}

export function readFrozen(name: FrozenName): FrozenContract {
  return JSON.parse(readFileSync(frozenFile(name), "utf8"));
}

/** The compiler's input that gives the frozen code: standard JSON, as explorers take it. */
export function frozenInputFile(name: string): string {
  return path.join(repositoryRoot, "contracts", "frozen", `${name}.input.json`);
}

export function readFrozenInput(name: FrozenName): StandardInput {
  return JSON.parse(readFileSync(frozenInputFile(name), "utf8"));
}

/** The name of a contract's source within that input. */
export function inputSource(name: FrozenName): string {
  return `project/contracts/${name}.sol`;
}

/** The frozen contract as an artifact that Ignition deploys. */
export function frozenArtifact(name: FrozenName): Artifact {
  const { contractName, sourceName, initCode } = readFrozen(name);
  return {
    _format: "hh3-artifact-1",
    contractName,
    sourceName,
    abi: [...abis[name]],
    bytecode: initCode as `0x${string}`,
    deployedBytecode: "0x",
    linkReferences: {},
    deployedLinkReferences: {},
  };
}

/**
 * Where CreateX deploys a frozen contract with these constructor arguments, on every chain and for every
 * sender. The address is a hash of the init code and the arguments, so only this contract with these arguments
 * can be there.
 */
export function frozenAddress(
  name: FrozenName,
  constructorArguments: readonly string[],
  salt: string,
): string {
  const coder = AbiCoder.defaultAbiCoder();
  const types = name === "HireEscrow" ? ["address", "address", "string"] : [];
  const initCode = concat([readFrozen(name).initCode, coder.encode(types, constructorArguments)]);
  return getAddress(releaseAddress(getBytes(initCode), salt as Hex));
}
