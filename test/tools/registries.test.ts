import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { keccak256 } from "viem";
import { codeHash } from "../../tools/registries/codeHash.ts";
import { readPublished } from "../../tools/registries/readPublished.ts";
import { testRegistries } from "../../tools/registries/testRegistries.ts";

/** The metadata at the end of bytecode: `{"solc": 0x000818}` as CBOR, and its length in two bytes. */
const METADATA = "a164736f6c6343000818000a";
const NAME = "IdentityRegistryUpgradeable";

describe("the published registries, compiled elsewhere", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-registries-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const put = (where: string, artifact: object) => {
    const of = path.join(folder, where, `${NAME}.sol`);
    mkdirSync(of, { recursive: true });
    writeFileSync(path.join(of, `${NAME}.json`), JSON.stringify(artifact));
  };
  const refusal = () => {
    try {
      readPublished(folder, NAME);
    } catch (error) {
      expect(error).to.be.instanceOf(InvalidInputError);
      return (error as InvalidInputError).issues.map(({ field, message }) => `${field} ${message}`).join();
    }
    return "taken";
  };

  it("are recognised by their code without the metadata at its end", () => {
    expect(codeHash(`0x6001${METADATA}`)).to.equal(keccak256("0x6001"));
    expect(codeHash("0x6001")).to.equal(keccak256("0x6001"));
    // This code ends like code with metadata, but it has none.
    expect(codeHash("0x60010002")).to.equal(keccak256("0x60010002"));
    expect(codeHash("0x")).to.equal(keccak256("0x"));
  });

  it("are refused if they are missing, if there are two, or if their code is different", () => {
    expect(refusal()).to.equal(`folder has no ${NAME}.sol/${NAME}.json`);
    put("a", { abi: [], bytecode: "0x6001" });
    expect(refusal()).to.contain("without abi, bytecode and deployedBytecode");
    put("a", { abi: [], bytecode: { object: "0x6001" }, deployedBytecode: { object: "0x6002" } });
    expect(refusal())
      .to.contain(`creation code has the hash ${keccak256("0x6001")}`)
      .and.contain("b9e466c");
    put("b", { abi: [], bytecode: "0x6001", deployedBytecode: "0x6002" });
    expect(refusal()).to.contain("2 files");
    folder = path.join(folder, "none");
    expect(refusal()).to.contain("cannot be read");
  });

  it("are reported as not tested if no folder with them is given", async () => {
    const { write } = process.stderr;
    let told = "";
    process.stderr.write = (text) => {
      told += text;
      return true;
    };
    const code = await testRegistries(undefined).finally(() => {
      process.stderr.write = write;
    });
    expect([code, told.split("\n")[0]]).to.deep.equal([
      1,
      "Nothing was tested: the published registries are not part of this repository.",
    ]);
  });
});
