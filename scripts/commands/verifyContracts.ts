import path from "node:path";
import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { type Address, addressSchema } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { plainJson } from "tallystick-runtime/plainText";
import { getAddress, type PublicClient } from "viem";
import { z } from "zod";
import { parseOption } from "../cli/parseOption.ts";
import { type Deployment, readDeployment } from "../deploy/deployment.ts";
import { describeGuardian, type Guardian, readGuardian } from "../deploy/describeGuardian.ts";
import { networks } from "../deploy/networks.ts";
import { reachChain } from "../deploy/reachChain.ts";
import { shownUrl } from "../deploy/shownUrl.ts";
import { type FrozenName, frozenNames, readFrozen } from "../ignition/frozenContract.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { CompiledFrozen, VerifiedContract } from "../verification/verifyContract.ts";

type Options = {
  network?: string;
  rpcUrl?: string;
  address?: Address;
  deployment?: string;
  plain?: boolean;
  json?: boolean;
};

const address = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);

/** `tallystick verify-contracts`: checks that the deployed contracts match the source. */
export function registerVerifyContracts(program: Command): void {
  program
    .command("verify-contracts")
    .description(
      "Compile the frozen sources, and compare the result with the code on a chain, byte by byte. Compare the addresses with\n" +
        "those that CreateX gives. Print what the contracts were constructed with, and who their guardian is. Exit 1 on any\n" +
        "difference.",
    )
    .addOption(new Option("--network <name>", "a chain known by name").choices(Object.keys(networks)))
    .option("--rpc-url <url>", "the chain's JSON-RPC; default: the network's public one, or RPC_URL")
    .option(
      "--address <address>",
      "this contract, instead of those of the recorded deployment",
      parseOption("--address", address),
    )
    .option("--deployment <file>", "the record; default contracts/deployments/<chainId>.json")
    .option("--plain", "they were deployed with --plain: accept addresses that CreateX does not give")
    .option("--json", "print the result as JSON")
    .addHelpText("after", "\nThe compiler is the one that npm installed. Compiling takes half a minute.")
    .action(async (options: Options) => {
      const { rpcUrl, client, chainId } = await reachChain(options, process.env.RPC_URL);
      const result = await verifyContracts(client, chainId, options);
      process.stdout.write(options.json ? `${plainJson(result, 2)}\n` : asText(result, rpcUrl));
      if (result.differences.length > 0) process.exitCode = 1;
    });
}

export type VerificationResult = {
  chainId: number;
  contracts: (VerifiedContract & { guardian?: Guardian })[];
  /** Every difference from the expected state. */
  differences: string[];
};

/**
 * Verifies the contracts of a deployment, or one of them by its address.
 *
 * @param compile makes the code to compare with; replaced in tests, because compiling takes long
 */
export async function verifyContracts(
  client: PublicClient,
  chainId: number,
  options: Pick<Options, "address" | "deployment" | "plain">,
  compile?: (name: FrozenName) => CompiledFrozen,
): Promise<VerificationResult> {
  // Loaded only now, because Hardhat and the compiler are slow to load and --help should be quick.
  const { compileFrozen, verifyContract } = await import("../verification/verifyContract.ts");
  const deployment = options.address === undefined ? await recorded(options.deployment, chainId) : undefined;
  const asked: [FrozenName, Address][] = deployment
    ? [
        ["HireEscrow", deployment.hireEscrow.address],
        ["AnchoredLedger", deployment.anchoredLedger],
      ]
    : (await likeliestFirst(client, options.address as Address)).map((name) => [
        name,
        options.address as Address,
      ]);
  const differences: string[] = [];
  let contracts: VerificationResult["contracts"] = [];
  for (const [name, at] of asked) {
    const { compiled, differences: ofSource } = (compile ?? compileFrozen)(name);
    const verified = await verifyContract(client, {
      ...{ name, address: at, chainId, compiled },
      ...(options.plain && { isPlain: true }),
    });
    verified.differences.unshift(...ofSource);
    contracts.push(verified);
    // Only an address was given, so one matching contract is enough.
    if (deployment === undefined && verified.differences.length === 0) {
      contracts = [verified];
      break;
    }
  }
  for (const contract of contracts) {
    differences.push(...contract.differences);
    const { guardian } = contract.values;
    if (guardian !== undefined) contract.guardian = await readGuardian(client, guardian as Address);
  }
  differences.push(
    ...(deployment === undefined
      ? unlikeTheNetwork(contracts, chainId)
      : unlikeTheRecord(deployment, contracts, chainId)),
  );
  return { chainId, contracts, differences };
}

