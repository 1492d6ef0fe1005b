import type { Address } from "tallystick-protocol/address";
import { formatAccountId } from "tallystick-protocol/erc8004/accountId";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { type JsonFile, writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { type RegistrationSources, registrationContent } from "tallystick-protocol/erc8004/registrationFile";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { getAbiItem, parseAbi, parseEventLogs, type TransactionReceipt } from "viem";
import { keepFile, type Posting, uriOf } from "./posting.ts";
import type { GasCost } from "./quoteGas.ts";
import { requireRegistries } from "./registries.ts";
import { searchLogs } from "./searchLogs.ts";
import { sendOnce } from "./sendOnce.ts";

export type RegisterAgentParameters = Posting &
  Omit<RegistrationSources, "registrations"> & {
    /** The agent's number, if the agent is registered and only its file changes. */
    agentId?: number | undefined;
    /**
     * The hash of an entry of the node's ledger that the account signed, such as its listing. Not needed with a
     * `uri`.
     */
    knownBy?: string | undefined;
  };

/** The outcome, as in `postFeedback`. `updated`: the identity existed, and now names the new file. */
export type RegisteredOrNot = {
  status: "registered" | "updated" | "found" | "quoted";
  /** For `quoted`: the number that it would get now. */
  agentId: number;
  uri: string;
  hash: Hex;
  text: string;
  transactions: Hex[];
  cost?: GasCost;
};

const ownersAbi = parseAbi(["function balanceOf(address owner) view returns (uint256)"]);

/**
 * Registers an agent with ERC-8004, by its own key. The registry then names the account as the identity's
 * wallet, so the identity counts as the agent's. A registered agent gets a new file, unless the file is the same.
 *
 * The file names the agent's number, but only the registry gives this number. So the file is made with the
 * next free number. If somebody else registers first, a second transaction sets the right file.
 *
 * @throws TallystickError `not_the_owner`, `which_identity`; else as `postFeedback`
 */
export async function registerAgent(parameters: RegisterAgentParameters): Promise<RegisteredOrNot> {
  await requireRegistries(parameters.client, parameters.registries);
  const known = parameters.agentId ?? (await findIdentity(parameters));
  if (known !== undefined) return await renew(parameters, known);

  const { account, client, registries } = parameters;
  const next = await client.simulateContract({
    ...{ address: registries.identity, abi: identityRegistryAbi, functionName: "register", args: [""] },
    account: account.address,
  });
  const assumed = Number(next.result);
  const { file, uri } = fileOf(parameters, assumed);
  const sent = await sendOnce({
    ...parameters,
    chainId: registries.chainId,
    call: { address: registries.identity, abi: identityRegistryAbi, functionName: "register", args: [uri] },
    find: (block) => findIdentity(parameters, block),
    agree: agreeAndKeep(parameters, file),
  });
  if (sent.status === "quoted")
    return { status: "quoted", agentId: assumed, uri, ...file, transactions: [], cost: sent.cost };
  // Another call for the same agent was first.
  if (sent.status === "found") return await renew(parameters, sent.found);
  const agentId = agentIdIn(sent.receipt);
  const transactions = [sent.receipt.transactionHash];
  if (agentId === assumed)
    return { status: "registered", agentId, uri, ...file, transactions, cost: sent.cost };
  const renewed = await renew(parameters, agentId);
  return { ...renewed, status: "registered", transactions: [...transactions, ...renewed.transactions] };
}

async function renew(parameters: RegisterAgentParameters, agentId: number): Promise<RegisteredOrNot> {
  const { account, client, registries } = parameters;
  const identity = { address: registries.identity, abi: identityRegistryAbi } as const;
  const args = [BigInt(agentId)] as const;
  const owner = await client
    .readContract({ ...identity, functionName: "ownerOf", args })
    .catch(() => undefined);
  if (owner?.toLowerCase() !== account.address.toLowerCase()) {
    throw new TallystickError({
      code: "not_the_owner",
      message: `Identity ${agentId} is ${owner === undefined ? "nobody's" : `${owner}'s`}, not ${account.address}'s.`,
      hint: "Nothing was sent. Name your own identity, or none to register.",
    });
  }
  const { file, uri } = fileOf(parameters, agentId);
  const sent = await sendOnce({
    ...parameters,
    chainId: registries.chainId,
    call: { ...identity, functionName: "setAgentURI", args: [BigInt(agentId), uri] },
    find: async (blockNumber) =>
      (await client.readContract({ ...identity, functionName: "tokenURI", args, blockNumber })) === uri ||
      undefined,
    agree: agreeAndKeep(parameters, file),
  });
  if (sent.status === "quoted")
    return { status: "quoted", agentId, uri, ...file, transactions: [], cost: sent.cost };
  if (sent.status === "found") return { status: "found", agentId, uri, ...file, transactions: [] };
  return {
    status: "updated",
    agentId,
    uri,
    ...file,
    transactions: [sent.receipt.transactionHash],
    cost: sent.cost,
  };
}

function agreeAndKeep(parameters: RegisterAgentParameters, file: JsonFile) {
  return async (cost: GasCost): Promise<boolean> => {
    if (!(await parameters.agree(cost))) return false;
    await keepFile(parameters, file, parameters.knownBy ?? "");
    return true;
  };
}

function fileOf(parameters: RegisterAgentParameters, agentId: number): { file: JsonFile; uri: string } {
  const { chainId, identity: address } = parameters.registries;
  const registrations = [{ agentId, agentRegistry: formatAccountId({ chainId, address }) }];
  const file = writeJsonFile(registrationContent({ ...parameters, registrations }));
  return { file, uri: uriOf(parameters, file) };
}

/**
 * The identity that the account registered and still has, undefined when it has none. Identities that it received
 * from others do not count, because anybody may send an identity to anybody.
 */
async function findIdentity(
  { account, client, registries }: RegisterAgentParameters,
  at?: bigint,
): Promise<number | undefined> {
  const block = at ?? (await client.getBlockNumber({ cacheTime: 0 }));
  const owner = account.address;
  const identity = { address: registries.identity, blockNumber: block };
  const count = await client.readContract({
    ...identity,
    ...{ abi: ownersAbi, functionName: "balanceOf", args: [owner] },
  });
  if (count === 0n) return undefined;
  const event = getAbiItem({ abi: identityRegistryAbi, name: "Registered" });
  const owned: number[] = [];
  let judged = 0;
  await searchLogs(
    { fromBlock: registries.fromBlock, toBlock: block },
    (window) =>
      client.getLogs({ address: registries.identity, event, args: { owner }, strict: true, ...window }),
    async (found) => {
      for (const { args } of found.slice(judged)) {
        const has = await client.readContract({
          ...identity,
          ...{ abi: identityRegistryAbi, functionName: "ownerOf", args: [args.agentId] },
        });
        if ((has as Address).toLowerCase() === owner.toLowerCase()) owned.push(Number(args.agentId));
      }
      judged = found.length;
      return BigInt(owned.length) >= count;
    },
  );
  if (owned.length <= 1) return owned[0];
  throw new TallystickError({
    code: "which_identity",
    message: `${owner} registered and has the identities ${owned.slice(0, 20).join(", ")}.`,
    hint: "Nothing was sent. Name the one to change (--agent-id).",
  });
}

function agentIdIn({ logs }: TransactionReceipt): number {
  const [log] = parseEventLogs({ abi: identityRegistryAbi, eventName: "Registered", logs });
  return Number(log?.args.agentId);
}
