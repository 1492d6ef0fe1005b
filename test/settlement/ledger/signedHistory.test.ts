import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import {
  LAST_SIGNED_FILE,
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
});
