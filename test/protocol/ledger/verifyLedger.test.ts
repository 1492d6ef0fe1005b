import { createHash } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import {
  checkEntry,
  entryHash,
  entryLine,
  GENESIS_HASH,
  hashOfEntryLine,
  LedgerCorruptError,
  parseEntryLine,
  sealEntry,
} from "tallystick-protocol/ledger/entry";
import { LedgerLineError, verifyLedgerLines } from "tallystick-protocol/ledger/verifyLedger";
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
  it("have the SHA-256 of the line with an empty current_hash as their hash, and the line contains it", () => {
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

  it("have a leaf of SHA-256(0x00, line)", () => {
    const line = ledger(1)[0]!;
    const expected = createHash("sha256").update(Uint8Array.of(0)).update(line).digest("hex");
    expect(toBareHex(entryLeafHash(parseEntryLine(line)))).to.equal(expected);
  });

  it("name every field that is missing, unknown or of the wrong type", () => {
    const text = '{"timestamp": "now", "task_id": 1, "parent_hash": "00", "payload": [], "extra": 1}';
    const fields = ["extra", "timestamp", "task_id", "parent_hash", "payload", "current_hash"];
    expect(() => parseEntryLine(text))
      .to.throw(InvalidInputError)
      .with.property("issues")
      .satisfies(
        (issues: { field: string }[]) => fields.join() === issues.map((issue) => issue.field).join(),
      );
    expect(() => parseEntryLine("[]")).to.throw(InvalidInputError, "must be a JSON object");
  });

  it("are refused with another parent or another hash", () => {
    const [first, second] = ledger(2).map(parseEntryLine);
    expect(() => checkEntry(first!, GENESIS_HASH)).not.to.throw();
    expect(() => checkEntry(second!, first!.currentHash)).not.to.throw();
    expect(() => checkEntry(second!, GENESIS_HASH)).to.throw(LedgerCorruptError, /^parent_hash is /);
    const forged = { ...first!, payload: { a: 1n } as { [key: string]: PyJson } };
    expect(() => checkEntry(forged, GENESIS_HASH)).to.throw(LedgerCorruptError, /^current_hash is /);
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
    const seen: string[] = [];
    await verifyLedgerLines(stream(), { onEntry: (entry) => seen.push(entry.taskId) });
    expect(seen).to.deep.equal(["task-0", "task-1", "task-2"]);
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
    it(`names the line after any one changed character (${file}, ${layout} layout)`, async () => {
      const lines = linesOf(file);
      const replacements = [" ", "\t", "0", "7", "a", "A", '"', ",", "}", "\u00e9"];
      const [index, line] = [2, lines[2]!];
      for (let at = 0; at < line.length; at++) {
        const other = replacements.filter((char) => char !== line[at]);
        const changed = line.slice(0, at) + other[at % other.length]! + line.slice(at + 1);
        // White space between two values is layout: nothing was changed that the hash covers.
        if (layout === "any" && /\s/.test(changed[at]!) && line[at] === " " && saysTheSame(changed, line))
          continue;
        const error = await lineErrorOf(lines.with(index, changed), { layout });
        expect(error.line, `column ${at + 1}: ${changed}`).to.equal(3);
      }
    });
  }

  it("names the line where a line was removed, repeated or swapped", async () => {
    const lines = ledger(5);
    expect((await lineErrorOf(lines.toSpliced(2, 1))).line).to.equal(3);
    expect((await lineErrorOf(lines.toSpliced(2, 0, lines[1]!))).line).to.equal(3);
    expect((await lineErrorOf(lines.with(1, lines[2]!).with(2, lines[1]!))).line).to.equal(2);
    expect((await lineErrorOf(lines.with(3, ""))).reason).to.match(/the text ends/);
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
