import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { PUBLISHED_REGISTRIES } from "tallystick-protocol/erc8004/registries";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { findFeedback } from "tallystick-sdk/erc8004/findFeedback";
import { findResponse } from "tallystick-sdk/erc8004/findResponse";
import { postResponse } from "tallystick-sdk/erc8004/postResponse";
import { registerAgent } from "tallystick-sdk/erc8004/registerAgent";
import { type ChainReader, type ChainRegistries, requireRegistries } from "tallystick-sdk/erc8004/registries";
import { sendOnce } from "tallystick-sdk/erc8004/sendOnce";
import { createPublicClient, createTestClient, custom, publicActions, walletActions, zeroHash } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Deployer, deployRegistries } from "../support/deployRegistries.ts";
import { freshChain } from "../support/freshChain.ts";
import { forkChain } from "./support/forkedChain.ts";
import { readForkSettings } from "./support/forkSettings.ts";

const URI = "https://agent.example/registration.json";

/**
 * Tests this repository's code with ERC-8004's registries. With FORK_URL these are the registries that are deployed on
 * that chain. Without FORK_URL these are the contracts in contracts/test/erc8004. So both must pass the same tests.
 */
describe("the registries of ERC-8004, deployed ones or ours", function () {
  this.timeout(180_000);
  let close: () => Promise<void>;
  let client: ChainReader;
  let registries: ChainRegistries;
  let fuel: (address: Address) => Promise<void>;
  const agent = privateKeyToAccount(generatePrivateKey());
  const buyer = privateKeyToAccount(generatePrivateKey());
  const lower = ({ address }: { address: string }) => address.toLowerCase() as Address;

  before(async function () {
    const settings = readForkSettings(process.env);
    const connection = settings === undefined ? await freshChain() : (await forkChain(settings)).connection;
    close = () => connection.close();
    const transport = custom(connection.provider as never, { retryCount: 0 });
    client = createPublicClient({ transport, cacheTime: 0, pollingInterval: 20 });
    const test = createTestClient({ mode: "hardhat", transport }).extend(publicActions).extend(walletActions);
    fuel = (address) => test.setBalance({ address, value: 10n ** 18n });
    const chainId = await client.getChainId();
    const published = Object.values(PUBLISHED_REGISTRIES).find((it) => it.chainId === chainId);
    if (published !== undefined) {
      registries = { ...published, fromBlock: await client.getBlockNumber() };
    } else if (settings === undefined) {
      const [account] = await test.getAddresses();
      const deployer = createTestClient({ mode: "hardhat", transport, account: account as Address })
        .extend(publicActions)
        .extend(walletActions);
      registries = { ...(await deployRegistries(deployer as unknown as Deployer)), chainId };
    } else {
      process.stdout.write(`      No registries of ERC-8004 are known on chain ${chainId}.\n`);
      this.skip();
    }
    for (const it of [agent, buyer]) await fuel(lower(it));
  });
  after(() => close?.());

  const posting = (account: typeof agent) => ({
    ...{ account, client, registries, baseUrl: "https://node.example", uri: URI, ledger: "local" as const },
    ...{ agree: () => true, now: () => 0, pollingMs: 20 },
  });
  const identity = () => ({ address: registries.identity, abi: identityRegistryAbi }) as const;
  const place = (agentId: number) => ({ agentId, client: lower(buyer), fromBlock: registries.fromBlock });
  const give = async (agentId: number) => {
    const isIt = ({ uri }: { uri: string }) => uri === URI;
    return await sendOnce({
      ...{ client, account: buyer, chainId: registries.chainId, agree: () => true, pollingMs: 20 },
      call: {
        address: registries.reputation,
        abi: reputationRegistryAbi,
        functionName: "giveFeedback",
        args: [BigInt(agentId), 80n, 0, "starred", "text.translate.en.it", "", URI, zeroHash],
      },
      find: (block) => findFeedback(client, registries, { ...place(agentId), block }, isIt),
    });
  };
  let agentId: number;

  it("belong together", () => requireRegistries(client, registries));

  it("register an agent only once, with its own wallet", async () => {
    const wanted = { ...posting(agent), name: "Fork", description: "A test.", hire: [] };
    const registered = await registerAgent(wanted);
    expect(registered.status).to.equal("registered");
    agentId = registered.agentId;
    const args = [BigInt(agentId)] as const;
    const wallet = await client.readContract({ ...identity(), functionName: "getAgentWallet", args });
    expect(wallet.toLowerCase()).to.equal(lower(agent));
    expect(await client.readContract({ ...identity(), functionName: "tokenURI", args })).to.equal(URI);
    expect(await registerAgent(wanted)).to.include({ status: "found", agentId });
  });

  it("get a client's feedback only once, with its value and tags, and refuse feedback by the agent's owner", async () => {
    expect((await give(agentId)).status).to.equal("sent");
    const again = await give(agentId);
    expect(again.status === "found" && again.found).to.deep.include({
      index: 1n,
      value: 80n,
      tag1: "starred",
    });
    const self = sendOnce({
      ...{
        client,
        account: agent,
        chainId: registries.chainId,
        agree: () => true,
        find: async () => undefined,
      },
      call: {
        address: registries.reputation,
        abi: reputationRegistryAbi,
        functionName: "giveFeedback",
        args: [BigInt(agentId), 100n, 0, "", "", "", "", zeroHash],
      },
    });
    expect(await self.catch((error) => error.code)).to.equal("call_refused");
  });

  it("get a response only once, and refuse a response to feedback that does not exist", async () => {
    const wanted = {
      ...{ ...posting(agent), agentId, feedbackClient: lower(buyer), index: 1 },
      said: { spam: { reason: "other", detail: "" } } as const,
    };
    const answered = await postResponse(wanted);
    expect(answered.status).to.equal("posted");
    expect((await postResponse(wanted)).status).to.equal("found");
    const block = await client.getBlockNumber();
    const at = { ...{ agentId, client: lower(buyer), index: 1, responder: lower(agent) }, block };
    expect(await findResponse(client, registries, at, (it) => it.hash === answered.hash)).to.include({
      uri: URI,
    });
    expect(await postResponse({ ...wanted, index: 2 }).catch((error) => error.code)).to.equal("call_refused");
  });

  it("delete the agent wallet when the identity gets another owner", async () => {
    const to = lower(buyer);
    await sendOnce({
      ...{
        client,
        account: agent,
        chainId: registries.chainId,
        agree: () => true,
        find: async () => undefined,
      },
      call: { ...identity(), functionName: "transferFrom", args: [lower(agent), to, BigInt(agentId)] },
      pollingMs: 20,
    });
    const args = [BigInt(agentId)] as const;
    const wallet = await client.readContract({ ...identity(), functionName: "getAgentWallet", args });
    expect(BigInt(wallet)).to.equal(0n);
  });
});
