import { expect } from "chai";
import { toBase64 } from "tallystick-protocol/base64";
import { InvalidInputError } from "tallystick-protocol/errors";
import {
  formatWitnessRequest,
  MAX_PROOF_LINES,
  MAX_WITNESS_REQUEST_LENGTH,
  parseWitnessRequest,
} from "tallystick-protocol/note/witnessRequest";

const NOTE = "log.example\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— log.example AAAAAAAA\n";
const NODE = new Uint8Array(32).fill(1);
const HASH = toBase64(NODE);

describe("a request to a witness", () => {
  it("has the lines of the specification, and is the same after it is written and read", () => {
    expect(formatWitnessRequest({ oldSize: 20, proof: [NODE, NODE], checkpoint: NOTE })).to.equal(
      `old 20\n${HASH}\n${HASH}\n\n${NOTE}`,
    );
    for (const oldSize of [0, 9, Number.MAX_SAFE_INTEGER])
      for (const length of [0, 1, MAX_PROOF_LINES]) {
        const request = { oldSize, proof: new Array(length).fill(NODE), checkpoint: NOTE };
        expect(parseWitnessRequest(formatWitnessRequest(request))).to.deep.equal(request);
      }
  });

  for (const [what, body, field, words] of [
    ["no empty line", `old 0\n${HASH}\n`, "checkpoint", "must follow after an empty line"],
    ["nothing after the empty line", "old 0\n\n", "checkpoint", "must follow after an empty line"],
    ["no size", `${HASH}\n\n${NOTE}`, "old", "must be `old` and a size, without leading zeroes"],
    ["a size with a leading zero", `old 01\n\n${NOTE}`, "old", "must be `old` and a size"],
    ["a size that is not a safe integer", `old 9007199254740992\n\n${NOTE}`, "old", "must be `old`"],
    ["a word before the size", `an old 1\n\n${NOTE}`, "old", "must be `old` and a size"],
    ["a word after the size", `old 1 2\n\n${NOTE}`, "old", "must be `old` and a size"],
    ["64 hashes", `old 1\n${`${HASH}\n`.repeat(64)}\n${NOTE}`, "proof", "must have at most 63 lines"],
    [
      "a hash of 31 bytes",
      `old 1\n${HASH}\n${toBase64(NODE.subarray(1))}\n\n${NOTE}`,
      "proof",
      "of 32 bytes",
    ],
    ["bad base 64", `old 1\n!\n\n${NOTE}`, "proof", "base 64"],
    ["too many characters", `old 1\n\n${"x".repeat(MAX_WITNESS_REQUEST_LENGTH)}`, "body", "at most 128000"],
  ] as const) {
    it(`is refused with ${what}, and the error names the field`, () => {
      expect(() => parseWitnessRequest(body))
        .to.throw(InvalidInputError, words)
        .with.property("field", field);
    });
  }

  it("may have exactly as many characters as the limit", () => {
    const longest = "old 1\n\n".padEnd(MAX_WITNESS_REQUEST_LENGTH, "x");
    expect(parseWitnessRequest(longest).checkpoint).to.have.length(MAX_WITNESS_REQUEST_LENGTH - 7);
  });
});
