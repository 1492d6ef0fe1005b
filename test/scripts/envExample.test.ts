import { readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { nodeEnvironment } from "../../scripts/start/nodeEnvironment.ts";
import { vendorKeys } from "../../services/dispatch/config.ts";
import { PROCESSES } from "../support/nodeProcesses.ts";

const read = (file: string) => readFileSync(path.join(repositoryRoot, file), "utf8");

/** The variables that a configuration reads: the keys of its `environmentSchema`. */
function variablesOf(file: string): string[] {
  const schema = /environmentSchema = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read(file))?.[1] ?? "";
  return [...schema.matchAll(/^ {2}([A-Z][A-Z0-9_]*):/gm)].map((match) => match[1] as string);
}

describe(".env.example", () => {
  const listed = [...read(".env.example").matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(
    (match) => match[1] as string,
  );

  it("lists every variable that a process, npm start or the compose file reads, and no other variable except the deployer's key", () => {
    const wanted = new Set([
      ...variablesOf("services/settlement/config.ts"),
      ...variablesOf("services/probing/config.ts"),
      ...variablesOf("indexer/config.ts"),
      ...variablesOf("services/auditing/config.ts"),
      ...variablesOf("services/notifying/config.ts"),
      ...variablesOf("services/dispatch/config.ts"),
      ...vendorKeys,
      ...variablesOf("scripts/keeper/config.ts"),
      ...variablesOf("services/witness/config.ts"),
      ...variablesOf("services/settlement/mirror/mirrorConfig.ts"),
      ...variablesOf("packages/mcp/mcpConfig.ts"),
      ...variablesOf("scripts/start/nodeEnvironment.ts"),
      ...[...read("compose.yaml").matchAll(/\$\{([A-Z_]+)/g)].map((match) => match[1] as string),
      "DEPLOYER_PRIVATE_KEY",
    ]);
    expect(wanted).to.have.property("size").that.is.greaterThan(20);
    expect([...listed].sort()).to.deep.equal([...wanted].sort());
  });

  /** The configuration that a process reads from these settings. `./a` and `a` count as the same path. */
  const readBy = (
    { read, works }: (typeof PROCESSES)["mirror"],
    settings: Record<string, string>,
  ): unknown => {
    // A dispatcher's configuration also contains its whole environment.
    const { environment: _, ...config } = read({ ...settings, ...works }) as { environment?: unknown };
    const asText = (_: string, value: unknown) =>
      typeof value === "bigint" ? `${value}` : typeof value === "string" ? value.replace(/^\.\//, "") : value;
    return JSON.parse(JSON.stringify(config, asText));
  };

  it("shows the default of every setting that has a # before it", () => {
    const shown = [...read(".env.example").matchAll(/^#([A-Z][A-Z0-9_]*)=(.+)$/gm)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    );
    expect(shown).to.have.length.above(70);
    const hex = (digit: string, length: number) => `0x${digit.repeat(length)}`;
    // A process looks at some settings only if these are given. On a local chain some defaults are different.
    const more: { [name: string]: Record<string, string> } = {
      settlement: {
        RPC_URL: "http://localhost:8545",
        CHAIN_ID: "8453",
        ANCHORED_LEDGER: hex("a", 40),
        ANCHOR_PRIVATE_KEY: hex("1", 64),
        CHECKPOINT_PRIVATE_KEY: hex("2", 64),
        CLAIM_ATTESTOR_PRIVATE_KEY: hex("3", 64),
        X_API_KEY: "key",
        LEDGER_STORE_URL: "postgres://user@localhost/store",
        LEDGER_STORE_KEY: hex("4", 64),
      },
      indexer: { CHAIN_ID: "8453" },
      auditing: { CHAIN_ID: "8453" },
      mirror: {
        MIRROR_S3_URL: "https://s3.example/b",
        MIRROR_S3_ACCESS_KEY_ID: "id",
        MIRROR_S3_SECRET_ACCESS_KEY: "key",
      },
    };
    for (const [name, holder] of Object.entries(PROCESSES)) {
      const process = { ...holder, works: { ...holder.works, ...more[name] } };
      const defaults = Object.fromEntries(shown.filter(([it]) => process.variables.includes(it)));
      expect(Object.keys(defaults), name).to.not.deep.equal([]);
      expect(readBy(process, defaults), name).to.deep.equal(readBy(process, {}));
    }
  });

  it("is all that a node on Base Sepolia needs, if it is filled in as docs/operators.md says", async () => {
    const [, lines = ""] = /^ {3}```\n( {3}NETWORK=[\s\S]*?)^ {3}```$/m.exec(read("docs/operators.md")) ?? [];
    const filledIn = lines
      .replaceAll("https://…", "https://rpc.example")
      .replaceAll("postgres://…", "postgres://user@localhost/node")
      .replaceAll("0x…", `0x${"1".repeat(64)}`);
    const address = (digit: string) => `0x${digit.repeat(40)}` as const;
    const deployment = {
      chainId: 84_532,
      startBlock: 77,
      token: address("9"),
      hireEscrow: { address: address("e"), providerId: "provider", guardian: address("8") },
      anchoredLedger: address("a"),
    };
    const given = parseEnv(`${read(".env.example")}\n${filledIn}`);
    const asked: number[] = [];
    const { environment, settlementUrl } = await nodeEnvironment(
      { ...given, SETTLEMENT_PORT: "5000" },
      async (chainId) => {
        asked.push(chainId);
        return deployment;
      },
    );
    expect(asked).to.deep.equal([84_532]);
    expect(environment).to.include({
      CHAIN_ID: "84532",
      TOKEN_ADDRESS: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
      RPC_URL: "https://rpc.example",
      SETTLEMENT_URL: "http://127.0.0.1:5000",
      LEDGER_ORIGIN: "node.example/ledger",
    });
    expect(environment.SETTLEMENT_URL).to.equal(settlementUrl);
  });
});
