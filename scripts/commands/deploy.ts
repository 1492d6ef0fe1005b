import path from "node:path";
import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { createPublicClient, createWalletClient, custom, formatEther, http, type PublicClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { type Address, addressSchema } from "../../protocol/address.ts";
import { TallystickError } from "../../protocol/errors.ts";
import type { Hex } from "../../protocol/hex.ts";
import { parseOption } from "../cli/parseOption.ts";
import type { DeployContractsParameters } from "../deploy/deployContracts.ts";
import { readDeployment, writeDeployment } from "../deploy/deployment.ts";
import { networks } from "../deploy/networks.ts";
import { repositoryRoot } from "../repositoryRoot.ts";

type Options = {
  network?: string;
  rpcUrl?: string;
  token?: Address;
  guardian?: Address;
  provider: string;
  output?: string;
  yes?: boolean;
};

/** The chain of Hardhat and Anvil nodes. */
const LOCAL_CHAIN = 31_337;

const address = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);
const privateKeySchema = z.string().regex(/^0x[0-9a-fA-F]{64}$/);
const provider = z
  .string()
  .refine((text) => Buffer.byteLength(text) >= 1 && Buffer.byteLength(text) <= 31, "must be 1 to 31 bytes");

/** `tallystick deploy`: HireEscrow and AnchoredLedger to a chain. */
export function registerDeploy(program: Command): void {
  program
    .command("deploy")
    .description("Deploy HireEscrow and AnchoredLedger by Hardhat Ignition, and record where they are.")
    .addOption(new Option("--network <name>", "a chain known by name").choices(Object.keys(networks)))
    .option("--rpc-url <url>", "the chain's JSON-RPC; default: the network's public one, or RPC_URL")
    .option(
      "--token <address>",
      "USDC; default: the network's; on a chain without one, a test token",
      parseOption("--token", address),
    )
    .option("--guardian <address>", "who may pause deposits: a multisig", parseOption("--guardian", address))
    .option(
      "--provider <id>",
      "the escrow provider's id, as in platform_escrow:ID",
      parseOption("--provider", provider),
      "tallystick",
    )
    .option("--output <file>", "where to record it; default contracts/deployments/<chainId>.json")
    .option("--yes", "do not ask before sending transactions to a real chain")
    .addHelpText(
      "after",
      "\nThe deployer's key is DEPLOYER_PRIVATE_KEY; without it the node's own accounts sign.",
    )
    .action(deploy);
}

async function deploy(options: Options): Promise<void> {
  const plan = await planDeployment(options);
  printPlan(plan);
  if (plan.real && !options.yes) await confirm();
  // Loaded only now: Hardhat takes its time, and --help should not.
  const { deployContracts } = await import("../deploy/deployContracts.ts");
  const deployment = await deployContracts(plan);
  await writeDeployment(plan.output, deployment);
  const mark = styleText("green", "✔", { stream: process.stderr });
  process.stderr.write(`${mark} deployed, and found on the chain as asked for\n`);
  process.stdout.write(`${JSON.stringify(deployment, null, 2)}\n`);
}

type Plan = DeployContractsParameters & {
  deployer: Address;
  balance: bigint;
  guardianHasCode: boolean;
  /** Whether a mistake costs money: any chain but a local one. */
  real: boolean;
  output: string;
};

