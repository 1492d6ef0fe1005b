import { expect } from "chai";
import { problemsOf } from "tallystick-protocol/erc8004/finding";
import { fileHash, MAX_FILE_BYTES, readJsonFile, writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { canonicalBody } from "tallystick-protocol/json/recordBody";
import { keccak256, stringToBytes } from "viem";

const issuesOf = (read: () => unknown): object[] => {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return (error as InvalidInputError).issues;
  }
  return [];
};

describe("a file of ERC-8004", () => {
  it("is canonical JSON with the keccak-256 of its bytes, and the same after it is written and read", () => {
    const content = { b: ["é", 1], a: { c: null } };
    const file = writeJsonFile(content);
    expect(file.text).to.equal('{"a":{"c":null},"b":["é",1]}');
    expect(file.hash).to.equal(keccak256(stringToBytes(file.text)));
    expect(fileHash(file.text)).to.equal(file.hash);
    expect(readJsonFile(file.text)).to.deep.equal({ ...file, content });
  });

  it("has at most 32 KiB in UTF-8", () => {
    const tooLong = [{ field: "file", message: `must have at most ${MAX_FILE_BYTES} bytes` }];
    for (const letter of ["x", "é"]) {
      const size = new TextEncoder().encode(letter).length;
      const most = (MAX_FILE_BYTES - '{"a":""}'.length) / size;
      const longest = writeJsonFile({ a: letter.repeat(most) }).text;
      expect(issuesOf(() => readJsonFile(longest))).to.deep.equal([]);
      expect(issuesOf(() => writeJsonFile({ a: letter.repeat(most + 1) }))).to.deep.equal(tooLong);
      expect(issuesOf(() => readJsonFile(canonicalBody({ a: letter.repeat(most + 1) })))).to.deep.equal(
        tooLong,
      );
    }
  });

  it("is an object, with every key once and in order, and no spaces", () => {
    for (const none of ["null", "1", '"a"', "[]", "true"])
      expect(
        issuesOf(() => readJsonFile(none)),
        none,
      ).to.deep.equal([{ field: "file", message: "must be a JSON object" }]);
    for (const other of ['{"b":1,"a":2}', '{ "a":1}', '{"a":1,"a":1}', '{"a":"\\u00e9"}'])
      expect(
        issuesOf(() => readJsonFile(other)),
        other,
      ).to.deep.equal([
        {
          field: "file",
          message: "must be canonical JSON: keys sorted at every level, no spaces, no key twice",
        },
      ]);
    for (const bad of ["", "{", '{"a":1.5}', `{"a":${"[".repeat(17)}${"]".repeat(17)}}`])
      expect(
        issuesOf(() => readJsonFile(bad)),
        bad,
      ).not.to.deep.equal([]);
  });
});

describe("the findings of an error", () => {
  it("name each wrong field, or the given one", () => {
    const issues = [
      { field: "a", message: "is wrong" },
      { field: "", message: "is no JSON" },
    ];
    expect(problemsOf(new InvalidInputError({ issues }), "file")).to.deep.equal([
      { field: "a", holds: false, detail: "is wrong" },
      { field: "file", holds: false, detail: "is no JSON" },
    ]);
    expect(problemsOf(new TallystickError({ code: "c", message: "It is so." }), "file")).to.deep.equal([
      { field: "file", holds: false, detail: "It is so." },
    ]);
    const fault = new TypeError("a fault of ours");
    expect(() => problemsOf(fault, "file")).to.throw(fault);
  });
});
