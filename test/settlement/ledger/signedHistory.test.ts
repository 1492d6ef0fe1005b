import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import {
  LAST_SIGNED_FILE,
  LAST_WORD_FILE,
  readLastSigned,
  writeLastSigned,
} from "../../../services/settlement/ledger/lastSigned.ts";
import { SignedHistory } from "../../../services/settlement/ledger/signedHistory.ts";
import { openGate } from "../support/openGate.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the signed history", () => {
  const folder = temporaryFolder();

  function treeOf(size: number, changed = -1): MerkleTree {
    const tree = new MerkleTree();
    for (let n = 0; n < size; n++) tree.append(leafHash(Uint8Array.of(n === changed ? 255 : n)));
    return tree;
  }
  async function open(tree: MerkleTree) {
    const { gate } = openGate();
    const history = await SignedHistory.open({ folder: folder.path, tree, gate });
    const cover = (size: number) =>
      history.cover(size).then(
        () => "covered",
        (error) => error.code,
      );
    return { history, gate, cover };
  }
  const kept = () => readLastSigned(folder.path);

  it("begins with an empty ledger, and is on disk before a signature leaves the service", async () => {
    const tree = treeOf(0);
    const { gate, cover } = await open(tree);
    expect(await kept()).to.deep.equal({ size: 0, root: toHex(tree.root()) });
    for (let n = 0; n < 5; n++) tree.append(leafHash(Uint8Array.of(n)));
    expect(await cover(5)).to.equal("covered");
    expect(await kept()).to.deep.equal({ size: 5, root: toHex(tree.root()) });
    expect(gate.refusal).to.equal(undefined);
  });

  it("never goes back: another signature over an older state changes nothing", async () => {
    const { cover } = await open(treeOf(0));
    expect(await cover(0)).to.equal("covered");
    rmSync(path.join(folder.path, LAST_SIGNED_FILE));
    const tree = treeOf(9);
    await writeLastSigned(folder.path, { size: 9, root: toHex(tree.root()) });
    const again = await open(tree);
    const before = readFileSync(path.join(folder.path, LAST_SIGNED_FILE), "utf8");
    expect(await Promise.all([again.cover(3), again.cover(9), again.cover(4)])).to.deep.equal(
      Array(3).fill("covered"),
    );
    expect(readFileSync(path.join(folder.path, LAST_SIGNED_FILE), "utf8")).to.equal(before);
  });

  it("refuses an older copy, another history, and a ledger without a record of what was signed", async () => {
    await writeLastSigned(folder.path, { size: 6, root: toHex(treeOf(6).root()) });
    for (const [tree, code] of [
      [treeOf(5), "last_signed_ahead"],
      [treeOf(9, 2), "last_signed_contradicts"],
    ] as const) {
      const { gate, cover } = await open(tree);
      expect(gate.refusal?.code).to.equal(code);
      expect(await cover(tree.size)).to.equal(code);
    }
    expect((await open(treeOf(6))).gate.refusal).to.equal(undefined);
    rmSync(path.join(folder.path, LAST_SIGNED_FILE));
    expect((await open(treeOf(6))).gate.refusal?.code).to.equal("last_signed_missing");
  });

  it("stops writes as soon as the file names something that is not in the ledger, whoever wrote it", async () => {
    const tree = treeOf(4);
    await writeLastSigned(folder.path, { size: 4, root: toHex(tree.root()) });
    const { gate, cover } = await open(tree);
    expect(await cover(4)).to.equal("covered");
    await writeLastSigned(folder.path, { size: 7, root: toHex(treeOf(7).root()) });
    expect(await cover(4)).to.equal("last_signed_ahead");
    expect(gate.maySign).to.equal(false);
    expect(await kept()).to.include({ size: 7 });
  });

  it("says what is wrong, and what to do: for all signatures, and for anchors that others send", async () => {
    const told = async (tree: MerkleTree, of: "all" | "words") => {
      const { gate } = openGate();
      await SignedHistory.open({ folder: folder.path, tree, gate, of });
      const { code, message, hint } = gate.refusal ?? {};
      return [code, message, hint];
    };
    const files = { all: LAST_SIGNED_FILE, words: LAST_WORD_FILE };
    const hints = {
      all: [/ledger adopt$/, /older copy.+ ledger pull --from URL$/, /replaced or rewritten\. Stop/],
      words: [
        /^Check .+ ANCHOR_WORDS_DIR .+ adopt$/,
        /docs\/ledger\/succession/,
        /^An anchor of other entries .+succession/,
      ],
    };
    for (const kind of ["all", "words"] as const) {
      const answers = [await told(treeOf(6), kind)];
      await writeLastSigned(folder.path, { size: 6, root: toHex(treeOf(6).root()) }, files[kind]);
      for (const tree of [treeOf(5), treeOf(9, 2), treeOf(6)]) answers.push(await told(tree, kind));
      expect(answers.map(([code, message]) => [code, message])).to.deep.equal([
        [
          "last_signed_missing",
          `Nobody knows what was signed of this ledger: it has 6 entries, but ${files[kind]} is missing.`,
        ],
        ["last_signed_ahead", "6 entries were signed, and the ledger has only 5."],
        ["last_signed_contradicts", "The first 6 entries of the ledger are not the signed ones."],
        [undefined, undefined],
      ]);
      for (const [n, hint] of hints[kind].entries()) expect(answers[n]?.[2]).to.match(hint);
    }
  });

  it("is begun once, only for an empty ledger, and apart for anchors that others send", async () => {
    const begun = async (tree: MerkleTree, of?: "words") => {
      await SignedHistory.begin({ folder: folder.path, tree, ...(of && { of }) });
      return [await kept(), await readLastSigned(folder.path, LAST_WORD_FILE)];
    };
    const empty = { size: 0, root: toHex(treeOf(0).root()) };
    expect(await begun(treeOf(1))).to.deep.equal([undefined, undefined]);
    expect(await begun(treeOf(0), "words")).to.deep.equal([undefined, empty]);
    expect(await begun(treeOf(0))).to.deep.equal([empty, empty]);
    const later = { size: 3, root: toHex(treeOf(3).root()) };
    await writeLastSigned(folder.path, later);
    expect(await begun(treeOf(0))).to.deep.equal([later, empty]);
  });

  it("covers nothing while signatures are refused, the file is another one, or the disk fails", async () => {
    const tree = treeOf(4);
    await writeLastSigned(folder.path, { size: 2, root: toHex(tree.root(2)) });
    const { gate } = openGate();
    const faults: { file?: Error; disk?: Error } = {};
    const written: number[] = [];
    const history = await SignedHistory.open({
      ...{ folder: folder.path, tree, gate },
      checkFile: async () => {
        if (faults.file) throw faults.file;
      },
      store: {
        read: kept,
        write: async ({ size }) => {
          if (faults.disk) throw faults.disk;
          written.push(size);
        },
      },
    });
    const cover = (size: number) =>
      history.cover(size).then(
        () => "covered",
        (error) => error.code ?? error.message,
      );
    faults.file = new Error("another file");
    expect(await cover(4)).to.equal("another file");
    delete faults.file;
    faults.disk = new Error("ENOSPC");
    expect([await cover(4), gate.refusal]).to.deep.equal(["ENOSPC", undefined]);
    delete faults.disk;
    gate.close("chain", new TallystickError({ code: "chain_ahead", message: "m" }));
    expect(await cover(4)).to.equal("chain_ahead");
    gate.open("chain");
    expect([await cover(2), await cover(4), written]).to.deep.equal(["covered", "covered", [4]]);
    const closing = await SignedHistory.open({
      ...{ folder: folder.path, tree, gate },
      store: {
        read: kept,
        write: async () => gate.close("witness", new TallystickError({ code: "forked", message: "m" })),
      },
    });
    expect(await closing.cover(4).catch(({ code }) => code), "closed while it was written").to.equal(
      "forked",
    );
  });
});
