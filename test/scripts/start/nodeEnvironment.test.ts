import { expect } from "chai";
import { InvalidInputError } from "../../../protocol/errors.ts";
import type { Deployment } from "../../../scripts/deploy/deployment.ts";
import { checkNode } from "../../../scripts/start/checkNode.ts";
import { nodeEnvironment } from "../../../scripts/start/nodeEnvironment.ts";

const address = (digit: string): `0x${string}` => `0x${digit.repeat(40)}`;
const key = `0x${"1".repeat(64)}`;

const deployment: Deployment = {
  chainId: 84_532,
  startBlock: 77,
  token: address("9"),
  hireEscrow: { address: address("e"), providerId: "swarmwage-partnered", guardian: address("8") },
  anchoredLedger: address("a"),
};

const given = {
  DATABASE_URL: "postgres://user@localhost:5432/node",
  RPC_URL: "https://rpc.example",
  ANCHOR_PRIVATE_KEY: key,
  ANCHORED_LEDGER: address("a"),
  START_BLOCK: "5",
};
const nowhere = async () => undefined;

async function issuesOf(work: Promise<unknown>): Promise<Record<string, string>> {
  const error = await work.then(
    () => undefined,
    (it: unknown) => it,
  );
  expect(error).to.be.instanceOf(InvalidInputError);
  return Object.fromEntries(
    (error as InvalidInputError).issues.map(({ field, message }) => [field, message]),
  );
}

describe("the settings of npm start", () => {
  it("name everything that is missing at once", async () => {
    const issues = await issuesOf(nodeEnvironment({}, nowhere));
    expect(issues).to.have.all.keys(
      "DATABASE_URL",
      "RPC_URL",
      "CHAIN_ID",
      "TOKEN_ADDRESS",
      "ANCHOR_PRIVATE_KEY",
      "ANCHORED_LEDGER",
      "START_BLOCK",
    );
    expect(issues.ANCHOR_PRIVATE_KEY).to.contain("counts for nothing");
  });

  it("come from the preset of a network, with Circle's USDC and its EIP-712 domain", async () => {
    for (const [NETWORK, chain, token, name] of [
      ["base", "8453", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USD Coin"],
      ["base-sepolia", "84532", "0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC"],
    ] as const) {
      const { environment } = await nodeEnvironment({ ...given, NETWORK }, nowhere);
      expect(environment).to.include({ CHAIN_ID: chain, TOKEN_ADDRESS: token, TOKEN_NAME: name });
    }
    const other = { ...given, NETWORK: "base", TOKEN_ADDRESS: address("7"), TICK_BLOCKS: "10" };
    const { environment } = await nodeEnvironment(other, nowhere);
    expect(environment).to.include({ TOKEN_ADDRESS: address("7"), TICK_BLOCKS: "10" });
    expect(await issuesOf(nodeEnvironment({ ...given, NETWORK: "mainnet" }, nowhere))).to.have.property(
      "NETWORK",
    );
  });

  it("come from the deployment recorded for the chain, and follow the node's own ledger", async () => {
    const { DATABASE_URL, RPC_URL, ANCHOR_PRIVATE_KEY } = given;
    const asked: number[] = [];
    const node = await nodeEnvironment(
      {
        DATABASE_URL,
        RPC_URL,
        ANCHOR_PRIVATE_KEY,
        NETWORK: "base-sepolia",
        SETTLEMENT_PORT: "5000",
        HUBS: "",
      },
      async (chainId) => {
        asked.push(chainId);
        return deployment;
      },
    );
    expect(asked).to.deep.equal([84_532]);
    expect(node.environment).to.include({
      START_BLOCK: "77",
      ANCHORED_LEDGER: address("a"),
      ESCROWS: `${address("e")}=swarmwage-partnered`,
      TOKEN_ADDRESS: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
      SETTLEMENT_URL: "http://127.0.0.1:5000",
    });
    expect(node.environment.LEDGERS).to.match(/^0x[0-9a-f]{64}=http:\/\/127\.0\.0\.1:5000$/);
    expect(node.completed)
      .to.include.keys("LEDGERS", "TOKEN_ADDRESS")
      .and.to.not.have.property("ANCHOR_PRIVATE_KEY");
    expect(node).to.include({
      settlementUrl: "http://127.0.0.1:5000",
      indexerHost: "127.0.0.1",
      indexerPort: 42_069,
    });
  });

  it("follow the ledger where settlement is reached", async () => {
    const { environment } = await nodeEnvironment(
      { ...given, NETWORK: "base", SETTLEMENT_URL: "http://settlement:42070" },
      nowhere,
    );
    expect(environment.LEDGERS).to.match(/^0x[0-9a-f]{64}=http:\/\/settlement:42070$/);
  });

  it("are held to what the database and the chain say", async () => {
    const issues = await issuesOf(
      checkNode({
        DATABASE_URL: "postgres://user@127.0.0.1:1/node",
        RPC_URL: "http://127.0.0.1:1",
        CHAIN_ID: "1",
      }),
    );
    expect(issues).to.have.all.keys("DATABASE_URL", "RPC_URL");
  });
});
