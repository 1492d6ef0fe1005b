import { createHash } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { CanonicalChain } from "tallystick-protocol/ledger/canonicalChain";
import {
  checkEntry,
  entryLine,
  GENESIS_HASH,
  parseEntryLine,
  sealEntry,
} from "tallystick-protocol/ledger/entry";
import { entryLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { sha256ByNoble } from "tallystick-protocol/sha256";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { anyPyJson } from "../../support/arbitraries.ts";

type Verdict = { leaf: string; head: string } | undefined;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The verdict of the slow reader. It reads the line, prints it again, and hashes the result. */
function slowly(line: string, head: string): Verdict {
  try {
    const entry = parseEntryLine(line);
    if (entryLine(entry) !== line) return undefined;
    checkEntry(entry, head);
    return { leaf: hex(entryLeafHash(entry)), head: entry.currentHash };
  } catch {
    return undefined;
  }
}

/** The verdict of the fast reader, which must be the same for text and bytes, and with both implementations of SHA-256. */
function quickly(line: string, head: string): Verdict {
  const verdicts = [line, Buffer.from(line)].flatMap((given) =>
    [sha256ByNoble, sha256ByNode].map((sha256): Verdict => {
      const chain = new CanonicalChain(sha256, head);
      const leaf = chain.next(given);
      if (!leaf) expect(chain.head).to.equal(head);
      return leaf && { leaf: hex(leaf), head: chain.head };
    }),
  );
  for (const verdict of verdicts) expect(verdict).to.deep.equal(verdicts[0]);
  return verdicts[0];
}

/** The line with the correct hash of its text, so that only its form can be wrong. */
function resealed(line: string): string {
  const unsealed = line.replace(/^(\{"current_hash": ")[0-9a-f]{64}/, "$1");
  const digest = createHash("sha256").update(unsealed).digest("hex");
  return unsealed.replace('{"current_hash": "', `{"current_hash": "${digest}`);
}

const payload = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom("a", "aa", "B", "é", "__proto__", "", " ", "!")),
  anyPyJson,
  { noNullPrototype: true, maxKeys: 5 },
);
const timestamp = fc.oneof(
  fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0, max: 4e9, noNaN: true }).map((seconds) => Math.round(seconds * 1000) / 1000),
);
const parentHash = fc.constantFrom(GENESIS_HASH, "0123456789abcdef".repeat(4));
const entry = fc.record({ payload, taskId: fc.string({ unit: "binary" }), timestamp, parentHash });

