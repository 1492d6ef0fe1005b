import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { InvalidInputError } from "tallystick-protocol/errors";
import { base, baseSepolia } from "tallystick-sdk/chain/paymentNetwork";
import { registerKeeper } from "../../../scripts/commands/keeper.ts";
import { readKeeperConfig } from "../../../scripts/keeper/config.ts";
import { runKeeper } from "../../../scripts/keeper/runKeeper.ts";

const ESCROW = `0x${"E5".repeat(20)}`;
const settings = {
  RPC_URL: "http://127.0.0.1:8545",
  CHAIN_ID: "31337",
  ESCROWS: `${ESCROW}=swarmwage-partnered`,
  KEEPER_PRIVATE_KEY: `0x${"11".repeat(32)}`,
};

describe("the settings of a keeper", () => {
  const faults = (changes: { [name: string]: string }, escrow?: string): string[] => {
    try {
      readKeeperConfig({ ...settings, ...changes }, escrow);
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidInputError);
      return (error as InvalidInputError).issues.map(({ field }) => field);
    }
    return [];
  };

  it("are those of a node, with a separate key", () => {
    expect(readKeeperConfig({ ...settings, KEEPER_FEE_RECIPIENT: "" })).to.deep.equal({
      rpcUrl: "http://127.0.0.1:8545",
      chainId: 31_337,
      escrow: ESCROW.toLowerCase(),
      privateKey: settings.KEEPER_PRIVATE_KEY,
      host: "127.0.0.1",
      port: 42_071,
      folder: "./.tallystick/keeper",
      startBlock: 0n,
      roundMs: 2_000,
      minAmount: 10_000n,
      gasPerBuyer: 1_000_000,
      gasPerWallet: 200_000,
      requestsPerAddress: 1_200,
      trustedProxies: 0,
    });
  });

  it("have the values that are given", () => {
    const recipient = `0x${"fe".repeat(20)}`;
    const given = {
      ...{ START_BLOCK: "77", KEEPER_HOST: "::1", KEEPER_PORT: "1234", KEEPER_DIR: "/keeper" },
      ...{ KEEPER_ROUND_MS: "100", KEEPER_FEE_RECIPIENT: recipient, KEEPER_MIN_AMOUNT_USDC: "2.5" },
      ...{ KEEPER_GAS_PER_BUYER: "3", KEEPER_GAS_PER_WALLET: "4", KEEPER_REQUESTS_PER_ADDRESS: "5" },
      KEEPER_TRUST_PROXY: "6",
    };
    expect(readKeeperConfig({ ...settings, ...given })).to.deep.include({
      ...{ startBlock: 77n, host: "::1", port: 1_234, folder: "/keeper", roundMs: 100 },
      ...{ feeRecipient: recipient, minAmount: 2_500_000n, gasPerBuyer: 3, gasPerWallet: 4 },
      ...{ requestsPerAddress: 5, trustedProxies: 6 },
    });
  });

  it("name the token of the escrow, which is known on Base", () => {
    const token = `0x${"7a".repeat(20)}`;
    const tokenOf = (changes: object) => readKeeperConfig({ ...settings, ...changes }).token;
    expect(tokenOf({})).to.equal(undefined);
    expect(tokenOf({ CHAIN_ID: "8453" })).to.equal(base.token);
    expect(tokenOf({ CHAIN_ID: "84532" })).to.equal(baseSepolia.token);
    expect(tokenOf({ CHAIN_ID: "8453", TOKEN_ADDRESS: token })).to.equal(token);
    expect(faults({ TOKEN_ADDRESS: "0x12" })).to.deep.equal(["TOKEN_ADDRESS"]);
  });

  it("must name one escrow", () => {
    const other = `0x${"aa".repeat(20)}`;
    expect(faults({ ESCROWS: "" })).to.deep.equal(["ESCROWS"]);
    expect(faults({ ESCROWS: `${ESCROW}=a,${other}=b` })).to.deep.equal(["ESCROWS"]);
    expect(readKeeperConfig({ ...settings, ESCROWS: `${ESCROW}=a,${other}=b` }, other).escrow).to.equal(
      other,
    );
    expect(faults({}, "0x12")).to.deep.equal(["--escrow"]);
  });

  it("are refused with the name of every wrong variable", () => {
    const wrong = {
      RPC_URL: "ws://x",
      CHAIN_ID: "base",
      KEEPER_PRIVATE_KEY: "0x12",
      KEEPER_PORT: "70000",
      KEEPER_ROUND_MS: "5",
      KEEPER_MIN_AMOUNT_USDC: "1e3",
      KEEPER_GAS_PER_BUYER: "-1",
      KEEPER_GAS_PER_WALLET: "much",
      KEEPER_REQUESTS_PER_ADDRESS: "all",
      KEEPER_TRUST_PROXY: "11",
    };
    expect(faults(wrong).sort()).to.deep.equal(Object.keys(wrong).sort());
  });
});

