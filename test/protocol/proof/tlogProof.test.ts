import { ed25519 } from "@noble/curves/ed25519.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect } from "chai";
import fc from "fast-check";
import { toBase64 } from "tallystick-protocol/base64";
import { InvalidInputError } from "tallystick-protocol/errors";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import {
  formatTlogProof,
  parseTlogProof,
  TLOG_PROOF_HEADER,
  verifyTlogProof,
} from "tallystick-protocol/proof/tlogProof";

const NOTE = "log.example\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— log.example AAAAAAAA\n";
const HASH = toBase64(new Uint8Array(32).fill(1));

describe("a proof in C2SP's form", () => {
  it("is the same after it is written and read, with and without extra data, of any length", () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(
        fc.option(fc.uint8Array({ maxLength: 50 }), { nil: undefined }),
        fc.nat(),
        fc.array(bytes, { maxLength: 64 }),
        (extra, index, proof) => {
          const written = { ...(extra && { extra }), index, proof, checkpoint: NOTE };
          expect(parseTlogProof(formatTlogProof(written))).to.deep.equal(written);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("has the lines of the specification, and the unchanged checkpoint", () => {
    const text = formatTlogProof({
      extra: Uint8Array.of(1),
      index: 73_894,
      proof: [new Uint8Array(32).fill(1)],
      checkpoint: NOTE,
    });
    expect(text).to.equal(`c2sp.org/tlog-proof@v1\nextra AQ==\nindex 73894\n${HASH}\n\n${NOTE}`);
  });

  for (const [what, text, field] of [
    ["another header", `c2sp.org/tlog-proof@v2\nindex 0\n\n${NOTE}`, "header"],
    ["nothing", "", "header"],
    ["no checkpoint", `${TLOG_PROOF_HEADER}\nindex 0\n`, "checkpoint"],
    ["nothing behind the header", TLOG_PROOF_HEADER, "checkpoint"],
    ["only a header and a checkpoint", `${TLOG_PROOF_HEADER}\n\n${NOTE}`, "index"],
    ["no index", `${TLOG_PROOF_HEADER}\n${HASH}\n\n${NOTE}`, "index"],
    ["an index with a leading zero", `${TLOG_PROOF_HEADER}\nindex 01\n\n${NOTE}`, "index"],
    [
      "an index that is not a safe integer",
      `${TLOG_PROOF_HEADER}\nindex 9007199254740992\n\n${NOTE}`,
      "index",
    ],
    ["extra data after the index", `${TLOG_PROOF_HEADER}\nindex 0\nextra AQ==\n\n${NOTE}`, "proof"],
    ["extra data that is not base 64", `${TLOG_PROOF_HEADER}\nextra A\nindex 0\n\n${NOTE}`, "extra"],
    [
      "a hash of 31 bytes",
      `${TLOG_PROOF_HEADER}\nindex 0\n${toBase64(new Uint8Array(31))}\n\n${NOTE}`,
      "proof",
    ],
    ["65 hashes", `${TLOG_PROOF_HEADER}\nindex 0\n${`${HASH}\n`.repeat(65)}\n${NOTE}`, "proof"],
    ["too many characters", `${TLOG_PROOF_HEADER}\n${"x".repeat(4_000_001)}`, ""],
  ] as const) {
    it(`is refused with ${what}, and the error names the field`, () => {
      expect(() => parseTlogProof(text))
        .to.throw(/\(C2SP tlog-proof\)$|base 64/)
        .with.property("field", field);
    });
  }

  it("may have four million characters, and 64 hashes", () => {
    const head = `${TLOG_PROOF_HEADER}\nindex 9007199254740991\n${`${HASH}\n`.repeat(64)}\n`;
    const proof = parseTlogProof(head.padEnd(4_000_000, "x"));
    expect(proof.index).to.equal(Number.MAX_SAFE_INTEGER);
    expect(proof.proof).to.have.length(64);
    expect(proof).not.to.have.property("extra");
    expect(() => parseTlogProof(head.padEnd(4_000_001, "x"))).to.throw(
      "The input: must have at most 4000000 characters",
    );
  });

  it("says what is wrong with it", () => {
    const said = (text: string) => {
      try {
        parseTlogProof(text);
      } catch (error) {
        return (error as Error).message.replace(" (C2SP tlog-proof)", "");
      }
      return undefined;
    };
    expect(said("")).to.equal(`header: must be ${TLOG_PROOF_HEADER}`);
    expect(said(`${TLOG_PROOF_HEADER}\nindex 0`)).to.equal("checkpoint: must follow after an empty line");
    for (const index of ["index", "an index 0", "index 0 1", "index -1"])
      expect(said(`${TLOG_PROOF_HEADER}\n${index}\n\n${NOTE}`), index).to.equal(
        "index: must be `index` and a position, without leading zeroes",
      );
    expect(said(`${TLOG_PROOF_HEADER}\nindex 0\n${`${HASH}\n`.repeat(65)}\n${NOTE}`)).to.equal(
      "proof: must have at most 64 lines",
    );
    expect(said(`${TLOG_PROOF_HEADER}\nindex 0\nAAAA\n${HASH}\n\n${NOTE}`)).to.equal(
      "proof: must be hashes of 32 bytes, each on its own line",
    );
  });
});

describe("checking a proof in C2SP's form", () => {
  const entry = sealEntry({ timestamp: 1, taskId: "one", payload: {}, parentHash: GENESIS_HASH });
  const [line, seed] = [entryLine(entry), new Uint8Array(32).fill(1)];
  const text = formatCheckpoint({ origin: "log.example", size: 1, root: lineLeafHash(line) });
  const signatures = [signNote(text, "log.example", seed)];
  const policy = parseTrustPolicy(
    `log ${formatVerifierKey(noteVerifierKey("log.example", ed25519.getPublicKey(seed)))}\nquorum none`,
  );
  const good = {
    extra: utf8ToBytes(line),
    index: 0,
    proof: [],
    checkpoint: formatSignedNote({ text, signatures }),
  };

  it("gives the entry, its position, its checkpoint and its witnesses", () => {
    const { witnesses, ...rest } = verifyTlogProof(good, policy);
    expect(rest).to.deep.equal({
      entry,
      index: 0,
      checkpoint: { origin: "log.example", size: 1, root: lineLeafHash(line) },
    });
    expect(witnesses.size).to.equal(0);
  });

  it("refuses a proof to which the policy objects, with the policy's words", () => {
    const key = formatVerifierKey(
      noteVerifierKey("log.example", ed25519.getPublicKey(new Uint8Array(32).fill(2))),
    );
    const other = parseTrustPolicy(`log ${key}\nquorum none`);
    expect(() => verifyTlogProof(good, other)).to.throw(
      ProofError,
      "No key that the policy has for log.example signed the checkpoint.",
    );
  });

  it("refuses a proof without its entry, and an entry that is not exactly the line", () => {
    const refused = (change: object, words: string) =>
      expect(() => verifyTlogProof({ ...good, ...change }, policy)).to.throw(ProofError, words);
    refused({ extra: undefined }, "The proof has no entry: a proof of this ledger carries it as extra.");
    refused({ extra: utf8ToBytes(`${line} `) }, "The entry is not a canonical ledger line.");
    expect(() => verifyTlogProof({ ...good, checkpoint: "x" }, policy))
      .to.throw(InvalidInputError)
      .with.property("field", "checkpoint");
    refused({ index: 1 }, "The entry is not entry 1 of the checkpoint's ledger.");
    // A decoder may drop the byte order mark. The rest is the line.
    refused(
      { extra: Uint8Array.of(0xef, 0xbb, 0xbf, ...good.extra) },
      "The entry is not a canonical ledger line.",
    );
  });
});
