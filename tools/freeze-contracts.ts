/**
 * Writes contracts/frozen/: the init code that deterministic deployments use, from the compiled contracts,
 * and the compiler's input that gives it. Run after `hardhat build`. A change there changes every address of later
 * deployments. Earlier deployments keep their addresses.
 *
 * Also writes portal/escrow/releases/ and packages/protocol/ledger/releases/, by which the portal and checks of proofs
 * recognize the contracts' code on a chain.
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

type HardhatArtifact = {
  contractName: string;
  sourceName: string;
  bytecode: string;
  deployedBytecode: string;
  immutableReferences: { [astId: string]: { start: number; length: number }[] };
  buildInfoId: string;
};
type BuildInfo = { solcLongVersion: string; input: StandardInput };

/** The contracts to freeze now. Needs the artifacts of `hardhat build`. */
export async function compiledContract(
  name: FrozenName,
): Promise<{ contract: FrozenContract; input: StandardInput }> {
  const artifact = await readArtifact(name);
  const { solcLongVersion, input }: BuildInfo = await readBuild(`${artifact.buildInfoId}.json`);
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

/** Where the portal has the escrow's code of this version of the contract. */
export const releaseFile = path.join(repositoryRoot, "portal", "escrow", "releases", "hireEscrow1.json");

/** Where the hashes of the ledger contract's code are. */
export const ledgerReleaseFile = path.join(
  repositoryRoot,
  "packages",
  "protocol",
  "ledger",
  "releases",
  "anchoredLedger1.ts",
);

/**
 * The hash of AnchoredLedger's init code, the hash and the length of its runtime code (with zeros for immutables), and the
 * bytes of the runtime code at which each immutable is.
 */
export async function releasedLedger(): Promise<object> {
  const { bytecode, deployedBytecode, ...artifact } = await readArtifact("AnchoredLedger");
  return {
    name: "AnchoredLedger, version 1",
    initCodeHash: keccak256(bytecode),
    runtime: { hash: keccak256(deployedBytecode), length: deployedBytecode.length / 2 - 1 },
    immutables: await immutablesOf(artifact),
  };
}

/**
 * The escrow's init code, the place of the runtime code in it (with zeros for immutables), and the bytes of the runtime
 * code at which each immutable is, by its name in the sources.
 */
export async function releasedEscrow(): Promise<object> {
  const { bytecode, deployedBytecode, ...artifact } = await readArtifact("HireEscrow");
  const start = bytecode.indexOf(deployedBytecode.slice(2)) / 2 - 1;
  if (!Number.isInteger(start) || start < 0)
    throw new Error("The init code does not contain the runtime code.");
  return {
    name: "HireEscrow, version 1",
    initCode: bytecode,
    runtime: { start, length: deployedBytecode.length / 2 - 1 },
    immutables: await immutablesOf(artifact),
  };
}

/** The offsets of each immutable in the runtime code, by its name in the sources. */
async function immutablesOf(artifact: Pick<HardhatArtifact, "immutableReferences" | "buildInfoId">) {
  const { immutableReferences, buildInfoId } = artifact;
  const { output } = await readBuild<{ output: object }>(`${buildInfoId}.output.json`);
  const names = variableNames(output, new Set(Object.keys(immutableReferences).map(Number)));
  const immutables = Object.entries(immutableReferences)
    .map(([id, places]) => [names.get(Number(id)) ?? id, places.map((it) => it.start)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(immutables);
}

async function readArtifact(name: FrozenName): Promise<HardhatArtifact> {
  const file = path.join(repositoryRoot, "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  return JSON.parse(await readFile(file, "utf8"));
}

async function readBuild<Content>(file: string): Promise<Content> {
  return JSON.parse(await readFile(path.join(repositoryRoot, "artifacts", "build-info", file), "utf8"));
}

/** The names of these variables, at any place in the compiler's syntax trees. */
function variableNames(tree: unknown, ids: ReadonlySet<number>, names = new Map<number, string>()) {
  if (typeof tree !== "object" || tree === null) return names;
  const { id, nodeType, name } = tree as { id?: number; nodeType?: string; name?: string };
  if (nodeType === "VariableDeclaration" && id !== undefined && name !== undefined && ids.has(id))
    names.set(id, name);
  for (const child of Object.values(tree)) variableNames(child, ids, names);
  return names;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of frozenNames) {
    const { contract, input } = await compiledContract(name);
    await mkdir(path.dirname(frozenFile(name)), { recursive: true });
    await writeFile(frozenFile(name), `${JSON.stringify(contract, null, 2)}\n`);
    await writeFile(frozenInputFile(name), `${JSON.stringify(input, null, 2)}\n`);
    console.log(`${name}: init code ${contract.initCodeHash}`);
  }
  const ledger = JSON.stringify(await releasedLedger(), null, 2);
  for (const [file, text] of [
    [releaseFile, `${JSON.stringify(await releasedEscrow(), null, 2)}\n`],
    // A module and not JSON, because published packages consist of modules.
    [ledgerReleaseFile, `/** Written by \`npm run freeze\`. */\nexport const anchoredLedger1 = ${ledger};\n`],
  ] as const) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
