import { expect } from "chai";
import { dumpsPythonJson, type PyJson } from "tallystick-protocol/json/pythonJson";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "tallystick-protocol/ledger/entry";
import {
  LedgerChain,
  LedgerLayoutError,
  LedgerLineError,
  verifyLedgerLines,
} from "tallystick-protocol/ledger/verifyLedger";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { hasPython, python } from "../../support/python.ts";

const ORACLE = "test/protocol/ledger/support/layouts.py";

/**
 * The number of ledgers that Python writes, each with one to eight entries. The seed is fixed by default, so that a
 * failure can be repeated.
 */
const RUNS = Number(process.env.LAYOUT_RUNS ?? 1_000);
const SEED = process.env.LAYOUT_SEED ?? "tally";

type Verdict = { line: number } | { entries: number; head: string; other: number; first: number };

/** The verdict of our verifier, in the form that the oracle uses. */
function verdictOf(file: Buffer): Verdict {
  const chain = new LedgerChain({ layout: "any" });
  let entries = 0;
  try {
    for (let at = 0; at < file.length; entries++) {
      const newline = file.indexOf(0x0a, at);
      const end = newline === -1 ? file.length : newline;
      const bytes = file.subarray(at, end);
      chain.next({ bytes, text: bytes.toString("latin1") });
      at = end + 1;
    }
  } catch (error) {
    if (error instanceof LedgerLineError) return { line: error.line };
    throw error;
  }
  const { count, firstLine } = chain.otherLayouts;
  return { entries, head: chain.head, other: count, first: firstLine };
}

function entryOf(payload: { [key: string]: PyJson }): LedgerEntry {
  return sealEntry({ timestamp: 1767225600.5, taskId: "t", parentHash: GENESIS_HASH, payload });
}

/** The verdict on one line: `canonical`, `other` (its content verifies), or the reason why not. */
function judge(line: string | Buffer): string {
  const chain = new LedgerChain({ layout: "any" });
  const bytes = Buffer.from(line as string);
  try {
    chain.next({ bytes, text: bytes.toString("latin1") });
  } catch (error) {
    if (error instanceof LedgerLineError) return error.reason;
    throw error;
  }
  return chain.otherLayouts.count === 0 ? "canonical" : "other";
}

