import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { entryLine } from "tallystick-protocol/ledger/entry";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { formatSignedNote, signNote } from "tallystick-protocol/note/signedNote";
import { parseTlogProof } from "tallystick-protocol/proof/tlogProof";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import {
  makeHireProof,
  makeProofBundle,
  makeTlogProof,
} from "../../../services/settlement/proofs/proofBundles.ts";
import { readTile } from "../../../services/settlement/proofs/tiles.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const SIZE = 7;
const TX = `0x${"fe".repeat(32)}` as const;

describe("the proofs of an entry", () => {
  const folder = temporaryFolder();
  let ledger: DiskLedger;
  /** The sizes of the newest checkpoint, of the newest with the writer's signature, and of the newest cosigned. */
  let sizes: { newest: number; head?: number; witnessed?: number };
  let anchored: unknown[];
  beforeEach(async () => {
    [sizes, anchored] = [{ newest: SIZE }, []];
    ledger = await DiskLedger.open({ folder: folder.path });
    const durable = [];
    for (let n = 0; n < SIZE; n++)
      durable.push(ledger.append({ timestamp: n, taskId: `t${n}`, payload: { n: BigInt(n) } }).durable);
    await Promise.all(durable);
  });
  afterEach(() => ledger.close());

  const stored = (size: number) => {
    const text = formatCheckpoint({ origin: "log.example", size, root: ledger.tree.root(size) });
    const signatures = [signNote(text, "log.example", new Uint8Array(32).fill(1))];
    return { size, note: formatSignedNote({ text, signatures }) };
  };
  const over = (size: number | undefined, index: number) =>
    size !== undefined && size > index ? stored(size) : undefined;
  const sources = () => ({
    ledger,
    checkpoints: {
      covering: async (index: number) => over(sizes.newest, index) ?? expect.fail("it would wait"),
      headCovering: (index: number) => over(sizes.head, index),
      witnessedCovering: (index: number) => over(sizes.witnessed, index),
      verifierKey: "the key",
    } as never,
    identity: { id: "identity" } as never,
    transactionOf: (anchor: { size: number; root: string }) => {
      anchored.push(anchor);
      return anchor.size === 5 ? TX : undefined;
    },
  });
  const line = async (index: number) => entryLine(await ledger.entry(index));

  it("are under the newest checkpoint if none with the writer's signature covers the entry", async () => {
    sizes.head = 3;
    expect(await makeProofBundle(3, sources())).to.deep.equal({
      ...{ format: "tallystick/proof/v1", entry: await line(3), index: 3 },
      inclusion_proof: ledger.tree.inclusionProof(3, SIZE).map(toHex),
      ...{ checkpoint: stored(SIZE).note, verifier_key: "the key", ledger: { id: "identity" }, anchor: null },
    });
    expect(anchored).to.deep.equal([]);
  });

  it("are under the checkpoint with the writer's signature, with its transaction if that is known", async () => {
    sizes.head = 5;
    const bundle = await makeProofBundle(4, sources());
    expect(bundle).to.deep.include({
      ...{ index: 4, checkpoint: stored(5).note, anchor: { transaction: TX } },
      inclusion_proof: ledger.tree.inclusionProof(4, 5).map(toHex),
    });
    expect(anchored).to.deep.equal([{ size: 5, root: toHex(ledger.tree.root(5)) }]);
    sizes.head = 6;
    expect(await makeProofBundle(4, sources())).to.deep.include({ anchor: null, checkpoint: stored(6).note });
  });

  it("of a hire have its receipt and its rating under one checkpoint", async () => {
    sizes.head = 5;
    for (const [receipt, rating, size] of [
      [1, 4, 5],
      [4, 1, 5],
      [1, 6, SIZE],
    ] as const) {
      const { receipt_proof, rating_proof } = await makeHireProof(receipt, rating, sources());
      expect(receipt_proof).to.deep.include({
        ...{ index: receipt, entry: await line(receipt), checkpoint: stored(size).note },
        inclusion_proof: ledger.tree.inclusionProof(receipt, size).map(toHex),
      });
      expect(rating_proof).to.deep.equal({
        ...{ index: rating, entry: await line(rating) },
        inclusion_proof: ledger.tree.inclusionProof(rating, size).map(toHex),
      });
    }
  });

  it("for transparency logs are under the newest cosigned checkpoint that covers the entry, or the newest", async () => {
    sizes.witnessed = 4;
    for (const [index, size] of [
      [3, 4],
      [4, SIZE],
    ] as const) {
      const proof = parseTlogProof(await makeTlogProof(index, sources()));
      expect([
        proof.index,
        Buffer.from(proof.extra as Uint8Array).toString(),
        proof.checkpoint,
      ]).to.deep.equal([...[index, await line(index), stored(size).note]]);
      expect(proof.proof.map(toHex)).to.deep.equal(ledger.tree.inclusionProof(index, size).map(toHex));
    }
  });

  it("are refused for a position without an entry", async () => {
    for (const index of [-1, SIZE, 1.5, Number.NaN]) {
      for (const make of [makeProofBundle, makeTlogProof]) {
        const error = await make(index, sources()).catch((it) => it);
        expect(error)
          .to.be.instanceOf(InvalidInputError)
          .and.deep.include({
            code: "not_in_ledger",
            issues: [{ field: "index", message: "must be the position of an entry, below 7" }],
          });
      }
    }
    expect(await makeProofBundle(SIZE - 1, sources())).to.include({ index: 6 });
    expect(await makeProofBundle(0, sources())).to.include({ index: 0 });
  });
});