/** Finds out everything the deployment needs; sends nothing. */
async function planDeployment(options: Options): Promise<Plan> {
  const { rpcUrl, client, chainId } = await reachChain(options);
  const real = chainId !== LOCAL_CHAIN;
  const folder = real ? "contracts/deployments" : ".tallystick/deployments";
  const output = path.resolve(options.output ?? path.join(repositoryRoot, folder, `${chainId}.json`));
  if (real && (await readDeployment(output))) {
    throw new TallystickError({
      code: "already_deployed",
      message: `${output} records a deployment on chain ${chainId} already.`,
      hint: "A new version is a new deployment: name another file by --output.",
    });
  }
  const privateKey = deployerKey();
  const deployer = privateKey ? privateKeyToAccount(privateKey).address : await firstAccount(client);
  const token = options.token ?? Object.values(networks).find((it) => it.chainId === chainId)?.token;
  if (real && token === undefined) {
    throw new TallystickError({
      code: "no_token",
      message: `USDC's address on chain ${chainId} is not known, and a test token would be worth nothing there.`,
      hint: "Give --token.",
    });
  }
  const guardian = options.guardian ?? (real ? undefined : (deployer.toLowerCase() as Address));
  if (guardian === undefined) {
    throw new TallystickError({
      code: "no_guardian",
      message: `Chain ${chainId} needs a guardian, who may pause deposits for at most 30 days and nothing else.`,
      hint: "Give --guardian, the address of a 2-of-3 Safe.",
    });
  }
  // A journal belongs to one chain (a local one is new at every start), provider and guardian: what broke off goes
  // on, anything else starts anew.
  const genesis = await client.getBlock({ blockNumber: 0n });
  const name = [
    chainId,
    genesis.hash.slice(2, 10),
    options.provider.replaceAll(/[^\w-]/g, "_"),
    guardian,
  ].join("-");
  return {
    rpcUrl,
    chainId,
    guardian,
    providerId: options.provider,
    journal: path.join(repositoryRoot, ".tallystick", "deploy", name),
    ...(token && { token }),
    ...(privateKey && { privateKey }),
    deployer,
    balance: await client.getBalance({ address: deployer }),
    guardianHasCode: (await client.getCode({ address: guardian })) !== undefined,
    real,
    output,
  };
}

function printPlan(plan: Plan): void {
  const line = (name: string, value: string) => process.stderr.write(`  ${name.padEnd(10)} ${value}\n`);
  process.stderr.write("This will deploy HireEscrow and AnchoredLedger:\n");
  line("chain", `${plan.chainId} at ${plan.rpcUrl}`);
  line("deployer", `${plan.deployer} with ${formatEther(plan.balance)} ETH`);
  line("token", plan.token ?? "none there: a TestUSDC, which anybody can mint, comes with it");
  line("guardian", `${plan.guardian}${plan.guardianHasCode ? "" : " (an ordinary account, not a multisig)"}`);
  line("provider", plan.providerId);
  line("record", plan.output);
}

async function reachChain(options: Options) {
  const known = options.network === undefined ? undefined : networks[options.network];
  const rpcUrl = options.rpcUrl ?? known?.rpcUrl ?? process.env.RPC_URL ?? "";
  if (rpcUrl === "") {
    throw new TallystickError({
      code: "no_chain",
      message: "It is not said where to deploy to.",
      hint: `Give --network (${Object.keys(networks).join(", ")}) or --rpc-url.`,
    });
  }
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 1 }) });
  const chainId = await client.getChainId().catch((cause: unknown) => {
    throw new TallystickError({
      code: "rpc_unreachable",
      message: `The chain at ${rpcUrl} does not answer.`,
      hint: "Check the URL; a local chain starts by: npx hardhat node --hostname 127.0.0.1",
      cause,
    });
  });
  if (known && known.chainId !== chainId) {
    throw new TallystickError({
      code: "wrong_chain",
      message: `${rpcUrl} is chain ${chainId}, but ${options.network} is chain ${known.chainId}.`,
      hint: "Leave out --network, or correct --rpc-url.",
    });
  }
  return { rpcUrl, client, chainId };
}

function deployerKey(): Hex | undefined {
  const key = process.env.DEPLOYER_PRIVATE_KEY;
  if (!key) return undefined;
  if (privateKeySchema.safeParse(key).success) return key as Hex;
  throw new TallystickError({
    code: "bad_private_key",
    message: "DEPLOYER_PRIVATE_KEY is not a private key.",
    hint: "It has 0x and 64 hex digits.",
    field: "DEPLOYER_PRIVATE_KEY",
  });
}

async function firstAccount(client: PublicClient): Promise<Address> {
  const accounts = await createWalletClient({ transport: custom(client) })
    .getAddresses()
    .catch(() => []);
  if (accounts[0] !== undefined) return accounts[0];
  throw new TallystickError({
    code: "no_deployer",
    message: "There is no key to sign with, and the node has no account of its own.",
    hint: "Set DEPLOYER_PRIVATE_KEY.",
  });
}

async function confirm(): Promise<void> {
  if (process.stdin.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal
      .question("Send the transactions? Type yes: ")
      .finally(() => terminal.close());
    if (answer.trim().toLowerCase() === "yes") return;
  }
  throw new TallystickError({
    code: "not_confirmed",
    message: "Nothing was sent.",
    hint: "Answer yes, or give --yes where nobody can answer.",
  });
}
