import { createHash } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import { type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import {
  checkEntry,
  entryFromPyJson,
  entryHash,
  entryLine,
  GENESIS_HASH,
  hashOfEntryLine,
  isLedgerHash,
  LedgerCorruptError,
  parseEntryLine,
  sealEntry,
  sealLine,
} from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError, verifyLedgerLines } from "tallystick-protocol/ledger/verifyLedger";
import { entryLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { anyPyJson } from "../../support/arbitraries.ts";
import { hasPython, python } from "../../support/python.ts";
import { readVectorText } from "../../vectors/vectors.ts";

const linesOf = (name: string): string[] => readVectorText(name).trimEnd().split("\n");

/** A ledger of `n` entries, as lines. */
function ledger(n: number): string[] {
  const lines: string[] = [];
  let parentHash = GENESIS_HASH;
  for (let i = 0; i < n; i++) {
    const payload = {
      type: "settlement",
      data_update: { text: `caf\u00e9 ${i}`, share: i / 4 },
      confidence_score: 0.9,
    };
    const entry = sealEntry({ timestamp: 1767225600.5 + i, taskId: `task-${i}`, parentHash, payload });
    parentHash = entry.currentHash;
    lines.push(entryLine(entry));
  }
  return lines;
}

async function lineErrorOf(lines: string[], options = {}): Promise<LedgerLineError> {
  try {
    await verifyLedgerLines(lines, options);
  } catch (error) {
    if (error instanceof LedgerLineError) return error;
    throw error;
  }
  throw new Error("the ledger passed");
}

function saysTheSame(a: string, b: string): boolean {
  return entryLine(parseEntryLine(a)) === entryLine(parseEntryLine(b));
}

describe("ledger entries", () => {
  it("contain their hash, which is the SHA-256 of the line with an empty current_hash", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), anyPyJson, { noNullPrototype: true }),
        fc.string(),
        (payload, taskId) => {
          const entry = sealEntry({ timestamp: 1767225600.123, taskId, parentHash: GENESIS_HASH, payload });
          const line = entryLine(entry);
          const empty = line.replace(/^\{"current_hash": "[0-9a-f]{64}"/, '{"current_hash": ""');
          expect(entry.currentHash).to.equal(createHash("sha256").update(empty).digest("hex"));
          expect(hashOfEntryLine(line)).to.equal(entry.currentHash);
          expect(entryHash(parseEntryLine(line))).to.equal(entry.currentHash);
          expect(entryLine(parseEntryLine(line))).to.equal(line);
        },
      ),
    );
  });

  it("distinguish an int and a float timestamp", () => {
    const at = (timestamp: number | bigint) =>
      sealEntry({ timestamp, taskId: "t", parentHash: GENESIS_HASH, payload: {} }).currentHash;
    expect(at(1767225600)).not.to.equal(at(1767225600n));
  });

  it("have the leaf hash SHA-256(0x00 || line)", () => {
    const line = ledger(1)[0]!;
    const expected = createHash("sha256").update(Uint8Array.of(0)).update(line).digest("hex");
    expect(toBareHex(entryLeafHash(parseEntryLine(line)))).to.equal(expected);
  });

  it("are refused with every field that is missing, unknown or of the wrong type", () => {
    const text = '{"timestamp": "now", "task_id": 1, "parent_hash": "00", "payload": [], "extra": 1}';
    const hash = "must be 64 lower-case hex digits";
    expect(() => parseEntryLine(text))
      .to.throw(InvalidInputError)
      .with.property("issues")
      .that.deep.equals([
        { field: "extra", message: "is not a field of a ledger entry" },
        { field: "timestamp", message: "must be a number of seconds" },
        { field: "task_id", message: "must be a string" },
        { field: "parent_hash", message: hash },
        { field: "payload", message: "must be an object" },
        { field: "current_hash", message: hash },
      ]);
    for (const text of ["[]", "null", "1", '"a"'])
      expect(() => parseEntryLine(text), text)
        .to.throw(InvalidInputError, "must be a JSON object")
        .with.property("field", "");
    // A property that every object inherits is not a field.
    expect(() => parseEntryLine('{"toString": 1}')).to.throw("toString: is not a field");
  });

  it("are read only with complete hashes, and with an object as payload", () => {
    const line = ledger(1)[0]!;
    expect(parseEntryLine(line).taskId).to.equal("task-0");
    const { currentHash } = parseEntryLine(line);
    for (const bad of [`${currentHash}0`, `0${currentHash}`, currentHash.slice(1), currentHash.toUpperCase()])
      expect(() => parseEntryLine(line.replace(currentHash, bad)), bad).to.throw(/^current_hash: must be 64/);
    for (const bad of ["null", "1", '"a"', "[]"])
      expect(
        () => parseEntryLine(line.replace(/"payload": .*, "task_id"/, `"payload": ${bad}, "task_id"`)),
        bad,
      ).to.throw(/^payload: must be an object$/);
    // A field that the object only inherits is missing.
    const whole = parsePythonJson(line) as { [key: string]: PyJson };
    expect(entryFromPyJson({ ...whole })).to.deep.equal(parseEntryLine(line));
    expect(() => entryFromPyJson(Object.create(whole))).to.throw(/^timestamp: must be a number/);
    expect(isLedgerHash(currentHash)).to.equal(true);
    expect(isLedgerHash([currentHash])).to.equal(false);
  });

  it("are the same, whether they are sealed and printed in one step or in two", () => {
    const entry = { timestamp: 1n, taskId: "t", parentHash: GENESIS_HASH, payload: { a: "caf\u00e9" } };
    const sealed = sealEntry(entry);
    expect(sealLine(entry)).to.deep.equal({ entry: sealed, line: entryLine(sealed) });
  });

  it("are refused with another parent or another hash", () => {
    const [first, second] = ledger(2).map(parseEntryLine);
    expect(() => checkEntry(first!, GENESIS_HASH)).not.to.throw();
    expect(() => checkEntry(second!, first!.currentHash)).not.to.throw();
    expect(() => checkEntry(second!, GENESIS_HASH)).to.throw(LedgerCorruptError, /^parent_hash is /);
    const forged = { ...first!, payload: { a: 1n } as { [key: string]: PyJson } };
    expect(() => checkEntry(forged, GENESIS_HASH)).to.throw(LedgerCorruptError, /^current_hash is /);
    const { currentHash } = first!;
    expect(() => checkEntry({ ...forged, parentHash: currentHash }, GENESIS_HASH))
      .to.throw(
        LedgerCorruptError,
        new RegExp(
          `^parent_hash is ${currentHash}, but the entry before has 0{64}; current_hash is ${currentHash}, but the entry hashes to (?!${currentHash})[0-9a-f]{64}$`,
        ),
      )
      .with.property("code", "ledger_corrupt");
  });
});

