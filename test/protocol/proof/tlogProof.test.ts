import { expect } from "chai";
import fc from "fast-check";
import { toBase64 } from "tallystick-protocol/base64";
import { formatTlogProof, parseTlogProof, TLOG_PROOF_HEADER } from "tallystick-protocol/proof/tlogProof";

const NOTE = "log.example\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— log.example AAAAAAAA\n";
const HASH = toBase64(new Uint8Array(32).fill(1));

describe("a proof in C2SP's form", () => {
  it("is read as it is written, with and without extra data, of any length", () => {
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

  it("has the lines of the specification, and the checkpoint unchanged", () => {
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
    ["no index", `${TLOG_PROOF_HEADER}\n${HASH}\n\n${NOTE}`, "index"],
    ["an index with a zero before it", `${TLOG_PROOF_HEADER}\nindex 01\n\n${NOTE}`, "index"],
    [
      "an index that is not a safe integer",
      `${TLOG_PROOF_HEADER}\nindex 9007199254740992\n\n${NOTE}`,
      "index",
    ],
    ["extra data behind the index", `${TLOG_PROOF_HEADER}\nindex 0\nextra AQ==\n\n${NOTE}`, "proof"],
    ["extra data that is not base 64", `${TLOG_PROOF_HEADER}\nextra A\nindex 0\n\n${NOTE}`, "extra"],
    [
      "a hash of 31 bytes",
      `${TLOG_PROOF_HEADER}\nindex 0\n${toBase64(new Uint8Array(31))}\n\n${NOTE}`,
      "proof",
    ],
    ["65 hashes", `${TLOG_PROOF_HEADER}\nindex 0\n${`${HASH}\n`.repeat(65)}\n${NOTE}`, "proof"],
    ["more than a file may hold", `${TLOG_PROOF_HEADER}\n${"x".repeat(4_000_001)}`, ""],
  ] as const) {
    it(`is refused with ${what}, which is named`, () => {
      expect(() => parseTlogProof(text))
        .to.throw()
        .with.property("field", field);
    });
  }
});