/**
 * Sorts the contracts so that the one with the most similar code length comes first, because each attempt
 * must be compiled.
 */
async function likeliestFirst(client: PublicClient, address: Address): Promise<FrozenName[]> {
  const code = (await client.getCode({ address })) ?? "0x";
  const distance = (name: FrozenName) => Math.abs(readFrozen(name).initCode.length - code.length);
  return [...frozenNames].sort((a, b) => distance(a) - distance(b));
}

async function recorded(file: string | undefined, chainId: number): Promise<Deployment> {
  const folder = chainId === networks.local?.chainId ? ".tallystick/deployments" : "contracts/deployments";
  const record = path.resolve(file ?? path.join(repositoryRoot, folder, `${chainId}.json`));
  const deployment = await readDeployment(record);
  if (deployment !== undefined) return deployment;
  throw new TallystickError({
    code: "no_deployment",
    message: `There is no record of a deployment on chain ${chainId} (${record}).`,
    hint: "Give --address, or --deployment with another file.",
  });
}

/** Compares the contracts' own values with the recorded deployment and with the network's USDC. */
function unlikeTheRecord(
  { chainId: recordedChain, hireEscrow, token }: Deployment,
  contracts: VerificationResult["contracts"],
  chainId: number,
): string[] {
  const values = valuesOfEscrow(contracts);
  return unlike([
    ["chain", String(chainId), String(recordedChain)],
    ["escrow's token", values.token, token],
    ["escrow's guardian", values.guardian, hireEscrow.guardian],
    ["escrow's provider", values.providerId, hireEscrow.providerId],
    ["record's token", token, usdcOf(chainId)],
  ]);
}

/**
 * Compares an escrow that no file records with the network's USDC. The released code holds any token, so an escrow of a
 * worthless token has it too.
 */
export function unlikeTheNetwork(
  contracts: readonly Pick<VerifiedContract, "contract" | "values">[],
  chainId: number,
): string[] {
  return unlike([["escrow's token", valuesOfEscrow(contracts).token, usdcOf(chainId)]]);
}

function valuesOfEscrow(
  contracts: readonly Pick<VerifiedContract, "contract" | "values">[],
): VerifiedContract["values"] {
  return contracts.find(({ contract }) => contract === "HireEscrow")?.values ?? {};
}

function usdcOf(chainId: number): Address | undefined {
  return Object.values(networks).find((it) => it.chainId === chainId)?.token;
}

function unlike(
  compared: readonly [what: string, found: string | undefined, wanted: string | undefined][],
): string[] {
  return compared
    .filter(
      ([, found, it]) => found !== undefined && it !== undefined && found.toLowerCase() !== it.toLowerCase(),
    )
    .map(([what, found, it]) => `The ${what} is ${found}, not ${it}.`);
}

function asText({ chainId, contracts, differences }: VerificationResult, rpcUrl: string): string {
  const lines = [`chain ${chainId} at ${shownUrl(rpcUrl)}`];
  for (const {
    contract,
    address: at,
    values,
    constructorArguments,
    isAtItsAddress,
    compiler,
    guardian,
    ...it
  } of contracts) {
    const same = it.differences.length === 0;
    lines.push(`${mark(same)} ${contract} ${getAddress(at)}${same ? `, as ${compiler} compiles it` : ""}`);
    for (const [name, value] of Object.entries(values)) lines.push(`    ${name.padEnd(12)} ${value}`);
    if (guardian !== undefined) lines.push(`    ${"which is".padEnd(12)} ${describeGuardian(guardian)}`);
    if (guardian?.kind === "safe") {
      const { owners, modules, guards, handler } = guardian;
      const parts = {
        owner: owners,
        module: modules,
        guard: guards,
        handler: handler === null ? [] : [handler],
      };
      for (const [what, addresses] of Object.entries(parts))
        for (const it of addresses) lines.push(`    ${what.padEnd(12)} ${getAddress(it)}`);
    }
    if (constructorArguments !== "0x") lines.push(`    ${"constructor".padEnd(12)} ${constructorArguments}`);
    if (same)
      lines.push(
        `    ${"storage".padEnd(12)} ${isAtItsAddress ? "only its own constructor wrote it before" : "may have been written before by whoever deployed it"}`,
      );
  }
  for (const difference of differences) lines.push(`${mark(false)} ${difference}`);
  return `${lines.join("\n")}\n`;
}

function mark(good: boolean): string {
  return styleText(good ? "green" : "red", good ? "✔" : "✘", { stream: process.stdout });
}