const hasEscapedKey = (value: PyJson): boolean =>
  value !== null &&
  typeof value === "object" &&
  (Array.isArray(value)
    ? value.some(hasEscapedKey)
    : Object.entries(value).some(([key, item]) => /[^ -~]|["\\]/.test(key) || hasEscapedKey(item)));

describe("a chain of canonical lines", () => {
  it("accepts what the slow reader accepts, with the same leaf and head, except lines with keys that need escapes", () => {
    fc.assert(
      fc.property(entry, (unsealed) => {
        const line = entryLine(sealEntry(unsealed));
        const verdict = quickly(line, unsealed.parentHash);
        if (verdict === undefined) expect(hasEscapedKey(unsealed.payload), line).to.equal(true);
        else expect(verdict).to.deep.equal(slowly(line, unsealed.parentHash));
      }),
      { numRuns: 500 },
    );
  });

  const piece = fc.constantFrom(
    ...[
      " ",
      ",",
      ":",
      '"',
      "{",
      "}",
      "[",
      "]",
      "0",
      "9",
      "-",
      ".",
      "e",
      "E",
      "f",
      "\\",
      "\\u00e9",
      "\\u0041",
      "\\/",
    ],
    ...[
      "\\u000a",
      "\\n",
      "\u007f",
      "é",
      "🤝",
      "\0",
      "\n",
      "null",
      "-0",
      "1.0",
      "1e5",
      '"a": 1, ',
      '"": 0, ',
      "",
    ],
  );

  for (const seal of ["as it was", "anew"]) {
    it(`after any insertion, deletion or replacement, accepts only what the slow reader accepts (hash ${seal})`, () => {
      let taken = 0;
      const seed = Date.now() % 2 ** 31;
      fc.assert(
        fc.property(entry, fc.nat(), fc.nat({ max: 3 }), piece, (unsealed, position, cut, put) => {
          const line = entryLine(sealEntry(unsealed));
          const at = position % (line.length + 1);
          const changed = line.slice(0, at) + put + line.slice(at + cut);
          const sealed = seal === "anew" ? resealed(changed) : changed;
          const verdict = quickly(sealed, unsealed.parentHash);
          if (verdict === undefined) return;
          taken++;
          expect(verdict, sealed).to.deep.equal(slowly(sealed, unsealed.parentHash));
        }),
        { numRuns: 3000, seed },
      );
      // The test shows something only if some of the changed lines are valid.
      expect(taken, `seed ${seed}`).to.be.above(seal === "anew" ? 20 : 0);
    });
  }

  it("refuses a line with another parent, and continues from the last valid line", () => {
    const chain = new CanonicalChain(sha256ByNode);
    const first = sealEntry({ timestamp: 1.5, taskId: "a", parentHash: GENESIS_HASH, payload: {} });
    const second = sealEntry({ timestamp: 2n, taskId: "b", parentHash: first.currentHash, payload: {} });
    expect(chain.next(entryLine(second))).to.equal(undefined);
    expect(chain.next(entryLine(first))).to.deep.equal(entryLeafHash(first));
    expect(chain.next(entryLine(first))).to.equal(undefined);
    expect(chain.next(entryLine(second))).to.deep.equal(entryLeafHash(second));
    expect(chain.head).to.equal(second.currentHash);
  });

  it("refuses a payload that is not an object, even if the line's hash is right", () => {
    const line = entryLine(sealEntry({ timestamp: 1, taskId: "t", parentHash: GENESIS_HASH, payload: {} }));
    expect(quickly(line, GENESIS_HASH)).not.to.equal(undefined);
    for (const payload of ["1", '"text"', "[]", "[{}]", "null", "true"]) {
      const other = resealed(line.replace('"payload": {}', `"payload": ${payload}`));
      expect(quickly(other, GENESIS_HASH), payload).to.equal(undefined);
    }
  });

  it("refuses every line if the head is not a hash", () => {
    const line = entryLine(sealEntry({ timestamp: 1, taskId: "a", parentHash: GENESIS_HASH, payload: {} }));
    for (const head of ["", "00", GENESIS_HASH.slice(1), `${GENESIS_HASH}0`]) {
      expect(new CanonicalChain(sha256ByNode, head).next(line), head).to.equal(undefined);
    }
  });

  it("does not complete a short line with the bytes of an earlier line", () => {
    const line = entryLine(sealEntry({ timestamp: 123, taskId: "a", parentHash: GENESIS_HASH, payload: {} }));
    for (let end = 0; end < line.length; end++) {
      const chain = new CanonicalChain(sha256ByNode);
      chain.next(line.replace("123", "124"));
      expect(chain.next(line), "the line is good").not.to.equal(undefined);
      chain.head = GENESIS_HASH;
      expect(chain.next(line.slice(0, end)), line.slice(0, end)).to.equal(undefined);
    }
    // The last character needs more bytes than the buffer has for this line, so it is not written into the buffer.
    const chain = new CanonicalChain(sha256ByNode);
    chain.next(line);
    chain.head = GENESIS_HASH;
    expect(chain.next(`${line.slice(0, -1)}é`)).to.equal(undefined);
  });

  it("accepts lines that are longer than all earlier lines, and short lines after them", () => {
    const chain = new CanonicalChain(sha256ByNode);
    let head = GENESIS_HASH;
    for (const length of [10, 4_000, 70_000, 10, 200_000, 3]) {
      const payload = { text: "x".repeat(length) };
      const sealed = sealEntry({ timestamp: 1, taskId: "a", parentHash: head, payload });
      expect(chain.next(Buffer.from(entryLine(sealed)))).to.deep.equal(entryLeafHash(sealed));
      head = sealed.currentHash;
    }
  });

  it("accepts a first line of any length around that of its buffer, as text and as bytes", () => {
    const lineOf = (text: string) =>
      entryLine(sealEntry({ timestamp: 1, taskId: text, parentHash: GENESIS_HASH, payload: {} }));
    for (let length = 4_090; length <= 4_100; length++) {
      const line = lineOf("x".repeat(length - lineOf("").length));
      expect(line).to.have.length(length);
      expect(quickly(line, GENESIS_HASH), `${length}`).to.deep.equal(slowly(line, GENESIS_HASH));
    }
  });

  it("refuses an invalid digit of the hash, even if another digit hides it", () => {
    const line = entryLine(sealEntry({ timestamp: 1, taskId: "a", parentHash: GENESIS_HASH, payload: {} }));
    // For example 1f becomes 2g. A reader that reads g as -1 computes the same value.
    const made = line.replace(
      /^(\{"current_hash": "(?:..)*?)([0-8])f/,
      (_, before, high) => `${before}${+high + 1}g`,
    );
    expect(made).not.to.equal(line);
    expect(quickly(made, GENESIS_HASH)).to.equal(undefined);
    const at = '{"current_hash": "'.length;
    for (let i = at; i < at + 64; i++) {
      for (const other of ["g", "G", "`", "/", ":", " ", (line[i] as string).toUpperCase()]) {
        if (other === line[i]) continue;
        const changed = line.slice(0, i) + other + line.slice(i + 1);
        expect(quickly(changed, GENESIS_HASH), changed).to.equal(undefined);
      }
    }
  });
});
