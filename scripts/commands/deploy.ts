import path from "node:path";
import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { type Address, addressSchema } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { providerIdSchema } from "tallystick-protocol/records/paymentMode";
import { CREATEX } from "tallystick-protocol/releaseAddress";
import { plainJson } from "tallystick-runtime/plainText";
import { createWalletClient, custom, formatEther, keccak256, type PublicClient, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { parseOption } from "../cli/parseOption.ts";
import type { DeployContractsParameters } from "../deploy/deployContracts.ts";
import { readDeployment, writeDeployment } from "../deploy/deployment.ts";
import { describeGuardian, readGuardian } from "../deploy/describeGuardian.ts";
import { networks } from "../deploy/networks.ts";
import { reachChain } from "../deploy/reachChain.ts";
import { shownUrl } from "../deploy/shownUrl.ts";
import { frozenAddresses } from "../ignition/frozenAddresses.ts";
import { repositoryRoot } from "../repositoryRoot.ts";

type Options = {
  network?: string;
  rpcUrl?: string;
  token?: Address;
  guardian?: Address;
  guardianIsAKey?: boolean;
  guardianOwners?: Address[];
  plain?: boolean;
  provider: string;
  output?: string;
  yes?: boolean;
};

/** The chain id of Hardhat and Anvil nodes. */
const LOCAL_CHAIN = 31_337;

const address = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);
const owners = z
  .string()
  .transform((text) => text.split(",").map((word) => word.trim().toLowerCase()))
  .pipe(z.array(addressSchema).length(3, "must be three addresses, with commas between them"))
  .refine((list) => new Set(list).size === 3, "must be three different addresses");
const privateKeySchema = z.string().regex(/^0x[0-9a-fA-F]{64}$/);

/** `tallystick deploy`: deploys HireEscrow and AnchoredLedger to a chain. */
export function registerDeploy(program: Command): void {
  program
    .command("deploy")
    .description(
      "Deploy HireEscrow, AnchoredLedger and a guardian by Hardhat Ignition, check them on the chain, and record them.",
    )
    .addOption(new Option("--network <name>", "a chain known by name").choices(Object.keys(networks)))
    .option("--rpc-url <url>", "the chain's JSON-RPC; default: the network's public one, or RPC_URL")
    .option(
      "--token <address>",
      "the address of USDC; default: the network's USDC; on a local chain a new test token",
      parseOption("--token", address),
    )
    .option("--guardian <address>", "who may pause deposits: a multisig", parseOption("--guardian", address))
    .option(
      "--guardian-is-a-key",
      "accept a guardian that is no contract: the holder of that key can pause alone",
    )
    .option(
      "--guardian-owners <addresses>",
      "or three owners of a new Safe, two of whom have to confirm; on a local chain by default three of its accounts",
      parseOption("--guardian-owners", owners),
    )
    .option(
      "--plain",
      "do not use CreateX, for a chain that lacks it; the addresses then depend on the deployer",
    )
    .option(
      "--provider <id>",
      "the escrow provider's id, as in platform_escrow:ID",
      parseOption("--provider", providerIdSchema),
      "tallystick",
    )
    .option(
      "--output <file>",
      "where to record it; default contracts/deployments/<chainId>.json, on a local chain .tallystick/deployments/<chainId>.json",
    )
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
  // Loaded only now, because Hardhat is slow to load and --help should be quick.
  const { deployContracts } = await import("../deploy/deployContracts.ts");
  const deployment = await deployContracts(plan);
  await writeDeployment(plan.output, deployment);
  const mark = styleText("green", "✔", { stream: process.stderr });
  process.stderr.write(`${mark} deployed, and checked on the chain\n`);
  process.stdout.write(`${plainJson(deployment, 2)}\n`);
}

type Plan = DeployContractsParameters & {
  deployer: Address;
  balance: bigint;
  /** The kind of the guardian, if it exists already. */
  guardianKind: string | undefined;
  /** False only for a local chain. On any other chain nothing can be undone, so the command asks first. */
  real: boolean;
  output: string;
};