describe("a tile of a ledger", () => {
  const SIZE = 600;
  const lines = Array.from({ length: SIZE }, (_, n) => `line ${n}`);
  const asked: string[] = [];
  let long: string | undefined;
  const ledger = {
    size: SIZE,
    tree: { node: (height: number, index: number) => new Uint8Array(32).fill(height + (index % 200)) },
    segment: async function* (from: number, to: number) {
      asked.push(`${from} ${to}`);
      const text = [...lines.slice(from, to - 1), long ?? lines[to - 1]].map((one) => `${one}\n`).join("");
      yield Buffer.from(text.slice(0, 5), "latin1");
      yield Buffer.from(text.slice(5), "latin1");
    },
  } as never;
  beforeEach(() => {
    [asked.length, long] = [0, undefined];
  });

  it("of hashes has the roots of its subtrees, and exists only if the log is that large", async () => {
    const tile = await readTile(ledger, { level: 0, index: 2, width: 3 });
    expect(tile).to.deep.equal(
      Uint8Array.from([112, 113, 114].flatMap((n) => Array.from({ length: 32 }, () => n))),
    );
    expect(await readTile(ledger, { level: 0, index: 2, width: 88 })).to.have.length(32 * 88);
    expect(await readTile(ledger, { level: 0, index: 2, width: 89 })).to.equal(undefined);
    const upper = await readTile(ledger, { level: 1, index: 0, width: 2 });
    expect(upper).to.deep.equal(Uint8Array.from([8, 9].flatMap((n) => Array.from({ length: 32 }, () => n))));
    expect(await readTile(ledger, { level: 1, index: 0, width: 3 })).to.equal(undefined);
  });

  it("of entries has each after its length, and exists only if the log is that large", async () => {
    const bundle = await readTile(ledger, { level: "entries", index: 2, width: 2 });
    const expected = ["line 512", "line 513"].map((line) => `\0${String.fromCharCode(line.length)}${line}`);
    expect(Buffer.from(bundle ?? []).toString("latin1")).to.equal(expected.join(""));
    expect(asked).to.deep.equal(["512 514"]);
    expect(await readTile(ledger, { level: "entries", index: 2, width: 88 })).to.be.instanceOf(Buffer);
    expect(await readTile(ledger, { level: "entries", index: 2, width: 89 })).to.equal(undefined);
    long = "\u00ff".repeat(65_535);
    const full = await readTile(ledger, { level: "entries", index: 0, width: 1 });
    expect([full?.length, full?.[0], full?.[1], full?.[2]]).to.deep.equal([65_537, 255, 255, 255]);
  });

  it("of entries does not exist if one is too long for it", async () => {
    long = "x".repeat(65_536);
    const error = await readTile(ledger, { level: "entries", index: 2, width: 2 }).catch((it) => it);
    expect(error).to.be.instanceOf(LedgerLineError);
    expect([error.line, error.reason]).to.deep.equal([514, "it is too long for a bundle"]);
  });
});
