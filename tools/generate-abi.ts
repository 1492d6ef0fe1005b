/** Writes packages/protocol/abi/*.ts from the compiled contracts. Run after `hardhat build`; `--check` only compares. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** The generated files: the name of the constant and its file, and the contract of the ABI. */
export const GENERATED_ABIS = [
  { name: "hireEscrowAbi", artifact: "contracts/HireEscrow.sol/HireEscrow.json" },
  { name: "anchoredLedgerAbi", artifact: "contracts/AnchoredLedger.sol/AnchoredLedger.json" },
  { name: "testUsdcAbi", artifact: "contracts/test/TestUSDC.sol/TestUSDC.json" },
] as const;

type Parameter = {
  name?: string;
  type: string;
  internalType?: string;
  indexed?: boolean;
  components?: Parameter[];
};
type AbiItem = {
  type: string;
  name?: string;
  inputs?: Parameter[];
  outputs?: Parameter[];
  stateMutability?: string;
};

/** The text of one generated file: the same ABI always gives the same bytes. */
export function abiSource(name: string, abi: readonly AbiItem[]): string {
  const structs = new Map<string, string>();
  const lines = abi.map((item) => signatureOf(item, structs)).sort();
  return [
    "// Generated from the compiled contract by tools/generate-abi.ts. Do not edit.",
    'import { parseAbi } from "viem";',
    "",
    `export const ${name} = parseAbi([`,
    ...[...structs.values()]
      .sort()
      .concat(lines)
      .map((line) => `  ${JSON.stringify(line)},`),
    "]);",
    "",
  ].join("\n");
}

/** An item in Solidity's notation. The structs that it names are added to `structs`. */
function signatureOf(item: AbiItem, structs: Map<string, string>): string {
  const list = (parameters: Parameter[] = []) =>
    `(${parameters.map((parameter) => parameterText(parameter, structs)).join(", ")})`;
  const { type, name, inputs, outputs = [], stateMutability } = item;
  const mutability = stateMutability && stateMutability !== "nonpayable" ? ` ${stateMutability}` : "";
  const returns = outputs.length > 0 ? ` returns ${list(outputs)}` : "";
  if (type === "constructor") return `constructor${list(inputs)}${mutability}`;
  return `${type} ${name}${list(inputs)}${mutability}${returns}`;
}

function parameterText(parameter: Parameter, structs: Map<string, string>): string {
  const { name, indexed } = parameter;
  return [typeText(parameter, structs), indexed && "indexed", name].filter(Boolean).join(" ");
}

function typeText({ type, internalType, components }: Parameter, structs: Map<string, string>): string {
  if (components === undefined) return type;
  const [, struct, array] = /^struct (?:\w+\.)?(\w+)((?:\[\d*\])*)$/.exec(internalType ?? "") ?? [];
  if (struct === undefined) throw new Error(`no name for the struct ${internalType}`);
  const fields = components.map((field) => `${parameterText(field, structs)};`).join(" ");
  const text = `struct ${struct} { ${fields} }`;
  if ((structs.get(struct) ?? text) !== text) throw new Error(`two structs are named ${struct}`);
  structs.set(struct, text);
  return `${struct}${array}`;
}

/** Path of a generated file in the repository. */
export function abiPath(name: string): string {
  return join(repository, "packages", "protocol", "abi", `${name}.ts`);
}

/** The present text of a generated file. Needs the artifacts of `hardhat build`. */
export async function expectedAbiSource({
  name,
  artifact,
}: (typeof GENERATED_ABIS)[number]): Promise<string> {
  const { abi } = JSON.parse(await readFile(join(repository, "artifacts", artifact), "utf8"));
  return abiSource(name, abi);
}

async function main(check: boolean): Promise<void> {
  const stale: string[] = [];
  await mkdir(join(repository, "packages", "protocol", "abi"), { recursive: true });
  for (const entry of GENERATED_ABIS) {
    const source = await expectedAbiSource(entry);
    const current = await readFile(abiPath(entry.name), "utf8").catch(() => "");
    if (source === current) continue;
    stale.push(entry.name);
    if (!check) await writeFile(abiPath(entry.name), source);
  }
  if (check && stale.length > 0) {
    console.error(`Out of date: ${stale.join(", ")}. Run: npm run generate:abi`);
    process.exitCode = 1;
  } else {
    console.log(stale.length > 0 ? `Wrote ${stale.join(", ")}.` : "packages/protocol/abi is up to date.");
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.includes("--check"));
}
