/**
 * Writes contracts/frozen/: the init code that deterministic deployments use, from the compiled contracts, and the compiler's
 * input that gives it. Run after `hardhat build`. A change there changes every address of later deployments; earlier ones stay where they are.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { keccak256 } from "ethers";
import {
  type FrozenContract,
  type FrozenName,
  frozenFile,
  frozenInputFile,
  frozenNames,
  inputSource,
} from "../scripts/ignition/frozenContract.ts";
import { repositoryRoot } from "../scripts/repositoryRoot.ts";
import { inputOfContract, type StandardInput } from "../scripts/verification/standardInput.ts";

type HardhatArtifact = { contractName: string; sourceName: string; bytecode: string; buildInfoId: string };
type BuildInfo = { solcLongVersion: string; input: StandardInput };

/** What has to be frozen now. Needs the artifacts of `hardhat build`. */
export async function compiledContract(
  name: FrozenName,
): Promise<{ contract: FrozenContract; input: StandardInput }> {
  const file = path.join(repositoryRoot, "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  const artifact: HardhatArtifact = JSON.parse(await readFile(file, "utf8"));
  const info = path.join(repositoryRoot, "artifacts", "build-info", `${artifact.buildInfoId}.json`);
  const { solcLongVersion, input }: BuildInfo = JSON.parse(await readFile(info, "utf8"));
  const { evmVersion, viaIR, optimizer, metadata } = input.settings;
  const contract = {
    contractName: artifact.contractName,
    sourceName: artifact.sourceName,
    compiler: { version: solcLongVersion, evmVersion, viaIR, optimizer, metadata },
    initCodeHash: keccak256(artifact.bytecode),
    initCode: artifact.bytecode,
  };
  return { contract, input: inputOfContract(input, inputSource(name), name) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of frozenNames) {
    const { contract, input } = await compiledContract(name);
    await mkdir(path.dirname(frozenFile(name)), { recursive: true });
    await writeFile(frozenFile(name), `${JSON.stringify(contract, null, 2)}\n`);
    await writeFile(frozenInputFile(name), `${JSON.stringify(input, null, 2)}\n`);
    console.log(`${name}: init code ${contract.initCodeHash}`);
  }
}
