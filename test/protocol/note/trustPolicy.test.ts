import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import fc from "fast-check";
import { cosign, cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import { formatVerifierKey, noteVerifierKey, signNote } from "tallystick-protocol/note/signedNote";
import {
  isQuorum,
  parseTrustPolicy,
  policyObjection,
  witnessesOf,
} from "tallystick-protocol/note/trustPolicy";

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const witnessName = (n: number): string => `witness.example/${n}`;
const witnessKey = (n: number): string =>
  formatCosignerKey(cosignerKey(witnessName(n), ed25519.getPublicKey(seed(n))));
const logKey = (n: number, name = "log.example"): string =>
  formatVerifierKey(noteVerifierKey(name, ed25519.getPublicKey(seed(100 + n))));

/** A policy with nested groups: two of three witnesses, and one of two other witnesses. */
const POLICY = `# a comment
#another one
log ${logKey(1)} https://log.example
 witness\tX1 ${witnessKey(1)} https://one.example/
witness X2 ${witnessKey(2)}
witness X3 ${witnessKey(3)}
group X 2 X1 X2 X3

witness Y1 ${witnessKey(4)}
witness Y2 ${witnessKey(5)}
group Y any Y1 Y2
group both all X Y
quorum both
`;

describe("a policy of logs and witnesses", () => {
  it("is read with its names, keys and addresses", () => {
    const { logs, witnesses, groups, quorum } = parseTrustPolicy(POLICY);
    expect(logs.map(({ url }) => url)).to.deep.equal(["https://log.example"]);
    expect(witnesses[1]).to.have.all.keys("name", "key");
    expect(parseTrustPolicy(`log ${logKey(1)}\nquorum none`).logs[0]).to.have.all.keys("key");
    expect(witnesses.map(({ name, url }) => [name, url])).to.deep.equal([
      ["X1", "https://one.example/"],
      ["X2", undefined],
      ["X3", undefined],
      ["Y1", undefined],
      ["Y2", undefined],
    ]);
    expect([...groups]).to.deep.equal([
      ["X", { least: 2, members: ["X1", "X2", "X3"] }],
      ["Y", { least: 1, members: ["Y1", "Y2"] }],
      ["both", { least: 2, members: ["X", "Y"] }],
    ]);
    expect(quorum).to.equal("both");
  });

  it("has its quorum exactly when two of the three and one of the two witnesses cosigned", () => {
    const policy = parseTrustPolicy(POLICY);
    fc.assert(
      fc.property(fc.subarray(["X1", "X2", "X3", "Y1", "Y2", "nobody"]), (names) => {
        const count = (letter: string) => names.filter((name) => name.startsWith(letter)).length;
        expect(isQuorum(policy, new Set(names))).to.equal(count("X") >= 2 && count("Y") >= 1);
      }),
      { numRuns: 200 },
    );
  });

  it("may require ten of twelve witnesses, and only a whole number up to the number of members", () => {
    const twelve = Array.from({ length: 12 }, (_, n) => `W${n + 1}`);
    const lines = twelve.map((name, n) => `witness ${name} ${witnessKey(n + 1)}`).join("\n");
    const asking = (count: string) => `${lines}\ngroup G ${count} ${twelve.join(" ")}\nquorum G`;
    const policy = parseTrustPolicy(asking("10"));
    expect(isQuorum(policy, new Set(twelve.slice(3)))).to.equal(false);
    expect(isQuorum(policy, new Set(twelve.slice(2)))).to.equal(true);
    for (const count of ["13", "1.5", "1e0", "0x1", "-1"])
      expect(() => parseTrustPolicy(asking(count)), count).to.throw(
        /line 13: must ask for 1 to 12 of its 12 members/,
      );
  });

  it("may require no witness, or one witness", () => {
    expect(isQuorum(parseTrustPolicy("quorum none"), new Set())).to.equal(true);
    const one = parseTrustPolicy(`witness W ${witnessKey(1)}\nquorum W`);
    expect(isQuorum(one, new Set())).to.equal(false);
    expect(isQuorum(one, new Set(["W"]))).to.equal(true);
  });

  it("checks who signed a checkpoint, and who cosigned it", () => {
    const policy = parseTrustPolicy(POLICY);
    const text = "log.example\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    const log = signNote(text, "log.example", seed(101));
    const by = (n: number) => cosign(text, witnessName(n), seed(n), 1_000 + n);
    const objection = (signatures: ReturnType<typeof by>[]) =>
      policyObjection({ text, signatures }, "log.example", policy);
    expect(objection([log, by(1), by(3), by(5)])).to.equal(undefined);
    expect([...witnessesOf({ text, signatures: [log, by(1), by(5)] }, policy)]).to.deep.equal([
      ["X1", 1_001],
      ["Y2", 1_005],
    ]);
    expect(objection([log, by(1), by(5)])).to.match(/quorum both has not cosigned.*X1, Y2/);
    expect(objection([by(1), by(3), by(5)])).to.match(/No key that the policy has/);
    expect(objection([signNote(text, "log.example", seed(102)), by(1), by(3), by(5)])).to.match(/No key/);
    // Two signatures of the same witness count as one.
    expect(objection([log, by(1), by(1), by(5)])).to.match(/has not cosigned/);
    expect(objection([log])).to.match(/of its witnesses: none\.$/);
    expect(policyObjection({ text, signatures: [log] }, "other.example", policy)).to.equal(
      "The policy has no log other.example.",
    );
    // If a log has two keys, a signature of one of them is enough.
    const two = parseTrustPolicy(`log ${logKey(2)}\nlog ${logKey(1)}\nquorum none`);
    expect(policyObjection({ text, signatures: [log] }, "log.example", two)).to.equal(undefined);
  });

  for (const [what, policy, words] of [
    ["no quorum", `log ${logKey(1)}`, /policy: must have a quorum line/],
    ["a log without a key", "log\nquorum none", /line 1: must be `log <vkey> \[<url>\]`/],
    [
      "a witness without a key",
      "witness W\nquorum none",
      /line 1: must be `witness <name> <vkey> \[<url>\]`/,
    ],
    ["a witness without a name", "witness\nquorum none", /line 1: must be `witness/],
    [
      "too many words in a witness line",
      `witness W ${witnessKey(1)} https://a b\nquorum W`,
      /line 1: must be `witness/,
    ],
    [
      "a group without a number",
      "group G\nquorum none",
      /line 1: must be `group <name> all\|any\|<k> <name>…`/,
    ],
    ["a quorum without a name", "quorum", /line 1: must be `quorum <name>`/],
    ["two names in a quorum line", "quorum none none", /line 1: must be `quorum <name>`/],
    [
      "a group with the name of a witness",
      `witness W ${witnessKey(1)}\ngroup W any W\nquorum W`,
      /line 2: defines W again/,
    ],
    [
      "one log's key twice",
      `log ${logKey(1)}\nlog ${logKey(1)}\nquorum none`,
      /line 2: has the key of another line/,
    ],
    [
      "a member twice in one group",
      `witness W ${witnessKey(1)}\ngroup G 2 W W\nquorum G`,
      /line 2: names W, which is a member already/,
    ],
    [
      "a group with an invalid number",
      `witness W ${witnessKey(1)}\ngroup G 1x W\nquorum G`,
      /line 2: must ask for 1 to 1 of its 1/,
    ],
    ["two quorums", "quorum none\nquorum none", /line 2: is a second quorum/],
    ["an unknown first word", "quorom none", /line 1: must begin with/],
    ["a quorum that no line defines", "quorum X", /line 1: names X/],
    ["a group before its members", `group G any W\nwitness W ${witnessKey(1)}\nquorum G`, /line 1: names W/],
    ["a group that is its own member", "group G any G\nquorum G", /line 1: names G/],
    ["a group whose member is called none", "group G any none\nquorum G", /line 1: names none/],
    ["a group without members", "group G any\nquorum G", /line 1: must be `group/],
    [
      "a group that requires 0 members",
      `witness W ${witnessKey(1)}\ngroup G 0 W\nquorum G`,
      /line 2: must ask for 1/,
    ],
    [
      "a group that requires more members than it has",
      `witness W ${witnessKey(1)}\ngroup G 2 W\nquorum G`,
      /line 2: must ask/,
    ],
    [
      "a number with a leading zero",
      `witness W ${witnessKey(1)}\ngroup G 01 W\nquorum G`,
      /line 2: must ask/,
    ],
    [
      "a witness in two groups, because it would count twice",
      `witness W ${witnessKey(1)}\ngroup G any W\ngroup H any W\nquorum H`,
      /line 3: names W, which is a member already/,
    ],
    [
      "one name twice",
      `witness W ${witnessKey(1)}\nwitness W ${witnessKey(2)}\nquorum W`,
      /line 2: defines W again/,
    ],
    ["a witness called none", `witness none ${witnessKey(1)}\nquorum none`, /line 1: defines none again/],
    [
      "one key under two names, because it would count twice",
      `witness V ${witnessKey(1)}\nwitness W ${formatCosignerKey(cosignerKey("other", ed25519.getPublicKey(seed(1))))}\nquorum W`,
      /line 2: has the key of another line/,
    ],
    [
      "a log's key in a witness line",
      `witness W ${logKey(1)}\nquorum W`,
      /line 1: must be the verifier key of a witness/,
    ],
    ["a witness's key in a log line", `log ${witnessKey(1)}\nquorum none`, /line 1: must be a verifier key/],
    ["a carriage return", "quorum none\r\n", /line 1: has a control character/],
    ["too many words in a log line", `log ${logKey(1)} https://a b\nquorum none`, /line 1: must be `log/],
    ["too many characters", `${"# \n".repeat(70_000)}quorum none`, /at most 200000 characters/],
  ] as const) {
    it(`is refused with ${what}, and the error names the place`, () => {
      expect(() => parseTrustPolicy(policy))
        .to.throw(words)
        .with.property("code", "invalid_input");
      expect(() => parseTrustPolicy(policy, "trusted")).to.throw(/^trusted(, line \d+)?: .*\(C2SP /);
    });
  }

  it("is refused with a 65th log, witness or group", () => {
    const lines = (kind: (n: number) => string, count: number) =>
      Array.from({ length: count }, (_, n) => kind(n + 1)).join("\n");
    const witnesses = (count: number) =>
      `${lines((n) => `witness w${n} ${witnessKey(n)}`, count)}\nquorum none`;
    expect(parseTrustPolicy(witnesses(64)).witnesses).to.have.length(64);
    expect(() => parseTrustPolicy(witnesses(65))).to.throw(/line 65: is one line of its kind too many/);
    const groups = `witness w ${witnessKey(1)}\n${lines((n) => `group g${n} any ${n === 1 ? "w" : `g${n - 1}`}`, 65)}\nquorum g1`;
    expect(() => parseTrustPolicy(groups)).to.throw(/line 66: is a group too many: at most 64 are allowed/);
    expect(parseTrustPolicy(groups.replace(/^group g65 .*$/m, "")).groups.size).to.equal(64);
    const logs = (count: number) => `${lines((n) => `log ${logKey(n)}`, count)}\nquorum none`;
    expect(parseTrustPolicy(logs(64)).logs).to.have.length(64);
    expect(() => parseTrustPolicy(logs(65))).to.throw(
      /line 65: is one line of its kind too many: at most 64 are allowed/,
    );
  });

  it("may have 200,000 characters, and tabs between its words", () => {
    const text = "quorum\tnone\n".padEnd(200_000, "#");
    expect(parseTrustPolicy(text).quorum).to.equal("none");
    expect(() => parseTrustPolicy(`${text}#`)).to.throw("policy: must have at most 200000 characters");
  });
});
