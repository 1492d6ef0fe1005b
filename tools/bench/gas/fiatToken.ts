import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { type Contract, type ContractFactory, type ContractRunner, ethers } from "ethers";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/** The compiler with which Circle builds FiatToken 2.2 and its proxy, and the library that they import. */
const PACKAGES = ["solc@0.6.12", "@openzeppelin/contracts@3.4.2"];
const SETTINGS = { optimizer: { enabled: true, runs: 10_000_000 } };
const LIBRARY = "contracts/util/SignatureChecker.sol";
const TOKEN = "contracts/v2/FiatTokenV2_2.sol";
const PROXY = "contracts/v1/FiatTokenProxy.sol";

type Compiled = {
  abi: ethers.InterfaceAbi;
  evm: {
    bytecode: { object: string; linkReferences: Record<string, Record<string, { start: number }[]>> };
  };
};
type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, Compiled>>;
};

/** Circle's FiatToken 2.2, its proxy and the library that it calls, compiled. */
export type FiatTokenCode = { token: Compiled; proxy: Compiled; library: Compiled };

/**
 * Compiles Circle's FiatToken 2.2 from its published source (github.com/circlefin/stablecoin-evm), with the compiler and
 * the settings of that repository. The first call fetches the compiler and OpenZeppelin's library from npm into
 * `.tallystick/`.
 *
 * @param source the folder of a checkout, or the name of an installed package with the same files
 * @throws Error when the source has no FiatToken 2.2
 */
export async function compileFiatToken(source: string): Promise<FiatTokenCode> {
  const folder = sourceFolder(source);
  const packages = await packagesFolder();
  const require = createRequire(path.join(packages, "package.json"));
  const solc = require("solc") as { compile: (input: string, callbacks: object) => string };
  const read = (name: string): string => {
    const at = name.startsWith("@openzeppelin/") ? path.join(packages, "node_modules") : folder;
    return readFileSync(path.join(at, name), "utf8");
  };
  const input = {
    language: "Solidity",
    sources: Object.fromEntries([TOKEN, PROXY].map((name) => [name, { content: read(name) }])),
    settings: {
      ...SETTINGS,
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.bytecode.linkReferences"] } },
    },
  };
  const findImports = (name: string) => {
    try {
      return { contents: read(name) };
    } catch (error) {
      return { error: String(error) };
    }
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImports })) as Output;
  const failed = output.errors?.find(({ severity }) => severity === "error");
  if (failed) throw new Error(`FiatToken does not compile: ${failed.formattedMessage}`);
  const named = (file: string): Compiled => {
    const found = output.contracts?.[file]?.[path.basename(file, ".sol")];
    if (found === undefined) throw new Error(`${file} compiles to nothing`);
    return found;
  };
  return { token: named(TOKEN), proxy: named(PROXY), library: named(LIBRARY) };
}

/**
 * Deploys the token behind its proxy, and makes the deployer its minter. The proxy's admin is another account, because
 * an admin cannot use the token.
 */
export async function deployFiatToken(
  code: FiatTokenCode,
  runner: ContractRunner,
  others: { admin: string; deployer: string },
): Promise<Contract> {
  const deploy = async ({ abi }: Compiled, bytecode: string, args: unknown[]): Promise<string> => {
    const factory: ContractFactory = new ethers.ContractFactory(abi, bytecode, runner);
    return (await (await factory.deploy(...args)).waitForDeployment()).getAddress();
  };
  const library = await deploy(code.library, code.library.evm.bytecode.object, []);
  const implementation = await deploy(code.token, linked(code.token, library), []);
  const address = await deploy(code.proxy, code.proxy.evm.bytecode.object, [implementation]);
  const { admin, deployer } = others;
  const wait = async (sent: Promise<{ wait: () => Promise<unknown> }>) => (await sent).wait();
  const call = (name: string, ...args: unknown[]) =>
    wait(
      new ethers.Contract(
        address,
        [...asFragments(code.proxy), ...asFragments(code.token)],
        runner,
      ).getFunction(name)(...args),
    );
  await call("changeAdmin", admin);
  await call("initialize", "USD Coin", "USDC", "USD", 6, deployer, deployer, deployer, deployer);
  await call("initializeV2", "USD Coin");
  await call("initializeV2_1", "0x000000000000000000000000000000000000dEaD");
  await call("initializeV2_2", [], "USDC");
  await call("configureMinter", deployer, 2n ** 128n);
  return new ethers.Contract(address, code.token.abi, runner);
}

function asFragments({ abi }: Compiled): object[] {
  return (abi as { type: string }[]).filter(({ type }) => type === "function");
}

function linked({ evm: { bytecode } }: Compiled, library: string): string {
  let code = bytecode.object;
  for (const references of Object.values(bytecode.linkReferences)) {
    for (const places of Object.values(references)) {
      for (const { start } of places)
        code = `${code.slice(0, 2 * start)}${library.slice(2)}${code.slice(2 * start + 40)}`;
    }
  }
  return code;
}

function sourceFolder(source: string): string {
  const candidates = [path.resolve(source), path.join(repositoryRoot, "node_modules", source)];
  const folder = candidates.find((at) => existsSync(path.join(at, TOKEN)));
  if (folder !== undefined) return folder;
  throw new Error(
    `FIAT_TOKEN_SOURCE: there is no ${TOKEN} in ${candidates.join(" nor in ")}. Name the folder of a checkout of github.com/circlefin/stablecoin-evm, or a package with the same files.`,
  );
}

/** A folder with the old compiler and the old library. It is filled once. */
async function packagesFolder(): Promise<string> {
  const folder = path.join(repositoryRoot, ".tallystick", "fiat-token");
  if (!existsSync(path.join(folder, "node_modules", "solc", "package.json"))) {
    await mkdir(folder, { recursive: true });
    const npm = path.join(path.dirname(process.execPath), "npm");
    const args = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", ...PACKAGES];
    await promisify(execFile)(existsSync(npm) ? npm : "npm", args, { cwd: folder });
  }
  return folder;
}
