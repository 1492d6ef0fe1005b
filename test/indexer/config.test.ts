import { expect } from "chai";
import { PUBLISHED_IMPLEMENTATIONS, PUBLISHED_REGISTRIES } from "tallystick-protocol/erc8004/registries";
import { InvalidInputError } from "tallystick-protocol/errors";
import { readConfig } from "../../indexer/config.ts";

const token = `0x${"11".repeat(20)}`;
const anchoredLedger = `0x${"22".repeat(20)}`;
const escrow = `0x${"33".repeat(20)}`;
const ledger = `0x${"ab".repeat(32)}`;

const complete = {
  DATABASE_URL: "postgres://user:word@localhost:5432/tallystick",
  RPC_URL: "http://127.0.0.1:8545",
  CHAIN_ID: "31337",
  TOKEN_ADDRESS: token,
};

function issuesOf(env: Record<string, string | undefined>): Record<string, string> {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return Object.fromEntries(
      (error as InvalidInputError).issues.map(({ field, message }) => [field, message]),
    );
  }
  throw new Error("the configuration was accepted");
}

describe("indexer configuration", () => {
  it("requires a payee and a facilitator when insights have a price", () => {
    const priced = { ...complete, INSIGHTS_PRICE_USDC: "0.01" };
    expect(readConfig(complete).insights).to.equal(null);
    expect(issuesOf(priced)).to.have.all.keys("INSIGHTS_PAY_TO", "X402_FACILITATOR_URL");
    const paid = {
      INSIGHTS_PAY_TO: `0x${"AB".repeat(20)}`,
      X402_FACILITATOR_URL: "https://facilitator.example/",
    };
    expect(readConfig({ ...priced, ...paid }).insights).to.deep.equal({
      amount: 10_000n,
      payTo: `0x${"ab".repeat(20)}`,
      facilitator: "https://facilitator.example",
    });
  });

  it("names all missing settings at once", () => {
    expect(issuesOf({})).to.have.all.keys("DATABASE_URL", "RPC_URL", "CHAIN_ID", "TOKEN_ADDRESS");
  });

  it("treats an empty variable as absent", () => {
    expect(issuesOf({ ...complete, CHAIN_ID: "" })).to.deep.equal({ CHAIN_ID: "is missing" });
    expect(readConfig({ ...complete, SETTLEMENT_URL: "", TICK_BLOCKS: "" }).settlementUrl).to.equal(null);
  });

  it("trusts one proxy less than settlement, because the indexer itself is one of settlement's proxies", () => {
    const believed = (count: string) => readConfig({ ...complete, TRUST_PROXY: count }).trustedProxies;
    expect([readConfig(complete).trustedProxies, ...["0", "1", "2", "3"].map(believed)]).to.deep.equal([
      0, 0, 0, 1, 2,
    ]);
    expect(issuesOf({ ...complete, TRUST_PROXY: "many" })).to.have.all.keys("TRUST_PROXY");
    const limits = { POINTS_PER_ADDRESS: "0", STREAMS_PER_ADDRESS: "1", SOCKETS_PER_ADDRESS: "2" };
    expect(readConfig({ ...complete, ...limits }).clientLimits).to.deep.equal({
      points: 0,
      streams: 1,
      sockets: 2,
    });
  });

  it("follows no ledger and no registry by default", () => {
    const { ledgers, anchoredLedger, params } = readConfig(complete);
    expect(ledgers.size).to.equal(0);
    expect(anchoredLedger).to.equal(null);
    expect(params).to.deep.include({ escrows: {}, ledgers: {}, operator: null, hubs: [], tickBlocks: 150 });
  });

  it("reads lists of trust roots in any spelling, and stores them in lower case", () => {
    const config = readConfig({
      ...complete,
      ESCROWS: ` ${escrow.toUpperCase().replace("0X", "0x")}=swarmwage-partnered , `,
      ANCHORED_LEDGER: anchoredLedger,
      LEDGERS: `${ledger}=http://127.0.0.1:42070/,0x${"CD".repeat(32)}=./ledgers/b=c`,
    });
    expect(config.params.escrows).to.deep.equal({ [escrow]: "swarmwage-partnered" });
    expect([...config.ledgers]).to.deep.equal([
      [ledger, { kind: "http", url: "http://127.0.0.1:42070" }],
      [`0x${"cd".repeat(32)}`, { kind: "folder", path: "./ledgers/b=c" }],
    ]);
    expect(config.params.ledgers[ledger]).to.include("receipt");
  });

  it("refuses settings of a wrong form, and names the item", () => {
    const issues = issuesOf({
      ...complete,
      DATABASE_URL: "mysql://localhost/x",
      RPC_URL: "127.0.0.1:8545",
      START_BLOCK: "-1",
      POLLING_INTERVAL_MS: "99",
      ESCROWS: `${escrow}=a,${escrow}`,
      OPERATOR: "0x12",
    });
    expect(issues).to.deep.equal({
      DATABASE_URL: "must be a postgres:// or postgresql:// URL",
      RPC_URL: "must be an http:// or https:// URL",
      START_BLOCK: "must be a whole number",
      POLLING_INTERVAL_MS: "must be from 100 to 600000",
      ESCROWS: `item 2 must be KEY=VALUE, not "${escrow}"`,
      OPERATOR: "must be 0x and 40 lower-case hex digits",
    });
  });

  describe("invariants", () => {
    it("followed ledgers need the contract that they are anchored in", () => {
      expect(issuesOf({ ...complete, LEDGERS: `${ledger}=./x` })).to.have.all.keys("ANCHORED_LEDGER");
    });

    it("token, escrows and ledger contract are different contracts", () => {
      expect(issuesOf({ ...complete, ESCROWS: `${token}=a` })).to.have.all.keys("ESCROWS");
      expect(issuesOf({ ...complete, ANCHORED_LEDGER: token })).to.have.all.keys("ANCHORED_LEDGER");
    });

    it("an escrow or a ledger is named once", () => {
      expect(issuesOf({ ...complete, ESCROWS: `${escrow}=a,${escrow}=b` })).to.have.all.keys("ESCROWS");
      const twice = { ANCHORED_LEDGER: anchoredLedger, LEDGERS: `${ledger}=./x,${ledger}=./y` };
      expect(issuesOf({ ...complete, ...twice })).to.have.all.keys("LEDGERS");
    });

    it("a hub is neither the token nor an escrow", () => {
      expect(issuesOf({ ...complete, ESCROWS: `${escrow}=a`, HUBS: escrow })).to.have.all.keys("HUBS");
    });

    it("settlement is not forwarded to the indexer itself", () => {
      const itself = { INDEXER_PORT: "5000", SETTLEMENT_URL: "http://localhost:5000" };
      expect(issuesOf({ ...complete, ...itself })).to.have.all.keys("SETTLEMENT_URL");
      expect(readConfig({ ...complete, ...itself, INDEXER_PORT: "5001" }).settlementUrl).to.be.a("string");
    });
  });

  it("reads the named ERC-8004 registries, or those of its own chain, with the listed implementations", () => {
    expect(readConfig(complete).registries).to.equal(null);
    const [identity, reputation, more] = ["4a", "5a", "6a"].map((it) => `0x${it.repeat(20)}`);
    const told = {
      ...complete,
      ERC8004_REGISTRIES: `${identity}=${reputation}`,
      ERC8004_IMPLEMENTATIONS: more,
    };
    const { registries } = readConfig(told);
    expect(registries).to.deep.include({ identity, reputation });
    expect(registries?.implementations).to.deep.equal([...PUBLISHED_IMPLEMENTATIONS, more]);
    expect(
      readConfig({ ...complete, CHAIN_ID: "8453", ERC8004_REGISTRIES: "base" }).registries,
    ).to.deep.equal({
      identity: PUBLISHED_REGISTRIES.base.identity,
      reputation: PUBLISHED_REGISTRIES.base.reputation,
      implementations: PUBLISHED_IMPLEMENTATIONS,
    });
    for (const wrong of ["base", "mainnet", `${identity}=${identity}`, `${token}=${reputation}`])
      expect(issuesOf({ ...complete, ERC8004_REGISTRIES: wrong }), wrong).to.have.all.keys(
        "ERC8004_REGISTRIES",
      );
  });

  it("reads only the transfers that matter on busy chains by default, and all transfers elsewhere", () => {
    expect(readConfig(complete).transfers).to.deep.equal({ form: "all" });
    for (const CHAIN_ID of ["8453", "84532"]) {
      expect(readConfig({ ...complete, CHAIN_ID }).transfers.form).to.equal("relevant");
      expect(readConfig({ ...complete, CHAIN_ID, TRANSFERS: "all" }).transfers.form).to.equal("all");
    }
    const relevant = { ...complete, TRANSFERS: "relevant" };
    const nothing = { form: "relevant", firstBlock: 0, history: [], agree: false, checkRounds: 100 };
    expect(readConfig(relevant).transfers).to.deep.equal(nothing);
    const sources = {
      START_BLOCK: "20",
      TOKEN_FIRST_BLOCK: "10",
      LOG_PORTAL_URL: "https://portal.example/datasets/base-mainnet/",
      LOG_PORTAL_KEY: "a-key",
      LOG_HYPERSYNC_URL: "https://base.hypersync.example",
      LOG_RPC_URLS: "http://one.example, http://two.example",
      LOG_SOURCES_AGREE: "true",
      BALANCE_CHECK_TICKS: "0",
    };
    expect(readConfig({ ...relevant, ...sources }).transfers).to.deep.equal({
      form: "relevant",
      firstBlock: 10,
      history: [
        { kind: "portal", url: "https://portal.example/datasets/base-mainnet", key: "a-key" },
        { kind: "hypersync", url: "https://base.hypersync.example", key: undefined },
        { kind: "rpc", url: "http://one.example" },
        { kind: "rpc", url: "http://two.example" },
      ],
      agree: true,
      checkRounds: 0,
    });
    expect(issuesOf({ ...relevant, ...sources, START_BLOCK: "9" })).to.have.all.keys("TOKEN_FIRST_BLOCK");
    expect(issuesOf({ ...relevant, LOG_SOURCES_AGREE: "true" })).to.have.all.keys("LOG_SOURCES_AGREE");
    const itself = { ...relevant, LOG_SOURCES_AGREE: "true", LOG_RPC_URLS: complete.RPC_URL };
    expect(issuesOf(itself)).to.deep.equal({
      LOG_SOURCES_AGREE: "compares the first two sources, and these are the same address",
    });
    for (const name of ["LOG_PORTAL_KEY", "LOG_HYPERSYNC_KEY"])
      expect(issuesOf({ ...relevant, [name]: "a-key" })).to.have.all.keys(name);
    expect(issuesOf({ ...relevant, ...sources, LOG_PORTAL_KEY: "a\nb" })).to.have.all.keys("LOG_PORTAL_KEY");
    expect(issuesOf({ ...complete, TRANSFERS: "some", LOG_SOURCES_AGREE: "yes" })).to.have.all.keys(
      "TRANSFERS",
      "LOG_SOURCES_AGREE",
    );
  });
});
