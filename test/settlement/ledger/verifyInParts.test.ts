import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { LedgerLineError, type VerifiedLedger } from "tallystick-protocol/ledger/verifyLedger";
import { readAnyLedger } from "../../../services/settlement/ledger/readAnyLedger.ts";
import { verifyInParts } from "../../../services/settlement/ledger/verifyInParts.ts";
import { verifyBeginning } from "../../../services/settlement/ledger/verifyKnown.ts";
import { writeLedger } from "../../../tools/bench/ledger/largeLedger.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const ENTRIES = 700;

describe("a ledger's file that several threads verify", () => {
  const folder = temporaryFolder();
  let file: string;
  let bytes: Buffer;
  beforeEach(async () => {
    file = await writeLedger(path.join(folder.path, "local"), ENTRIES, "stake");
    bytes = readFileSync(file);
  });
  // About thirty parts. No thread knows by itself which lines its part has.
  const partBytes = () => 1 + (bytes.length >> 5);
  const inParts = (more: { end?: number; onProgress?: (lines: number) => void } = {}) =>
    verifyInParts({ file, threads: 2, partBytes: partBytes(), ...more });
  /** The byte after the last line of the part that begins at a byte. */
  const endOfPart = (start: number) => bytes.indexOf("\n", start + partBytes() - 1) + 1;

  it("has the same size, head and root as when it is read line by line, also up to a line within it", async () => {
    const seen: number[] = [];
    const { otherLayouts, ...whole } = await readAnyLedger(file);
    expect(otherLayouts.count).to.equal(0);
    expect(await inParts({ onProgress: (lines) => seen.push(lines) })).to.deep.equal(whole);
    expect(seen.at(-1)).to.equal(ENTRIES);
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
    expect(seen.length).to.be.greaterThan(20);
    const end = bytes.indexOf("\n", bytes.length >> 1) + 1;
    writeFileSync(file, bytes.subarray(0, end));
    const half: VerifiedLedger = await readAnyLedger(file);
    writeFileSync(file, bytes);
    expect(await inParts({ end })).to.deep.include({ size: half.size, head: half.head, root: half.root });
  });

  it("gets no result from the threads in a doubtful case, so that it is then read line by line", async () => {
    const lineAt = (share: number) => bytes.indexOf("\n", Math.floor(share * bytes.length)) + 1;
    const [a, b] = [lineAt(0.4), lineAt(0.7)];
    const part = endOfPart(0);
    const changes: { [what: string]: Buffer } = {
      "one bit": flipped(Math.floor(0.6 * bytes.length)),
      "no newline at the end": bytes.subarray(0, -1),
      "two halves that do not belong together": Buffer.concat([bytes.subarray(0, a), bytes.subarray(b)]),
      // The lines of each part belong together, but the second part does not follow the first.
      "a whole part is missing": Buffer.concat([bytes.subarray(0, part), bytes.subarray(endOfPart(part))]),
      "a line in another layout": Buffer.from(
        bytes.toString("latin1").replace('"task_id": "0x', '"task_id":  "0x'),
      ),
    };
    for (const [what, changed] of Object.entries(changes)) {
      writeFileSync(file, changed);
      expect(await inParts(), what).to.equal(undefined);
    }
  });

  it("is reported with its first bad line, at any place", async () => {
    const { head } = await readAnyLedger(file);
    const part = endOfPart(0);
    const places: { [where: string]: number } = {
      "the first line": 100,
      "the last line of a part": part - 2,
      // Without this newline, the two lines are one.
      "the newline between two parts": part - 1,
      "the first line of a part": part,
      "a line in the middle": Math.floor(0.6 * bytes.length),
      "the last line": bytes.length - 2,
    };
    for (const [where, at] of Object.entries(places)) {
      const line = bytes.subarray(0, at).toString("latin1").split("\n").length;
      writeFileSync(file, flipped(at));
      expect(await inParts(), where).to.equal(undefined);
      const found = await verifyBeginning(file, { size: ENTRIES, head, end: bytes.length }).catch(
        (error) => error,
      );
      expect(found, where).to.be.instanceOf(LedgerLineError).with.property("line", line);
    }
  });

  it("stops on request", async () => {
    const end = new AbortController();
    const verified = verifyInParts({
      file,
      threads: 2,
      partBytes: 4_096,
      signal: end.signal,
      onProgress: () => end.abort(new Error("enough")),
    });
    expect(await verified.catch((error) => error.message)).to.equal("enough");
  });

  function flipped(at: number): Buffer {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    return changed;
  }
});
