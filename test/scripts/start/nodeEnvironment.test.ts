import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { KEYS } from "tallystick-protocol/keysOfOthers";
import { indexerVariables } from "../../../indexer/config.ts";
import type { Deployment } from "../../../scripts/deploy/deployment.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { checkNode } from "../../../scripts/start/checkNode.ts";
import { HUBS_OF_BASE } from "../../../scripts/start/hubsOfBase.ts";
import { nodeEnvironment } from "../../../scripts/start/nodeEnvironment.ts";
import { openFileNote } from "../../../scripts/start/openFileNote.ts";
import type { Environment } from "../../../scripts/start/processEnvironment.ts";
import { indexerEnvironment, settlementEnvironment } from "../../../scripts/start/processEnvironment.ts";
import { requireFreePorts } from "../../../scripts/start/requireFreePorts.ts";
import { saveSettings } from "../../../scripts/start/saveSettings.ts";
import { settlementVariables } from "../../../services/settlement/config.ts";

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
  it("are refused with the names of all missing ones", async () => {
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
    expect(issues.ANCHOR_PRIVATE_KEY).to.contain("do not count");
  });

  it("come from the preset of a network, with Circle's USDC and its EIP-712 domain", async () => {
    for (const [NETWORK, chain, token, name] of [
      ["base", "8453", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USD Coin"],
      ["base-sepolia", "84532", "0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC"],
    ] as const) {
      const { environment } = await nodeEnvironment({ ...given, NETWORK }, nowhere);
      expect(environment).to.include({ CHAIN_ID: chain, TOKEN_ADDRESS: token, TOKEN_NAME: name });
    }
    const onBase = { ...given, NETWORK: "base", START_BLOCK: "" };
    const { environment: base } = await nodeEnvironment(onBase, nowhere);
    expect(base).to.include({ TOKEN_FIRST_BLOCK: "2797221", START_BLOCK: "2797221" });
    expect(base.HUBS?.split(",")).to.deep.equal(HUBS_OF_BASE.map(({ address }) => address));
    for (const [START_BLOCK, TOKEN_FIRST_BLOCK] of [
      ["40000000", "2797221"],
      ["5", "5"],
    ] as const) {
      const { environment } = await nodeEnvironment({ ...onBase, START_BLOCK }, nowhere);
      expect(environment).to.include({ TOKEN_FIRST_BLOCK, START_BLOCK });
    }
    const other = { ...given, NETWORK: "base", TOKEN_ADDRESS: address("7"), TICK_BLOCKS: "10" };
    const { environment } = await nodeEnvironment(other, nowhere);
    expect(environment).to.include({ TOKEN_ADDRESS: address("7"), TICK_BLOCKS: "10" });
    expect(environment).to.not.have.property("TOKEN_FIRST_BLOCK");
    expect(await issuesOf(nodeEnvironment({ ...given, NETWORK: "mainnet" }, nowhere))).to.have.property(
      "NETWORK",
    );
  });

  it("come from the recorded deployment of the chain, and follow the node's own ledger", async () => {
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

  it("make the indexer follow the ledger at SETTLEMENT_URL if this setting is given", async () => {
    const { environment } = await nodeEnvironment(
      { ...given, NETWORK: "base", SETTLEMENT_URL: "http://settlement:42070" },
      nowhere,
    );
    expect(environment.LEDGERS).to.match(/^0x[0-9a-f]{64}=http:\/\/settlement:42070$/);
  });

  it("are refused if the database and the chain do not answer", async () => {
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

describe("the environment of a node's process", () => {
  const everything = (): Environment => {
    const lines = readFileSync(path.join(repositoryRoot, ".env.example"), "utf8").matchAll(
      /^#?([A-Z][A-Z0-9_]*)=/gm,
    );
    return Object.fromEntries([...lines].map(([, name = ""]) => [name, "given"]));
  };

  it("has the process's own settings, and no key of another", () => {
    const settlement = Object.keys(settlementEnvironment(everything()));
    const indexer = Object.keys(indexerEnvironment(everything()));
    expect(settlement).to.include.members(settlementVariables);
    expect(indexer).to.include.members(indexerVariables);
    const keysIn = (names: string[]) => names.filter((name) => name in KEYS);
    const keysOf = (owner: string) => Object.keys(KEYS).filter((key) => KEYS[key] === owner);
    expect(keysIn(settlement)).to.have.members(keysOf("settlement"));
    expect(keysIn(indexer)).to.have.members(keysOf("indexer"));
    expect(settlement).to.not.include("DATABASE_URL");
  });

  it("has the machine's variables, and those that Ponder and the Postgres client read themselves", () => {
    const set = {
      https_proxy: "p",
      PONDER_LOG_LEVEL: "warn",
      PGSSLMODE: "require",
      AWS_SECRET_ACCESS_KEY: "s",
    };
    expect(indexerEnvironment(set)).to.include({
      PATH: process.env.PATH,
      https_proxy: "p",
      PONDER_LOG_LEVEL: "warn",
      PGSSLMODE: "require",
    });
    expect(settlementEnvironment(set)).to.include({ https_proxy: "p" }).and.not.have.any.keys("PGSSLMODE");
    for (const environment of [settlementEnvironment(set), indexerEnvironment(set)])
      expect(environment).to.not.have.property("AWS_SECRET_ACCESS_KEY");
  });
});

describe("the settings of tallystick indexer and replica", () => {
  const { ANCHOR_PRIVATE_KEY: _, ...withoutKey } = { ...given, NETWORK: "base" };

  it("need no key, only the ledgers that are followed", async () => {
    for (const part of ["indexer", "replica"] as const) {
      expect(await issuesOf(nodeEnvironment(withoutKey, nowhere, part))).to.have.all.keys("LEDGERS");
      const LEDGERS = `${`0x${"1d".repeat(32)}`}=https://node.example`;
      const { environment, completed } = await nodeEnvironment({ ...withoutKey, LEDGERS }, nowhere, part);
      expect(environment.LEDGERS).to.equal(LEDGERS);
      expect(completed).to.not.have.property("TRUST_PROXY");
    }
  });

  it("make the indexer follow the node's own ledger if they include the settings of settlement", async () => {
    const node = await nodeEnvironment({ ...given, NETWORK: "base" }, nowhere);
    const other = await nodeEnvironment(
      { ...given, NETWORK: "base", INDEXER_PORT: "42079" },
      nowhere,
      "indexer",
    );
    expect(other.environment.LEDGERS).to.equal(node.environment.LEDGERS);
    expect(other.indexerPort).to.equal(42_079);
  });
});

describe("the ports of a node", () => {
  it("are refused with the name of their setting when another process listens there", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const places = [
        { field: "SETTLEMENT_PORT", host: "127.0.0.1", port },
        { field: "INDEXER_PORT", host: "0.0.0.0", port },
      ];
      const issues = await issuesOf(requireFreePorts(places));
      expect(issues).to.have.all.keys("SETTLEMENT_PORT", "INDEXER_PORT");
      expect(issues.SETTLEMENT_PORT).to.contain(`port ${port}, is taken`);
    } finally {
      server.close();
      await once(server, "close");
    }
    await requireFreePorts([{ field: "SETTLEMENT_PORT", host: "127.0.0.1", port }]);
  });
});

describe("the file of a node's settings", () => {
  it("causes a note if everybody can read it", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-open-"));
    try {
      const file = path.join(folder, ".env");
      expect(openFileNote(file), "there is none").to.equal(undefined);
      writeFileSync(file, "X=1\n");
      chmodSync(file, 0o604);
      expect(openFileNote(file)).to.contain(`chmod 600 ${file}`);
      chmodSync(file, 0o640);
      expect(openFileNote(file)).to.equal(undefined);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("gets the settings of --save at its end, on lines of their own", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-save-"));
    try {
      const file = path.join(folder, ".env");
      expect(() => saveSettings(file, { A: "1" })).to.throw("cannot be added");
      for (const before of ["X=1", "X=1\n"]) {
        writeFileSync(file, before);
        saveSettings(file, { LEDGERS: "0x1=http://a", TICK_BLOCKS: "150" });
        expect(readFileSync(file, "utf8")).to.equal("X=1\nLEDGERS=0x1=http://a\nTICK_BLOCKS=150\n");
        saveSettings(file, {});
        expect(readFileSync(file, "utf8")).to.equal("X=1\nLEDGERS=0x1=http://a\nTICK_BLOCKS=150\n");
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