describe("the command that starts a keeper", () => {
  /** The settings in the message of the error with which the command ends. */
  const faultsWith = async (given: { [name: string]: string }): Promise<string[]> => {
    const before = { ...process.env };
    Object.assign(process.env, given);
    try {
      const program = new Command().exitOverride();
      registerKeeper(program);
      await program.parseAsync(["keeper"], { from: "user" });
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidInputError);
      return (error as InvalidInputError).issues.map(({ field }) => field);
    } finally {
      for (const name of Object.keys(given)) delete process.env[name];
      Object.assign(process.env, before);
    }
    return expect.fail("it started");
  };

  it("knows the chain of a network, as npm start does", async () => {
    const { KEEPER_PRIVATE_KEY, RPC_URL } = settings;
    const given = { KEEPER_PRIVATE_KEY, RPC_URL, ESCROWS: "0x12", KEEPER_PORT: "0" };
    expect(await faultsWith(given)).to.deep.equal(["CHAIN_ID"]);
    expect(await faultsWith({ ...given, NETWORK: "base-sepolia" })).to.deep.equal(["ESCROWS"]);
  });
});

describe("a keeper that is asked again and again", () => {
  it("answers 429 with Retry-After to one address, and still tells its health", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-keeper-"));
    // Nothing needs to answer at the RPC address, because no request of this test reaches the chain.
    const quiet = { KEEPER_PORT: "0", KEEPER_ROUND_MS: "600000", KEEPER_DIR: folder };
    const config = readKeeperConfig({ ...settings, ...quiet, KEEPER_REQUESTS_PER_ADDRESS: "60" });
    const keeper = await runKeeper(config);
    try {
      // All requests come at once, so the allowance does not grow between them, however slow the machine is.
      const ask = () => fetch(`${keeper.url}/release`, { method: "POST", body: "{}" });
      const responses = await Promise.all(Array.from({ length: 60 }, ask));
      const [served, refused] = [400, 429].map((status) => responses.filter((it) => it.status === status));
      expect((served?.length ?? 0) + (refused?.length ?? 0)).to.equal(60);
      expect(served?.length, "a part of what ten seconds allow").to.be.within(1, 40);
      for (const { headers } of refused ?? []) expect(headers.get("retry-after")).to.match(/^[1-9][0-9]?$/);
      const health = await fetch(`${keeper.url}/health`);
      expect(
        [health.status, ((await health.json()) as { code: string }).code],
        "no RPC answers",
      ).to.deep.equal([503, "chain_unreachable"]);
    } finally {
      await keeper.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe("a keeper with a fee and a smallest amount", () => {
  it("relays no hire that does not have them", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-keeper-"));
    const recipient = `0x${"fe".repeat(20)}`;
    const keeper = await runKeeper(
      readKeeperConfig({
        // Nothing listens there. A hire is refused before the chain is asked.
        ...{ ...settings, RPC_URL: "http://127.0.0.1:9", KEEPER_DIR: folder, KEEPER_PORT: "0" },
        ...{ KEEPER_ROUND_MS: "600000", KEEPER_FEE_RECIPIENT: recipient, KEEPER_MIN_AMOUNT_USDC: "2.5" },
      }),
    );
    const terms = {
      ...{ hire_id: `0x${"33".repeat(32)}`, buyer: `0x${"b1".repeat(20)}`, seller: `0x${"5e".repeat(20)}` },
      deadline: 2_000_000_000,
    };
    const refusalOf = async (hire: object) => {
      const body = { hire: { ...terms, ...hire }, valid_before: "2000000000", signature: "0x12" };
      const answer = await fetch(`${keeper.url}/deposit`, { method: "POST", body: JSON.stringify(body) });
      return [answer.status, ((await answer.json()) as { code: string }).code];
    };
    try {
      const paying = { fee_recipient: recipient, fee: "1000000" };
      expect(await refusalOf({ ...paying, amount: "2499999" })).to.deep.equal([403, "amount_too_small"]);
      const toOther = { ...paying, fee_recipient: `0x${"0f".repeat(20)}` };
      for (const unpaid of [{}, toOther, { ...paying, fee: "0" }])
        expect(await refusalOf({ ...unpaid, amount: "2500000" })).to.deep.equal([403, "fee_missing"]);
    } finally {
      await keeper.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe("a keeper that is started a second time on its folder", () => {
  it("refuses to start while the first runs, and starts after the first has ended or has failed to start", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-keeper-"));
    const quiet = { KEEPER_PORT: "0", KEEPER_ROUND_MS: "600000", KEEPER_DIR: folder };
    const config = readKeeperConfig({ ...settings, ...quiet });
    try {
      const first = await runKeeper(config);
      const refused = await runKeeper(config).catch((error: unknown) => error);
      expect(refused).to.include({ code: "keeper_running" });
      expect((refused as Error).message).to.contain(folder);
      await first.close();
      await (await runKeeper(config)).close();
      const failed = await runKeeper({ ...config, rpcUrl: "" }).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(Error).and.not.have.property("code", "keeper_running");
      await (await runKeeper(config)).close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("a keeper that is started on the folder of another escrow", () => {
  it("refuses to start, because it would forget what is stored there", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-keeper-"));
    const quiet = { KEEPER_PORT: "0", KEEPER_ROUND_MS: "600000", KEEPER_DIR: folder };
    const config = readKeeperConfig({ ...settings, ...quiet });
    try {
      await (await runKeeper(config)).close();
      const others = [
        { ...config, escrow: `0x${"aa".repeat(20)}` as const },
        { ...config, chainId: 8_453 },
      ];
      for (const other of others) {
        const refused = await runKeeper(other).catch((error: unknown) => error);
        expect(refused).to.include({ code: "other_store" });
        expect((refused as Error).message)
          .to.contain(config.escrow)
          .and.contain("31337");
      }
      await (await runKeeper(config)).close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