describe("the layout of a ledger's lines", () => {
  if (hasPython) {
    it("changes no verdict: our verifier and Python agree on generated ledgers, of which many are damaged", () => {
      const printed = python([ORACLE, "write", SEED, String(RUNS)]);
      const found = { verified: 0, bad: 0, entries: 0, otherLayouts: 0 };
      for (const line of printed.trimEnd().split("\n")) {
        const { name, file, verdict } = JSON.parse(line) as { name: string; file: string; verdict: Verdict };
        expect(verdictOf(Buffer.from(file, "base64")), `${name} (seed ${SEED}): ${file}`).to.deep.equal(
          verdict,
        );
        if ("line" in verdict) found.bad++;
        else {
          found.verified++;
          found.entries += verdict.entries;
          found.otherLayouts += verdict.other;
        }
      }
      // Valid and invalid ledgers must both be frequent. Otherwise the comparison proves little.
      expect(found.verified).to.be.above(RUNS / 4);
      expect(found.bad).to.be.above(RUNS / 4);
      expect(found.otherLayouts).to.be.above(RUNS);
    });
  }

  const payload = {
    "10": 1n,
    "9": -0,
    b: 1e16,
    a: { z: [1, 1n, 10n ** 30n, 1e-7], "\u{1f91d}": "caf\u00e9/\u007f\ud800", __proto__x: null },
  } as { [key: string]: PyJson };
  const entry = entryOf(payload);
  const canonical = entryLine(entry);

  it("may be any layout that parses to the same content", () => {
    expect(judge(canonical)).to.equal("canonical");
    const others = {
      "no spaces": canonical.replaceAll(", ", ",").replaceAll(": ", ":"),
      "spaces around": `  ${canonical}\t`,
      "a carriage return at the end": `${canonical}\r`,
      "a byte order mark before the file": `\ufeff${canonical}`,
      "escapes in upper case": canonical.replace("\\u00e9", "\\u00E9"),
      "an escaped slash": canonical.replace("/", "\\/"),
      "a letter escaped": canonical.replace('"payload"', '"p\\u0061yload"'),
      "raw characters": canonical.replace("\\u00e9", "\u00e9").replace("\\ud83e\\udd1d", "\u{1f91d}"),
      "minus zero in another spelling": canonical.replace("-0.0", "-0e5"),
      "1e16 spelled out": canonical.replace("1e+16", "10000000000000000.0"),
      "1e16 with an upper-case E": canonical.replace("1e+16", "1E16"),
      "a float with more zeros": canonical.replace("[1.0,", "[1.000,"),
      "integer-like keys in number order": canonical.replace('"10": 1, "9": -0.0, ', '"9": -0.0, "10": 1, '),
    };
    for (const [name, line] of Object.entries(others)) {
      expect(line, name).not.to.equal(canonical);
      expect(judge(line), name).to.equal("other");
    }
    const own = `{"timestamp": 1767225600.5, "task_id": "t", "current_hash": "${entry.currentHash}", "payload": ${dumpsPythonJson(payload, { sortKeys: false })}, "parent_hash": "${GENESIS_HASH}"}`;
    expect(judge(own)).to.equal("other");
  });

  it("hides no change of the content: a wrong hash is reported in any layout", () => {
    const hash = /^current_hash is [0-9a-f]{64}, but the entry hashes to [0-9a-f]{64}$/;
    for (const [from, to] of [
      ["[1.0, 1,", "[1, 1,"],
      ["[1.0, 1,", "[1.0, 1.0,"],
      ["-0.0", "0.0"],
      ["-0.0", "0"],
      ["1e+16", "10000000000000000"],
      ["\\u00e9", "e\\u0301"],
      ['"task_id": "t"', '"task_id": "T"'],
      ["1767225600.5", "1767225600.50001"],
    ] as const) {
      expect(judge(canonical.replace(from, to)), `${from} to ${to}`).to.match(hash);
      expect(judge(` ${canonical.replace(from, to)}`), `${from} to ${to}, in another layout`).to.match(hash);
    }
    const both = canonical.replace(GENESIS_HASH, "1".repeat(64));
    expect(judge(both)).to.match(/^parent_hash is 1{64}, but .*; current_hash is /);
  });

  it("is refused if two readers could read it differently, or if it is not JSON", () => {
    const reasons = {
      [canonical.replace('"task_id"', '"task_id": "x", "task_id"')]:
        /a key that the object has already at offset/,
      [canonical.replace('"b": ', '"b": 1, "\\u0062": ')]: /a key that the object has already at offset/,
      [canonical.replace('"payload": {', '"payload": {"n": NaN, ')]: /expected a value/,
      [canonical.replace("1e+16", "Infinity")]: /expected a value/,
      [canonical.replace("1e+16", "1e400")]: /beyond the range of a double/,
      [canonical.replace("1e+16", "1".repeat(4_301))]: /more than 4300 digits/,
      [canonical.replace("1e+16", "01")]: /expected/,
      [canonical.replace("{", "{,")]: /expected a key/,
      [`${canonical} {}`]: /text after the end/,
      [` \ufeff${canonical}`]: /expected a value/,
      "": /the text ends/,
    };
    for (const [line, reason] of Object.entries(reasons)) expect(judge(line), line).to.match(reason);
    const bytes = Buffer.from(canonical.replace("\\u00e9", "\u00e9"));
    bytes[bytes.indexOf(0xc3)] = 0xff;
    expect(judge(bytes)).to.equal(`bytes that are not UTF-8 at offset ${bytes.indexOf(0xff)}`);
  });

  it("may have at most 128 levels of nesting, with the entry and its payload", () => {
    const nested = (depth: number) => {
      let value: PyJson = [];
      for (let i = 1; i < depth; i++) value = [value];
      return entryLine(entryOf({ a: value })).replaceAll(", ", ",");
    };
    expect(judge(nested(126))).to.equal("other");
    expect(judge(nested(127))).to.match(/nesting deeper than 128/);
    expect(judge(`${"[".repeat(200_000)}`)).to.match(/nesting deeper than 128/);
  });

  it("has its own error, different from that of wrong content, where only canonical lines are accepted", async () => {
    const refused = async (line: string) =>
      verifyLedgerLines([line]).then(
        () => expect.fail("it was accepted"),
        (error: LedgerLineError) => error,
      );
    const layout = await refused(canonical.replace("/", "\\/"));
    expect(layout).to.be.instanceOf(LedgerLayoutError).with.property("code", "ledger_layout");
    expect(layout.reason).to.equal(
      `the entry verifies, but its line is not in the canonical layout (from column ${canonical.indexOf("/") + 1} on)`,
    );
    expect(layout.hint).to.match(/ledger import/);
    const content = await refused(` ${canonical.replace("-0.0", "0.0")}`);
    expect(content).to.have.property("code", "ledger_line");
    expect(content).not.to.be.instanceOf(LedgerLayoutError);
    expect(content.reason).not.to.match(/layout|canonical/);
    expect((await refused(`\ufeff${canonical}`)).reason).to.match(/expected a value/);
  });

  it("does not change the leaf and the root, which are computed from the canonical line", async () => {
    const chain = new LedgerChain({ layout: "any" });
    const line = ` ${canonical}`;
    const checked = chain.nextEntry(line);
    expect(checked.line).to.equal(canonical);
    expect(checked.leafHash).to.deep.equal(lineLeafHash(canonical));
    const frontier = new MerkleFrontier();
    frontier.append(checked.leafHash);
    const { root } = await verifyLedgerLines([canonical]);
    expect(frontier.root()).to.deep.equal(root);
    expect(chain.otherLayouts).to.deep.equal({ count: 1, firstLine: 1 });
  });

  it("is counted, with the number of the first line that has another one", () => {
    const chain = new LedgerChain({ layout: "any", firstIndex: 10 });
    expect(chain.otherLayouts).to.deep.equal({ count: 0, firstLine: 0 });
    let parentHash = GENESIS_HASH;
    for (const before of ["", " ", "", "\t", " "]) {
      const next = sealEntry({ timestamp: 1, taskId: "t", parentHash, payload: {} });
      chain.next(before + entryLine(next));
      parentHash = next.currentHash;
    }
    expect(chain.otherLayouts).to.deep.equal({ count: 3, firstLine: 12 });
  });

  it("may begin with a byte order mark only in the file's first line", () => {
    const chain = new LedgerChain({ layout: "any" });
    chain.next(`\ufeff${canonical}`);
    const next = sealEntry({ timestamp: 1, taskId: "t", parentHash: entry.currentHash, payload: {} });
    expect(() => chain.next(`\ufeff${entryLine(next)}`)).to.throw(/^line 2: expected a value/);
    expect(chain.next(entryLine(next))).to.deep.equal(lineLeafHash(entryLine(next)));
  });

  it("is named by the first column that differs, also behind the end of the canonical line", async () => {
    const plain = entryLine(entryOf({}));
    for (const [line, column] of [
      [` ${plain}`, 1],
      [plain.replace("{}", "{ }"), plain.indexOf("{}") + 2],
      [`${plain} `, plain.length + 1],
    ] as const) {
      const error = await verifyLedgerLines([line]).catch((thrown: LedgerLineError) => thrown);
      expect(error).to.have.property("reason").that.includes(`(from column ${column} on)`);
    }
  });

  it("is reported in a short message, without control characters of a stranger's line", () => {
    const line = `{"${"\\u001b[2J".repeat(40)}": 1, ${Array.from({ length: 5_000 }, (_, i) => `"x${i}": 1`).join(", ")}}`;
    const reason = judge(line);
    expect(reason.length).to.be.below(1_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
    expect(reason).not.to.match(/[\u0000-\u001f\u007f-\uffff]/);
    expect(reason).to.match(/and \d+ more$/);
  });
});
