import path from "node:path";
import { readMcpConfig } from "tallystick-mcp/mcpConfig";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Posting } from "tallystick-sdk/erc8004/posting";
import { knownLedger } from "tallystick-sdk/knownLedger";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createPublicClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { QueryOptions } from "../query/nodeQuery.ts";
import { type RegistryOptions, registriesOf } from "./registryOptions.ts";

/** The options of every subcommand that posts something to ERC-8004's registries. */
export type PostOptions = QueryOptions &
  RegistryOptions & { yes?: boolean; uri?: string; publicUrl?: string };

/** The time limit of one request to the chain, in milliseconds. */
const ASK_MS = 20_000;

/**
 * Opens everything that a post to the registries needs, from the options and the environment of an agent
 * (`tallystick-mcp`). The node is asked for its ledger if neither the environment nor the folder of the agent has it.
 *
 * @throws InvalidInputError naming the option or the variable; what {@link knownLedger} throws
 */
export async function openPosting(
  options: PostOptions,
  environment: { [name: string]: string | undefined },
): Promise<Posting> {
  const config = readMcpConfig({ ...environment, TALLYSTICK_URL: options.url });
  const { baseUrl, privateKey, devMode } = config;
  const rpcUrl = options.rpcUrl ?? config.rpcUrl;
  const issues = [
    ...(privateKey === undefined
      ? [{ field: "TALLYSTICK_PRIVATE_KEY", message: "is required: it signs" }]
      : []),
    ...(rpcUrl === undefined ? [{ field: "--rpc-url", message: "is required, or TALLYSTICK_RPC_URL" }] : []),
  ];
  if (privateKey === undefined || rpcUrl === undefined) throw new InvalidInputError({ issues });
  const account = privateKeyToAccount(privateKey);
  const store = fileStore(config.stateDir ?? path.join(".tallystick/buyers", account.address.toLowerCase()));
  return {
    account,
    client: createPublicClient({ transport: rpcTransport(rpcUrl, { timeout: ASK_MS }), cacheTime: 0 }),
    registries: registriesOf(options, config.network.chainId),
    baseUrl,
    publicUrl: options.publicUrl,
    uri: options.uri,
    ledger: await knownLedger({ baseUrl, ledger: config.ledger, store })(),
    agree: () => options.yes === true,
    now: () => Date.now() / 1000,
    devMode,
  };
}
