import { expect } from "chai";
import { hasPython, python } from "../support/python.ts";
import { readVectorText } from "../vectors/vectors.ts";

const NAMES = [
  "eip712.json",
  "merkle.json",
  "python-json.json",
  "python-ledger-unsorted.jsonl",
  "python-ledger.jsonl",
  "records.json",
];

describe("golden vectors", () => {
  it("exist", () => {
    for (const name of NAMES) expect(readVectorText(name), name).not.to.equal("");
  });

  if (hasPython) {
    it("equal the results of python3 on this machine", () => {
      const files = JSON.parse(python(["test/vectors/make_vectors.py", "--print"])) as {
        [name: string]: string;
      };
      expect(Object.keys(files).sort()).to.deep.equal(NAMES);
      for (const name of NAMES) expect(files[name], name).to.equal(readVectorText(name));
    });
  }
});
