import { hexlify } from "ethers";
import type { Hex } from "tallystick-protocol/hex";
import { anchorTypes } from "tallystick-protocol/ledger/anchor";
import { headWord, storedWord } from "tallystick-protocol/ledger/word";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { type BenchChain, gasOf } from "./chain.ts";
import type { GasFigures } from "./measureEscrow.ts";

export const OLD_SIZES = [1_000, 10_000, 100_000, 1_000_000];
export const GROWTHS = [1, 100, 1_000];

export const anchorFigure = (oldSize: number, growth: number) => `anchor ${growth} onto ${oldSize}`;

/** Measures every verb of the ledger contract once, and anchors of several sizes on ledgers of several sizes. */
export async function measureLedger({
  ethers,
  networkHelpers,
  relayer,
  guardian: writer,
}: BenchChain): Promise<GasFigures> {
  const ledger = await ethers.deployContract("AnchoredLedger");
  const tree = benchTree(Math.max(...OLD_SIZES) + Math.max(...GROWTHS));
  const root = (size: number) => hexlify(tree.root(size));
  const figures: GasFigures = {};
  let opened = 0;

  /** Opens a ledger and anchors it once, so that the measured anchor fills no slot for the first time. */
  const ledgerOf = async (size: number): Promise<string> => {
    const origin = `bench.example/${String(opened++).padStart(4, "0")}`;
    const id = await ledger.open.staticCall(origin, writer, relayer);
    figures.open = await gasOf(ledger.open(origin, writer, relayer));
    await ledger.connect(writer).anchor(id, size, root(size), [], "0x");
    return id;
  };

  for (const oldSize of OLD_SIZES) {
    for (const growth of GROWTHS) {
      const id = await ledgerOf(oldSize);
      const size = oldSize + growth;
      const proof = tree.consistencyProof(oldSize, size).map((node) => hexlify(node));
      figures[anchorFigure(oldSize, growth)] = await gasOf(
        ledger.connect(writer).anchor(id, size, root(size), proof, "0x"),
      );
    }
  }

  const id = await ledgerOf(1_000);
  figures["anchor, heartbeat"] = await gasOf(ledger.connect(writer).anchor(id, 1_000, root(1_000), [], "0x"));
  const { chainId } = await ethers.provider.getNetwork();
  const verifyingContract = await ledger.getAddress();
  const domain = { name: "Tallystick AnchoredLedger", version: "1", chainId, verifyingContract };
  const terms = { ledgerId: id, seq: 3n, newSize: 2_000, newRoot: root(2_000) };
  const signature = await writer.signTypedData(domain, { Anchor: [...anchorTypes.Anchor] }, terms);
  const proof = tree.consistencyProof(1_000, 2_000).map((node) => hexlify(node));
  figures["anchor 1000 onto 1000, relayed"] = await gasOf(
    ledger.connect(relayer).anchor(id, 2_000, root(2_000), proof, signature),
  );
  const inclusion = tree.inclusionProof(500, 1_000).map((node) => hexlify(node));
  const leaf = hexlify(tree.leaf(500));
  figures["verifyInclusionAt 1000 in 2000, with the call"] = Number(
    await ledger.verifyInclusionAt.estimateGas(id, leaf, 500, inclusion, 1_000, root(1_000), proof),
  );
  const lie = { ledgerId: id, size: 1_000, root: root(999) };
  const evidence = await writer.signTypedData(domain, { Head: [...anchorTypes.Head] }, lie);
  const word = headWord({
    signer: writer.address as Hex,
    size: 1_000n,
    root: root(999) as Hex,
    signature: evidence as Hex,
  });
  figures["proveFork by one word of 1000 against 2000 anchored"] = await gasOf(
    ledger.connect(relayer).proveFork(id, word, storedWord, root(1_000), proof),
  );
  const other = await ledgerOf(1_000);
  figures.announceWriter = await gasOf(ledger.connect(writer).announceWriter(other, relayer));
  await networkHelpers.time.increase(7 * 86_400);
  figures.acceptWriter = await gasOf(ledger.connect(relayer).acceptWriter(other));
  return figures;
}

function benchTree(size: number): MerkleTree {
  const tree = new MerkleTree();
  const bytes = new Uint8Array(4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < size; i++) {
    view.setUint32(0, i);
    tree.append(leafHash(bytes));
  }
  return tree;
}
