/** Writes protocol/abi/*.ts from the compiled contracts. Run after `hardhat build`; `--check` only compares. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** What is generated: the name of the constant (and of its file) and the contract whose ABI it is. */
export const GENERATED_ABIS = [
  { name: "hireEscrowAbi", artifact: "contracts/HireEscrow.sol/HireEscrow.json" },
  { name: "anchoredLedgerAbi", artifact: "contracts/AnchoredLedger.sol/AnchoredLedger.json" },
  { name: "testUsdcAbi", artifact: "contracts/test/TestUSDC.sol/TestUSDC.json" },
] as const;

type AbiItem = { type: string; name?: string; inputs?: readonly { type: string }[] };

/** The text of one generated file: the same ABI always gives the same bytes. */
export function abiSource(name: string, abi: readonly AbiItem[]): string {
  const items = [...abi].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return [
    "// Generated from the compiled contract by scripts/generate-abi.ts. Do not edit.",
    `export const ${name} = ${JSON.stringify(items, null, 2)} as const;`,
    "",
  ].join("\n");
}

/** Path of a generated file in the repository. */
export function abiPath(name: string): string {
  return join(repository, "protocol", "abi", `${name}.ts`);
}

/** The text a generated file has to have now. Needs the artifacts of `hardhat build`. */
export async function expectedAbiSource({
  name,
  artifact,
}: (typeof GENERATED_ABIS)[number]): Promise<string> {
  const { abi } = JSON.parse(await readFile(join(repository, "artifacts", artifact), "utf8"));
  return abiSource(name, abi);
}

function sortKey(item: AbiItem): string {
  const inputs = (item.inputs ?? []).map((input) => input.type).join(",");
  return `${item.type} ${item.name ?? ""}(${inputs})`;
}

async function main(check: boolean): Promise<void> {
  const stale: string[] = [];
  await mkdir(join(repository, "protocol", "abi"), { recursive: true });
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
    console.log(stale.length > 0 ? `Wrote ${stale.join(", ")}.` : "protocol/abi is up to date.");
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.includes("--check"));
}