/** Collects everything that the deployment needs. It sends nothing. */
async function planDeployment(options: Options): Promise<Plan> {
  const { rpcUrl, client, chainId } = await reachChain(options, process.env.RPC_URL);
  const real = chainId !== LOCAL_CHAIN;
  const folder = real ? "contracts/deployments" : ".tallystick/deployments";
  const output = path.resolve(options.output ?? path.join(repositoryRoot, folder, `${chainId}.json`));
  if (real && (await readDeployment(output))) {
    throw new TallystickError({
      code: "already_deployed",
      message: `${output} records a deployment on chain ${chainId} already.`,
      hint: "A new version is a new deployment. Name another file by --output.",
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
  const chosen = await chooseGuardian(options, { client, real, chainId, deployer });
  const deterministic = !options.plain;
  if (deterministic && real && (await client.getCode({ address: CREATEX })) === undefined) {
    throw new TallystickError({
      code: "no_createx",
      message: `CreateX, through which contracts get the same address everywhere, is not on chain ${chainId}.`,
      hint: "Have it deployed (https://createx.rocks), or give --plain.",
    });
  }
  // A journal belongs to one chain, provider, guardian and `--token`. An interrupted deployment continues, and any other
  // deployment starts from the beginning. A local chain is a new chain after every start, with the same chain id. So
  // the journal's name also has the hash of the chain's first block.
  const genesis = await client.getBlock({ blockNumber: 0n });
  const name = [
    chainId,
    genesis.hash.slice(2, 10),
    options.provider,
    chosen.guardian ?? keccak256(toHex(chosen.guardianOwners.join())).slice(2, 22),
    ...(options.token ? [options.token] : []),
    ...(deterministic ? ["create2"] : []),
  ].join("-");
  return {
    rpcUrl,
    chainId,
    ...chosen,
    deterministic,
    providerId: options.provider,
    journal: path.join(repositoryRoot, ".tallystick", "deploy", name),
    ...(token && { token }),
    ...(privateKey && { privateKey }),
    deployer,
    balance: await client.getBalance({ address: deployer }),
    guardianKind: chosen.guardian && describeGuardian(await readGuardian(client, chosen.guardian)),
    real,
    output,
  };
}

function printPlan(plan: Plan): void {
  const line = (name: string, value: string) => process.stderr.write(`  ${name.padEnd(10)} ${value}\n`);
  process.stderr.write("This will deploy HireEscrow and AnchoredLedger:\n");
  line("chain", `${plan.chainId} at ${shownUrl(plan.rpcUrl)}`);
  line("deployer", `${plan.deployer} with ${formatEther(plan.balance)} ETH`);
  line("token", plan.token ?? "none on this chain: a TestUSDC is deployed too, and anybody can mint it");
  if (plan.guardian) line("guardian", `${plan.guardian} (${plan.guardianKind})`);
  else line("guardian", `a new Safe, two of three: ${plan.guardianOwners?.join(", ")}`);
  line("provider", plan.providerId);
  const { token, guardian, providerId } = plan;
  if (!plan.deterministic) line("addresses", "depend on the deployer's next transactions");
  else if (token && guardian) {
    const known = frozenAddresses({ token, guardian, providerId });
    line("escrow", `${known.hireEscrow}, through CreateX; a contract that is there already is used`);
    line("ledger", `${known.anchoredLedger}, likewise`);
  } else line("addresses", "through CreateX; they depend only on token, guardian and provider");
  line("record", plan.output);
}

/** Finds an existing guardian, or the owners of a new one. */
async function chooseGuardian(
  { guardian, guardianIsAKey = false, guardianOwners }: Options,
  {
    client,
    real,
    chainId,
    deployer,
  }: { client: PublicClient; real: boolean; chainId: number; deployer: Address },
): Promise<{ guardian: Address } | { guardian?: undefined; guardianOwners: Address[] }> {
  if (guardian) {
    const found = await readGuardian(client, guardian);
    if (found.kind === "key" && !guardianIsAKey) {
      throw new TallystickError({
        code: "guardian_is_a_key",
        message: `The guardian ${guardian} is ${describeGuardian(found)}.`,
        hint: "Give --guardian-owners to deploy a Safe, or --guardian-is-a-key if you want a key.",
      });
    }
    return { guardian };
  }
  if (guardianOwners) return { guardianOwners };
  if (real) {
    throw new TallystickError({
      code: "no_guardian",
      message: `Chain ${chainId} needs a guardian. The guardian may only pause deposits, for at most 30 days.`,
      hint: "Give --guardian, the address of a 2-of-3 Safe, or --guardian-owners to have one deployed.",
    });
  }
  const accounts = (await accountsOf(client)).map((account) => account.toLowerCase() as Address);
  const three = accounts.slice(0, 3);
  return three.length === 3 ? { guardianOwners: three } : { guardian: deployer.toLowerCase() as Address };
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
  const [account] = await accountsOf(client);
  if (account !== undefined) return account;
  throw new TallystickError({
    code: "no_deployer",
    message: "There is no key to sign with, and the node has no account of its own.",
    hint: "Set DEPLOYER_PRIVATE_KEY.",
  });
}

/** The accounts for which the node itself signs. Only local chains have them. */
async function accountsOf(client: PublicClient): Promise<Address[]> {
  return createWalletClient({ transport: custom(client) })
    .getAddresses()
    .catch(() => []);
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
    hint: "Answer yes, or give --yes if nobody can answer.",
  });
}
