import { type Command, Option } from "commander";
import { PUBLISHED_REGISTRIES, registriesSetting } from "tallystick-protocol/erc8004/registries";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { ChainRegistries } from "tallystick-sdk/erc8004/registries";
import { parseOption, wholeNumber } from "../cli/parseOption.ts";

export type RegistryOptions = {
  registries?: ReturnType<(typeof registriesSetting)["parse"]>;
  chainId?: number;
  fromBlock?: number;
  rpcUrl?: string;
};

/**
 * Adds the options that name the registries and their chain.
 *
 * @param defaults where the command takes the chain and the RPC from if they are not given
 */
export function addRegistryOptions(command: Command, defaults: { chain: string; rpc: string }): Command {
  const names = Object.keys(PUBLISHED_REGISTRIES).join(", ");
  return command
    .addOption(
      new Option(
        "--registries <name>",
        `${names}, or IDENTITY=REPUTATION with --chain-id (default: by the chain)`,
      )
        .env("ERC8004_REGISTRIES")
        .argParser(parseOption("--registries", registriesSetting)),
    )
    .option("--chain-id <id>", `the chain of the registries (${defaults.chain})`, wholeNumber("--chain-id"))
    .option(
      "--from-block <n>",
      "the first block that the registries have events in",
      wholeNumber("--from-block"),
    )
    .option("--rpc-url <url>", `the chain's RPC (${defaults.rpc})`);
}

/**
 * The registries to use: those that an option names, otherwise the published ones of the chain.
 *
 * @param chainId the chain of the configuration; used when the options name no chain
 * @throws InvalidInputError naming `--registries` or `--chain-id`
 */
export function registriesOf(options: RegistryOptions, chainId: number): ChainRegistries {
  const wanted = options.chainId ?? options.registries?.chainId ?? chainId;
  const published = Object.values(PUBLISHED_REGISTRIES).find((it) => it.chainId === wanted);
  const found = options.registries ?? published;
  if (found === undefined) refuse("--registries", `is required: none are known on chain ${wanted}`);
  if (found.chainId !== null && found.chainId !== wanted)
    refuse("--chain-id", `is ${wanted}, and those registries are on chain ${found.chainId}`);
  const { identity, reputation, firstBlock } = found;
  return { chainId: wanted, identity, reputation, fromBlock: BigInt(options.fromBlock ?? firstBlock ?? 0) };
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}
