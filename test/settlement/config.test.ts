import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { readConfig } from "../../services/settlement/config.ts";

const ANCHORING = {
  ANCHOR_PRIVATE_KEY: `0x${"11".repeat(32)}`,
  ANCHORED_LEDGER: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  RPC_URL: "http://127.0.0.1:8545",
  CHAIN_ID: "31337",
  LEDGER_ORIGIN: "tallystick.local/demo",
};

function fieldsAtFault(environment: { [name: string]: string }): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError).with.property("code", "invalid_configuration");
    return (error as InvalidInputError).issues.map(({ field }) => field);
  }
  return [];
}

describe("the settlement service's configuration", () => {
  it("has defaults for everything: a local ledger without anchoring, on loopback, closed to generic proposals", () => {
    expect(readConfig({})).to.deep.equal({
      host: "127.0.0.1",
      port: 42070,
      ledgerDir: "./.tallystick/ledger",
      ledger: "local",
      origin: "tallystick.local/ledger",
      apiKeys: [],
      minConfidence: 0.85,
      maxDriftAllowed: 0.15,
      devMode: false,
      mode: "production",
      keysFile: ".tallystick/ledger/keys.json",
      rateLimits: { perKey: 6000, perAddress: 600, reads: 6_000, trustedProxies: 0 },
      pulseIntervalSeconds: 300,
      verification: { share: 0.5, beforeWrites: true },
    });
  });

  it("treats an empty variable as absent", () => {
    expect(readConfig({ SETTLEMENT_PORT: "", ANCHOR_PRIVATE_KEY: "", RPC_URL: "" })).to.deep.equal(
      readConfig({}),
    );
  });

  it("names an anchored ledger's folder by its id on chain", () => {
    const { anchoring, ledger } = readConfig(ANCHORING);
    expect(anchoring).to.include({ intervalSeconds: 30, maxEntries: 1000, chainId: 31337 });
    expect(anchoring?.contract).to.equal(ANCHORING.ANCHORED_LEDGER.toLowerCase());
    expect(anchoring?.writer).to.equal("0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a");
    expect(ledger).to.equal(ledgerId({ ...anchoring!, origin: "tallystick.local/demo" }));
  });

  it("reads lists, shares, switches and fractions of a second", () => {
    const config = readConfig({
      ...ANCHORING,
      SETTLEMENT_API_KEYS: " a , b,,",
      MIN_CONFIDENCE: "0.5",
      DEV_MODE: "1",
      ANCHOR_INTERVAL_SECONDS: "0.5",
    });
    expect(config.apiKeys).to.deep.equal(["a", "b"]);
    expect(config).to.include({ minConfidence: 0.5, devMode: true });
    expect(config.anchoring?.intervalSeconds).to.equal(0.5);
  });

  it("names every variable at fault", () => {
    const bad = {
      SETTLEMENT_PORT: "70000",
      MIN_CONFIDENCE: "2",
      MAX_DRIFT_ALLOWED: "much",
      DEV_MODE: "maybe",
      LEDGER_ORIGIN: "two words",
      ANCHOR_PRIVATE_KEY: "0x12",
      ANCHORED_LEDGER: "0x34",
      RPC_URL: "localhost:8545",
      CHAIN_ID: "base",
      ANCHOR_INTERVAL_SECONDS: "0",
      ANCHOR_MAX_ENTRIES: "0",
    };
    expect(fieldsAtFault(bad)).to.have.members(Object.keys(bad));
  });

  it("needs either all settings of anchoring or none", () => {
    const { ANCHOR_PRIVATE_KEY } = ANCHORING;
    expect(fieldsAtFault({ ANCHOR_PRIVATE_KEY })).to.deep.equal(["ANCHORED_LEDGER", "RPC_URL", "CHAIN_ID"]);
    expect(fieldsAtFault({ ANCHORED_LEDGER: ANCHORING.ANCHORED_LEDGER })).to.deep.equal([]);
  });

  it("accepts a writer that differs from the key that signs for it, and from the account that pays", () => {
    const safe = `0x${"5a".repeat(20)}`;
    const words = { ANCHOR_WORDS_DIR: "/mnt/other/words" };
    const { anchoring, ledger } = readConfig({ ...ANCHORING, ...words, ANCHOR_WRITER: safe });
    const { ANCHOR_PRIVATE_KEY } = ANCHORING;
    const key = (privateKey: string) => ({ kind: "private", privateKey });
    expect(anchoring).to.deep.include({
      writer: safe,
      firstWriter: safe,
      key: key(ANCHOR_PRIVATE_KEY),
      relayer: key(ANCHOR_PRIVATE_KEY),
      wordsDir: "/mnt/other/words",
    });
    const later = { ANCHOR_WRITER: `0x${"6b".repeat(20)}`, LEDGER_FIRST_WRITER: safe };
    expect(readConfig({ ...ANCHORING, ...words, ...later }).ledger).to.equal(ledger);
    const RELAYER_PRIVATE_KEY = `0x${"22".repeat(32)}`;
    const relayed = readConfig({ ...ANCHORING, ...words, RELAYER_PRIVATE_KEY });
    expect(relayed.anchoring).to.deep.include({
      relayer: key(RELAYER_PRIVATE_KEY),
      wordsDir: "/mnt/other/words",
    });
    // A service that sends its own anchors needs no such folder: no other process can lose a signed anchor.
    expect(readConfig({ ...ANCHORING, ...words }).anchoring).to.not.have.property("wordsDir");
    expect(ledger).to.not.equal(readConfig(ANCHORING).ledger);
  });

  it("needs a separate folder for anchors that another process sends", () => {
    const relayed = { ...ANCHORING, RELAYER_PRIVATE_KEY: `0x${"22".repeat(32)}`, LEDGER_DIR: "/data/ledger" };
    expect(fieldsAtFault(relayed)).to.deep.equal(["ANCHOR_WORDS_DIR"]);
    for (const inside of ["/data/ledger", "/data/ledger/words", "/data/words/../ledger/words"])
      expect(fieldsAtFault({ ...relayed, ANCHOR_WORDS_DIR: inside })).to.deep.equal(["ANCHOR_WORDS_DIR"]);
    expect(fieldsAtFault({ ...relayed, ANCHOR_WORDS_DIR: "/data/words" })).to.deep.equal([]);
  });

  it("accepts no writer and no relayer without a key that signs", () => {
    for (const [name, value] of [
      ["ANCHOR_WRITER", `0x${"5a".repeat(20)}`],
      ["RELAYER_PRIVATE_KEY", `0x${"22".repeat(32)}`],
    ] as const)
      expect(fieldsAtFault({ [name]: value })).to.deep.equal(["ANCHOR_PRIVATE_KEY"]);
  });
});
