import { hexlify, type TypedDataDomain } from "ethers";
import { anchorTypes, ledgerId } from "tallystick-protocol/ledger/anchor";
import { storedWord, wordKind } from "tallystick-protocol/ledger/word";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { BUILD_TIMEOUT, type Chain, freshChain, type HardhatEthersSigner } from "./chain.ts";
import type { ContractWallet } from "./world.ts";

export const ORIGIN = "tallystick.local/demo";
export const EMPTY_ROOT = hexlify(new MerkleTree().root());

/** IAnchoredLedger.Word in the form of ethers. */
export type EthersWord = {
  kind: number;
  signer: string;
  seq: bigint;
  size: number;
  root: string;
  signature: string;
};

/** Stands for the head that the contract stores, in the form for proveFork. The contract reads only the kind. */
export const STORED: EthersWord = { ...storedWord, size: 0 };

/** A tree of `size` leaves. Another `seed` gives another history. */
export function treeOf(size: number, seed = 0): MerkleTree {
  const tree = new MerkleTree();
  for (let i = 0; i < size; i++) tree.append(leafHash(Uint8Array.of(seed, i, i >> 8)));
  return tree;
}

export const rootAt = (tree: MerkleTree, size = tree.size) => hexlify(tree.root(size));
export const proofOf = (tree: MerkleTree, from: number, to = tree.size) =>
  tree.consistencyProof(from, to).map((node) => hexlify(node));

/** An AnchoredLedger contract with one open ledger, whose writer is `writer`. */
export async function newLedger(chain: Chain) {
  const { ethers, networkHelpers } = chain;
  const [relayer, writer, stranger, guardian, next] = (await ethers.getSigners()) as unknown as [
    HardhatEthersSigner,
    HardhatEthersSigner,
    HardhatEthersSigner,
    HardhatEthersSigner,
    HardhatEthersSigner,
  ];
  const contract = await ethers.deployContract("AnchoredLedger");
  const address = await contract.getAddress();
  const { chainId } = await ethers.provider.getNetwork();
  const domain = { name: "Tallystick AnchoredLedger", version: "1", chainId, verifyingContract: address };
  const idOf = (owner: string, origin = ORIGIN, guardedBy = guardian.address) =>
    ledgerId({
      chainId: Number(chainId),
      contract: address.toLowerCase() as `0x${string}`,
      writer: owner.toLowerCase() as `0x${string}`,
      guardian: guardedBy.toLowerCase() as `0x${string}`,
      origin,
    });
  const id = idOf(writer.address);
  const open = (origin: string, owner: string) => contract.open(origin, owner, guardian.address);
  await open(ORIGIN, writer.address);
  const tree = treeOf(200);
  const sign = (
    signer: HardhatEthersSigner,
    name: keyof typeof anchorTypes,
    message: Record<string, unknown>,
    inDomain: TypedDataDomain = domain,
  ) => signer.signTypedData(inDomain, { [name]: [...anchorTypes[name]] }, message);

  return {
    ethers,
    networkHelpers,
    relayer,
    writer,
    stranger,
    guardian,
    next,
    contract,
    open,
    domain,
    id,
    idOf,
    tree,
    sign,

    head: async (ledger = id) => {
      const { root, size, time, seq } = await contract.head(ledger);
      return { root, size, time, seq };
    },

    /** The writer extends its ledger to the first `to` leaves of the tree. */
    async anchor(to: number, from?: number) {
      const size = from ?? Number((await contract.head(id)).size);
      return contract.connect(writer).anchor(id, to, rootAt(tree, to), proofOf(tree, size, to), "0x");
    },

    signAnchor: (signer: HardhatEthersSigner, seq: bigint, newSize: number, newRoot: string, ledger = id) =>
      sign(signer, "Anchor", { ledgerId: ledger, seq, newSize, newRoot }),

    signHead: (signer: HardhatEthersSigner, size: number, root: string, ledger = id) =>
      sign(signer, "Head", { ledgerId: ledger, size, root }),

    /** A head that somebody signed, in the form for proveFork. */
    headWord: async (size: number, root: string, signer = writer, ledger = id): Promise<EthersWord> => ({
      kind: wordKind.head,
      signer: signer.address,
      seq: 0n,
      size,
      root,
      signature: await sign(signer, "Head", { ledgerId: ledger, size, root }),
    }),

    /** An anchor that somebody signed, in the form for proveFork. */
    anchorWord: async (
      seq: bigint,
      size: number,
      root: string,
      signer = writer,
      ledger = id,
    ): Promise<EthersWord> => ({
      kind: wordKind.anchor,
      signer: signer.address,
      seq,
      size,
      root,
      signature: await sign(signer, "Anchor", { ledgerId: ledger, seq, newSize: size, newRoot: root }),
    }),

    /** `by` announces `follower`, and `follower` becomes the writer seven days later. */
    async succeed(by = writer, follower = next, ledger = id) {
      await contract.connect(by).announceWriter(ledger, follower.address);
      await networkHelpers.time.increase(7 * 86_400);
      return contract.connect(follower).acceptWriter(ledger);
    },

    async wallet(owner: HardhatEthersSigner): Promise<ContractWallet> {
      return (await ethers.deployContract("ContractWallet", [owner.address])) as unknown as ContractWallet;
    },
  };
}

/** Gives every test of a suite a new ledger. It restores a snapshot, which is faster than to deploy again. */
export function useLedger(): () => Awaited<ReturnType<typeof newLedger>> {
  let chain: Chain;
  let world: Awaited<ReturnType<typeof newLedger>>;
  const deploy = () => newLedger(chain);
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    chain = await freshChain();
  });
  beforeEach(async () => {
    world = await chain.networkHelpers.loadFixture(deploy);
  });
  return () => world;
}
