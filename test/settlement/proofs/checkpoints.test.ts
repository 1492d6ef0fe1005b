import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { headTypedData } from "tallystick-protocol/ledger/anchor";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { headSignatureOf } from "tallystick-protocol/note/headSignature";
import {
  formatVerifierKey,
  isNoteSignedBy,
  noteVerifierKey,
  parseSignedNote,
  signNote,
} from "tallystick-protocol/note/signedNote";
import type { CheckpointKey } from "../../../services/settlement/proofs/checkpointKey.ts";
import { Checkpoints } from "../../../services/settlement/proofs/checkpoints.ts";
import { codeOf, openGate } from "../support/openGate.ts";
import { seller } from "../support/records.ts";

const ORIGIN = "tallystick.test/checkpoints";
const ID = `0x${"ab".repeat(32)}` as const;
const deployment = { chainId: 31_337, contract: `0x${"cd".repeat(20)}` as const };
const seedOf = (n: number) => new Uint8Array(32).fill(n);

describe("the checkpoints of a ledger", () => {
  let tree: MerkleTree;
  let gate: ReturnType<typeof openGate>["gate"];
  let covered: number[];
  let signed: unknown[];
  let checkpoints: Checkpoints;
  const open = (keys: CheckpointKey[] = [{ seed: seedOf(1) }], isAnchored = true) => {
    [tree, covered, signed] = [new MerkleTree(), [], []];
    gate = openGate().gate;
    const sign = async (terms: unknown) => {
      signed.push(terms);
      return { by: "key" as const, signature: await seller.signTypedData(terms as never) };
    };
    const writer = seller.address.toLowerCase() as `0x${string}`;
    checkpoints = new Checkpoints({
      ...{ origin: ORIGIN, tree, keys, gate },
      history: { cover: async (size) => void covered.push(size) },
      writer: isAnchored ? { ...deployment, ledgerId: ID, signer: { writer, sign } } : undefined,
    });
  };
  beforeEach(() => open());

  const grow = (to: number) => {
    while (tree.size < to) tree.append(leafHash(Uint8Array.of(tree.size)));
  };
  const make = async (size: number) => {
    grow(size);
    await checkpoints.make();
  };
  const head = (size: number, root = toHex(tree.root(size))) => checkpoints.makeHead({ size, root });
  const close = () => gate.close("signed", new TallystickError({ code: "stop", message: "Stop." }));
  const keyOf = (n: number) => noteVerifierKey(ORIGIN, ed25519.getPublicKey(seedOf(n)));
  const says = (note: string) => {
    const parsed = parseSignedNote(note);
    const { origin, size, root } = parseCheckpoint(parsed.text);
    return { origin, size, root: toHex(root), isSigned: isNoteSignedBy(parsed, keyOf(1)) };
  };

  it("name the ledger, its size and root, and are signed after the history has covered them", async () => {
    await make(3);
    const { size, note } = checkpoints.latest();
    expect(size).to.equal(3);
    expect(says(note)).to.deep.equal({ origin: ORIGIN, size: 3, root: toHex(tree.root()), isSigned: true });
    expect(covered).to.deep.equal([3]);
    await checkpoints.make();
    expect(covered, "there is one").to.deep.equal([3]);
    await make(4);
    expect([covered, checkpoints.latest().size, checkpoints.at(3)]).to.deep.equal([
      [3, 4],
      4,
      { size: 3, note },
    ]);
    expect([signed, checkpoints.origin]).to.deep.equal([[], ORIGIN]);
  });

  it("are not signed if the history refuses", async () => {
    grow(1);
    const refusal = new Error("another history");
    const other = new Checkpoints({
      ...{ origin: ORIGIN, tree, keys: [{ seed: seedOf(1) }], gate },
      history: { cover: () => Promise.reject(refusal) },
    });
    expect(await other.make().catch((error) => error)).to.equal(refusal);
    expect(codeOf(() => other.latest())).to.equal("checkpoint_pending");
  });

  it("carry a signature of each key; the present key is the first, and also signs other data", async () => {
    open([
      { seed: seedOf(1), until: 9 },
      { seed: seedOf(2), from: 5 },
    ]);
    await make(1);
    const note = parseSignedNote(checkpoints.latest().note);
    expect(note.signatures).to.have.length(2);
    expect([1, 2, 3].map((n) => isNoteSignedBy(note, keyOf(n)))).to.deep.equal([true, true, false]);
    expect(checkpoints.verifierKeys).to.deep.equal([
      { ...keyOf(1), until: 9 },
      { ...keyOf(2), from: 5 },
    ]);
    expect(checkpoints.verifierKey).to.equal(formatVerifierKey(keyOf(1)));
    const message = Uint8Array.of(1, 2, 3);
    expect(ed25519.verify(checkpoints.sign(message), message, keyOf(1).publicKey)).to.equal(true);
  });

  it("carry the writer's signature once the contract has their size and root", async () => {
    await make(3);
    await head(3);
    const { note } = checkpoints.latest();
    expect(says(note)).to.include({ size: 3, isSigned: true });
    const root = toHex(tree.root(3));
    expect(signed).to.deep.equal([headTypedData({ ledgerId: ID, size: 3n, root }, deployment)]);
    const writer = seller.address.toLowerCase() as `0x${string}`;
    expect(headSignatureOf(parseSignedNote(note), ORIGIN, writer)).not.to.equal(undefined);
    expect(covered).to.deep.equal([3, 3]);
    await head(3);
    await make(3);
    expect([covered, signed.length]).to.deep.equal([[3, 3], 1]);
  });

  it("carry no writer's signature over another size or root, or without a contract", async () => {
    grow(3);
    await checkpoints.makeHead({ size: 4, root: toHex(tree.root(3)) });
    await checkpoints.makeHead({ size: 3, root: toHex(tree.root(2)) });
    expect([signed, covered]).to.deep.equal([[], []]);
    // A size without a plain checkpoint gets one with the writer's signature.
    await head(2);
    expect(says(checkpoints.latest().note)).to.include({ size: 2, isSigned: true });
    open([{ seed: seedOf(1) }], false);
    grow(3);
    await head(3);
    expect(codeOf(() => checkpoints.latest())).to.equal("checkpoint_pending");
  });

  it("are the newest of both kinds, and a size that is not kept is refused by its name", async () => {
    await make(5);
    await head(4);
    expect(checkpoints.latest().size).to.equal(5);
    expect(checkpoints.at(4).size).to.equal(4);
    grow(7);
    await head(6);
    expect(checkpoints.latest().size).to.equal(6);
    const error = (() => {
      try {
        return checkpoints.at(7);
      } catch (cause) {
        return cause;
      }
    })();
    expect(error).to.deep.include({
      code: "no_checkpoint",
      issues: [
        { field: "size", message: "is not the size of a kept checkpoint; leave it out to get the newest" },
      ],
    });
  });

  it("are kept up to 64 of each kind", async () => {
    for (let size = 1; size <= 65; size++) {
      await make(size);
      await head(size);
    }
    // The oldest of each kind is gone.
    expect(codeOf(() => checkpoints.at(1))).to.equal("no_checkpoint");
    expect(checkpoints.at(2).size).to.equal(2);
    open();
    for (let size = 1; size <= 65; size++) await make(size);
    await checkpoints.makeHead({ size: 1, root: toHex(tree.root(1)) });
    expect(checkpoints.at(1).size).to.equal(1);
    expect(checkpoints.at(2).size).to.equal(2);
    await make(66);
    expect(codeOf(() => checkpoints.at(2))).to.equal("no_checkpoint");
  });

  describe("that others cosign", () => {
    const witness = (name: string, note: string, seed = 9) =>
      signNote(parseSignedNote(note).text, name, seedOf(seed));
    const namesOf = (note: string) => parseSignedNote(note).signatures.map(({ name }) => name);

    it("carry the newest signature of each witness, with both kinds", async () => {
      await make(3);
      const { note } = checkpoints.latest();
      checkpoints.cosign(3, [witness("a", note), witness("b", note)]);
      expect(namesOf(checkpoints.latest().note)).to.deep.equal([ORIGIN, "a", "b"]);
      const newer = witness("a", note, 8);
      checkpoints.cosign(3, [newer]);
      expect(namesOf(checkpoints.latest().note)).to.deep.equal([ORIGIN, "b", "a"]);
      expect(parseSignedNote(checkpoints.latest().note).signatures.at(-1)).to.deep.equal(newer);
      await head(3);
      expect(namesOf(checkpoints.at(3).note).slice(-2)).to.deep.equal(["b", "a"]);
      expect(namesOf(checkpoints.headCovering(0)?.note as string).slice(-2)).to.deep.equal(["b", "a"]);
    });

    it("lose these signatures with the checkpoint, and a size that is not kept gets none", async () => {
      await make(1);
      const { note } = checkpoints.latest();
      checkpoints.cosign(2, [witness("a", note)]);
      grow(2);
      await head(2);
      expect(namesOf(checkpoints.at(2).note)).not.to.include("a");
      checkpoints.cosign(1, [witness("a", note)]);
      for (let size = 3; size <= 66; size++) await make(size);
      expect(codeOf(() => checkpoints.at(1))).to.equal("no_checkpoint");
      checkpoints.cosign(66, [witness("b", checkpoints.latest().note)]);
      await head(1);
      expect(namesOf(checkpoints.at(1).note)).not.to.include("a");
      expect(namesOf(checkpoints.at(66).note)).to.include("b");
    });

    it("are the newest witnessed ones when the quorum has signed, with later signatures too", async () => {
      await make(3);
      const error = (() => {
        try {
          return checkpoints.latestWitnessed();
        } catch (cause) {
          return cause;
        }
      })();
      expect(error).to.deep.include({
        ...{ code: "not_witnessed", message: "No checkpoint is cosigned by a quorum of witnesses." },
        hint: "Ask again, or without `witnessed`. GET /health says whether this ledger has witnesses.",
        details: { headers: { "retry-after": "1" } },
      });
      expect(checkpoints.witnessedCovering(0)).to.equal(undefined);
      const { note } = checkpoints.latest();
      checkpoints.cosign(3, [witness("a", note)]);
      expect(codeOf(() => checkpoints.latestWitnessed())).to.equal("not_witnessed");
      checkpoints.witness(9);
      expect(codeOf(() => checkpoints.latestWitnessed())).to.equal("not_witnessed");
      checkpoints.witness(3);
      expect(namesOf(checkpoints.latestWitnessed().note)).to.deep.equal([ORIGIN, "a"]);
      await make(4);
      checkpoints.cosign(4, [witness("b", checkpoints.latest().note)]);
      expect(checkpoints.latestWitnessed().size).to.equal(3);
      checkpoints.cosign(3, [witness("c", note)]);
      expect(namesOf(checkpoints.latestWitnessed().note)).to.deep.equal([ORIGIN, "a", "c"]);
      expect(checkpoints.witnessedCovering(2)?.size).to.equal(3);
      expect(checkpoints.witnessedCovering(3)).to.equal(undefined);
    });
  });

  it("with the writer's signature are found by the entries that they cover", async () => {
    expect(checkpoints.headCovering(0)).to.equal(undefined);
    await make(5);
    expect(checkpoints.headCovering(0)).to.equal(undefined);
    await head(2);
    await head(4);
    expect([checkpoints.headCovering(0), checkpoints.headCovering(3)].map((it) => it?.size)).to.deep.equal([
      4, 4,
    ]);
    expect(checkpoints.headCovering(4)).to.equal(undefined);
  });

  it("are given to nobody while nothing may be signed", async () => {
    await make(3);
    await head(3);
    checkpoints.witness(3);
    close();
    for (const ask of [
      () => checkpoints.latest(),
      () => checkpoints.at(3),
      () => checkpoints.latestWitnessed(),
      () => checkpoints.headCovering(0),
      () => checkpoints.witnessedCovering(0),
    ])
      expect(codeOf(ask)).to.equal("stop");
    expect(await checkpoints.covering(0).catch(({ code }) => code)).to.equal("stop");
    expect(await checkpoints.covering(3).catch(({ code }) => code)).to.equal("stop");
  });

  describe("that cover an entry", () => {
    const real = {
      ...{ setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: performance.now },
    };
    let now: number;
    let timers: { run: () => void; ms: number }[];
    beforeEach(() => {
      [now, timers] = [1_000, []];
      performance.now = () => now;
      globalThis.setTimeout = ((run: () => void, ms: number) => timers.push({ run, ms })) as never;
      globalThis.clearTimeout = () => {};
    });
    afterEach(() => {
      globalThis.setTimeout = real.setTimeout;
      globalThis.clearTimeout = real.clearTimeout;
      performance.now = real.now;
    });

    it("are given at once if there is one", async () => {
      await make(3);
      expect((await checkpoints.covering(2)).size).to.equal(3);
      expect(timers).to.deep.equal([]);
    });

    it("are waited for, also before the first one and through one that is too small", async () => {
      const asked = checkpoints.covering(2);
      expect(timers.map(({ ms }) => ms)).to.deep.equal([3_000]);
      now += 400;
      await make(2);
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      expect(timers.map(({ ms }) => ms)).to.deep.equal([3_000, 2_600]);
      grow(3);
      await head(3);
      expect((await asked).size).to.equal(3);
    });

    it("are not waited for longer than three seconds", async () => {
      await make(2);
      const asked = checkpoints.covering(2).catch((error) => error);
      now += 3_000;
      timers[0]?.run();
      const error = await asked;
      expect(error).to.deep.include({
        ...{ code: "checkpoint_pending", message: "The next checkpoint is not ready yet." },
        ...{
          hint: "It is ready within two seconds. Ask again.",
          details: { headers: { "retry-after": "1" } },
        },
      });
      expect(timers).to.have.length(1);
    });
  });
});
