import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { readWitnessConfig } from "../../services/witness/config.ts";
import { runWitness } from "../../services/witness/runWitness.ts";
import { WITNESS_KEY_FILE, witnessSeed } from "../../services/witness/witnessKey.ts";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";

const LOG = "log tallystick.test/log+746eda17+AW56HN0psLeP0Tr0xVmP7/TvKpcWbjym8uT7/M2AUFvx\nquorum none\n";

describe("the key of a witness's folder", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, WITNESS_KEY_FILE);

  it("is made once, is readable only for its owner, and does not change", () => {
    const seed = witnessSeed(folder.path, { isNew: true });
    expect(seed).to.have.length(32);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(witnessSeed(folder.path, { isNew: false })).to.deep.equal(seed);
    expect(readFileSync(file(), "utf8")).to.match(/^[0-9a-f]{64}\n$/);
  });

  it("is not made again if the folder has cosignatures of an earlier key", () => {
    expect(() => witnessSeed(folder.path, { isNew: false }))
      .to.throw()
      .with.property("code", "witness_key_missing");
  });

  it("is refused if it is cut short or has another form", () => {
    for (const text of ["", "ab", `${"a".repeat(64)}\n\n`, "A".repeat(64)]) {
      writeFileSync(file(), text);
      chmodSync(file(), 0o600);
      expect(() => witnessSeed(folder.path, { isNew: true }), JSON.stringify(text))
        .to.throw()
        .with.property("code", "bad_witness_key");
    }
  });

  it("stops the start of a witness if the key is bad, and then no file of the folder is open", async () => {
    writeFileSync(file(), "ab");
    const logs = path.join(folder.path, "logs");
    writeFileSync(logs, LOG);
    const config = readWitnessConfig({
      ...{ WITNESS_NAME: "w.test", WITNESS_LOGS: logs },
      ...{ WITNESS_DIR: folder.path, WITNESS_PORT: "0" },
    });
    const run = () => runWitness({ config, now: () => 1_767_225_600, onFault: () => {} });
    expect(await run().catch((error) => error)).to.have.property("code", "bad_witness_key");
    // SQLite deletes its write-ahead log when the last connection closes.
    expect(readdirSync(folder.path)).to.include("witness.sqlite").and.not.include("witness.sqlite-wal");
    rmSync(file());
    await (await run()).close();
  });
});

describe("the settings of a witness", () => {
  const folder = temporaryFolder();
  const read =
    (logs: string, more = {}) =>
    () => {
      const file = path.join(folder.path, "logs");
      writeFileSync(file, logs);
      return readWitnessConfig({ WITNESS_NAME: "w.test", WITNESS_LOGS: file, ...more });
    };

  it("name the logs that it cosigns", () => {
    expect(read(LOG)().logs.map(({ name }) => name)).to.deep.equal(["tallystick.test/log"]);
  });

  for (const [what, settings, words] of [
    ["a name with a space", read(LOG, { WITNESS_NAME: "a b" }), /WITNESS_NAME/],
    ["a name with a plus sign", read(LOG, { WITNESS_NAME: "a+b" }), /WITNESS_NAME/],
    ["no logs", read("quorum none"), /no log line/],
    ["an invalid list", read("x"), /WITNESS_LOGS, line 1/],
    ["a list that is not there", read(LOG, { WITNESS_LOGS: "/nowhere/at/all" }), /cannot be read/],
    ["an invalid port", read(LOG, { WITNESS_PORT: "70000" }), /WITNESS_PORT/],
  ] as const) {
    it(`are refused with ${what}`, () => {
      expect(settings).to.throw(words);
    });
  }
});