describe("verifying a ledger", () => {
  it("gives the entry count, the head and the Merkle root", async () => {
    const lines = ledger(9);
    const tree = new MerkleTree();
    for (const line of lines) tree.append(entryLeafHash(parseEntryLine(line)));
    const result = await verifyLedgerLines(lines);
    expect(result.size).to.equal(9);
    expect(result.head).to.equal(parseEntryLine(lines[8]!).currentHash);
    expect(toBareHex(result.root)).to.equal(toBareHex(tree.root()));
  });

  it("accepts the empty ledger", async () => {
    const result = await verifyLedgerLines([]);
    expect(result.size).to.equal(0);
    expect(result.head).to.equal(GENESIS_HASH);
  });

  it("accepts lines from a stream, and passes on each checked entry", async () => {
    const lines = ledger(3);
    async function* stream() {
      yield* lines;
    }
    const seen: unknown[] = [];
    const onEntry = (...args: unknown[]) => seen.push(args);
    const result = await verifyLedgerLines(stream(), { onEntry });
    expect(seen).to.deep.equal(
      lines.map((line) => [parseEntryLine(line), line, entryLeafHash(parseEntryLine(line))]),
    );
    expect(result).to.deep.equal(await verifyLedgerLines(lines));
    // The same is true for lines that only the slow reader can read.
    const escaped = lines.map((line) => line.replace('"text"', '"t\\u0065xt"'));
    const others = await verifyLedgerLines(escaped, { layout: "any", onEntry });
    expect(others).to.deep.equal(result);
    expect(seen.slice(3)).to.deep.equal(seen.slice(0, 3));
  });

  it("reads an entry from bytes too", () => {
    const chain = new LedgerChain();
    for (const text of ledger(2)) {
      const checked = chain.nextEntry({ bytes: Buffer.from(text), text });
      expect(checked).to.deep.equal({
        entry: parseEntryLine(text),
        line: text,
        leafHash: entryLeafHash(parseEntryLine(text)),
      });
    }
  });

  it("passes on an error of the function that hashes, because the ledger is not at fault", async () => {
    const broken = new TypeError("no such algorithm");
    const sha256 = () => {
      throw broken;
    };
    for (const line of [ledger(1)[0]!, ` ${ledger(1)[0]!}`]) {
      const error = await verifyLedgerLines([line], { sha256 }).catch((thrown: unknown) => thrown);
      expect(error).to.equal(broken);
    }
  });

  it("accepts a segment, whose errors count the lines of the whole ledger", async () => {
    const lines = ledger(6);
    const parentHash = parseEntryLine(lines[2]!).currentHash;
    const segment = lines.slice(3);
    expect((await verifyLedgerLines(segment, { parentHash, firstIndex: 3 })).size).to.equal(3);
    const error = await lineErrorOf(segment.with(1, segment[1]!.replace("task-4", "task-5")), {
      parentHash,
      firstIndex: 3,
    });
    expect(error.line).to.equal(5);
    expect((await lineErrorOf(segment, { firstIndex: 3 })).reason).to.match(/^parent_hash is /);
    const onEntry = () => {};
    const read = await lineErrorOf(segment.with(1, segment[0]!), { parentHash, firstIndex: 3, onEntry });
    expect([read.line, read.code, read.details, read.message]).to.deep.equal([
      5,
      "ledger_line",
      { line: 5 },
      `line 5: ${read.reason}`,
    ]);
    expect(read.hint).to.match(/^The ledger was changed after it was written, or damaged\. Restore it/);
    expect(read.cause).to.be.instanceOf(LedgerCorruptError);
  });

  it("accepts a ledger that Python wrote, byte for byte", async () => {
    const lines = linesOf("python-ledger.jsonl");
    const result = await verifyLedgerLines(lines);
    expect(result.size).to.equal(6);
    for (const line of lines) expect(entryLine(parseEntryLine(line))).to.equal(line);
  });

  it("accepts lines in other layouts on request, with the same head and root", async () => {
    const [sorted, unsorted] = [linesOf("python-ledger.jsonl"), linesOf("python-ledger-unsorted.jsonl")];
    const error = await lineErrorOf(unsorted);
    expect(error.line).to.equal(1);
    expect(error.reason).to.match(/canonical layout \(from column 3 on\)$/);
    expect(await verifyLedgerLines(unsorted, { layout: "any" })).to.deep.equal(
      await verifyLedgerLines(sorted),
    );
  });

  for (const [file, layout] of [
    ["python-ledger.jsonl", "canonical"],
    ["python-ledger-unsorted.jsonl", "any"],
  ] as const) {
    it(`names the line in which any one character is changed (${file}, ${layout} layout)`, async () => {
      const lines = linesOf(file);
      const replacements = [" ", "\t", "0", "7", "a", "A", '"', ",", "}", "\u00e9"];
      const [index, line] = [2, lines[2]!];
      for (let at = 0; at < line.length; at++) {
        const other = replacements.filter((char) => char !== line[at]);
        const changed = line.slice(0, at) + other[at % other.length]! + line.slice(at + 1);
        // White space between two values is layout, which the hash does not cover.
        if (layout === "any" && /\s/.test(changed[at]!) && line[at] === " " && saysTheSame(changed, line))
          continue;
        const error = await lineErrorOf(lines.with(index, changed), { layout });
        expect(error.line, `column ${at + 1}: ${changed}`).to.equal(3);
      }
    });
  }

  it("names the line at which a line was removed, repeated or swapped", async () => {
    const lines = ledger(5);
    expect((await lineErrorOf(lines.toSpliced(2, 1))).line).to.equal(3);
    expect((await lineErrorOf(lines.toSpliced(2, 0, lines[1]!))).line).to.equal(3);
    expect((await lineErrorOf(lines.with(1, lines[2]!).with(2, lines[1]!))).line).to.equal(2);
    expect((await lineErrorOf(lines.with(3, ""))).reason).to.match(/the text ends/);
  });

  it("names at most five faults of a line, and gives the number of the others", async () => {
    const reason = async (line: string) => (await lineErrorOf([line])).reason;
    const fields = (count: number) => Array.from({ length: count }, (_, n) => `"${"abcdefgh"[n]}": 1`).join();
    const rest = '"timestamp": 1, "task_id": "t", "parent_hash": "", "payload": {}';
    expect(await reason(`{${fields(3)}, ${rest}}`)).to.equal(
      "a is not a field of a ledger entry; b is not a field of a ledger entry; c is not a field of a ledger entry; " +
        "parent_hash must be 64 lower-case hex digits; current_hash must be 64 lower-case hex digits",
    );
    expect(await reason(`{${fields(5)}, ${rest}}`)).to.match(
      /; e is not a field of a ledger entry; and 2 more$/,
    );
    expect(await reason("[]")).to.equal("the line must be a JSON object");
    const long = "x".repeat(65);
    expect(await reason(`{"${long}": 1}`)).to.match(/^"x{64}\.\.\." is not a field/);
    expect(await reason(`{"${long.slice(1)}": 1}`)).to.match(/^x{64} is not a field/);
    expect(await reason('{"x y": 1}')).to.match(/^"x y" is not a field/);
  });

  if (hasPython) {
    it("has the same result in Python for a ledger that was written here", () => {
      const payloads = fc.sample(
        fc.dictionary(fc.string({ unit: "binary" }), anyPyJson, { noNullPrototype: true }),
        60,
      );
      let parentHash = GENESIS_HASH;
      const lines = payloads.map((payload, i) => {
        const entry = sealEntry({
          timestamp: i % 2 ? 1767225600.25 + i : BigInt(i),
          taskId: `t${i}`,
          parentHash,
          payload,
        });
        parentHash = entry.currentHash;
        return entryLine(entry);
      });
      const program = [
        "import sys, json, hashlib",
        "head = '0' * 64",
        "for line in sys.stdin:",
        "    line = line[:-1]",
        "    entry = json.loads(line)",
        "    assert line == json.dumps(entry, sort_keys=True)",
        "    assert entry['parent_hash'] == head",
        "    head, entry['current_hash'] = entry['current_hash'], ''",
        "    assert head == hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()",
        "print(head)",
      ].join("\n");
      expect(python(["-c", program], lines.map((line) => `${line}\n`).join(""))).to.equal(`${parentHash}\n`);
    });
  }
});
