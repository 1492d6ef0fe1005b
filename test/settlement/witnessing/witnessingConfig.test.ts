import { writeFileSync } from "node:fs";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import { readConfig } from "../../../services/settlement/config.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const vkey = formatCosignerKey(cosignerKey("w.test", ed25519.getPublicKey(new Uint8Array(32).fill(1))));

describe("the policy of a ledger's witnesses", () => {
  const folder = temporaryFolder();

  function read(policy: string | undefined, environment = {}) {
    const file = path.join(folder.path, "policy");
    if (policy !== undefined) writeFileSync(file, policy);
    return readConfig({
      LEDGER_DIR: folder.path,
      ...(policy !== undefined && { WITNESS_POLICY: file }),
      ...environment,
    });
  }

  it("names the witnesses, and whether they are required", () => {
    const { witnessing } = read(`witness w ${vkey} https://w.test/in\nquorum w`, { WITNESS_REQUIRED: "1" });
    expect(witnessing?.required).to.equal(true);
    expect(witnessing?.witnesses.map(({ name, url }) => [name, url])).to.deep.equal([
      ["w", "https://w.test/in"],
    ]);
    expect(read(undefined).witnessing).to.equal(undefined);
  });

  it("may have a witness without TLS on this machine, and in DEV_MODE on any machine", () => {
    for (const host of ["localhost", "127.0.0.1", "127.3.2.1", "[::1]"])
      expect(read(`witness w ${vkey} http://${host}:1\nquorum w`).witnessing?.witnesses).to.have.length(1);
    const far = `witness w ${vkey} http://w.test\nquorum w`;
    expect(() => read(far)).to.throw(/w that is not https/);
    expect(read(far, { DEV_MODE: "1" }).witnessing?.witnesses).to.have.length(1);
  });

  for (const [what, policy, words] of [
    ["without an address", `witness w ${vkey}\nquorum w`, /no address for the witness w/],
    ["with an invalid address", `witness w ${vkey} w.test\nquorum w`, /not https/],
    [
      "with localhost as a part of another name",
      `witness w ${vkey} http://localhost.evil.test\nquorum w`,
      /not https/,
    ],
    ["without a witness", "quorum none", /has no witness/],
    ["with a quorum of nobody", `witness w ${vkey} https://w.test\nquorum none`, /quorum none/],
    [
      "with the key of only another log",
      `log tallystick.test/log+746eda17+AW56HN0psLeP0Tr0xVmP7/TvKpcWbjym8uT7/M2AUFvx\nwitness w ${vkey} https://w.test\nquorum w`,
      /not this one/,
    ],
    ["with text that is not a policy", "hello", /WITNESS_POLICY, line 1/],
  ] as const) {
    it(`is refused ${what}`, () => {
      expect(() => read(policy)).to.throw(words);
    });
  }

  it("is refused if it cannot be read, or if it is required and missing", () => {
    expect(() => read(undefined, { WITNESS_POLICY: path.join(folder.path, "none") })).to.throw(
      /WITNESS_POLICY: cannot be read/,
    );
    expect(() => read(undefined, { WITNESS_REQUIRED: "1" })).to.throw(
      /WITNESS_POLICY: must be set when WITNESS_REQUIRED is/,
    );
  });
});
