import { createHash } from "node:crypto";
import { bytesEqual, fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { Anchorer } from "../../../services/settlement/anchoring/anchorer.ts";
import { ChainWatch } from "../../../services/settlement/anchoring/chainWatch.ts";
import type { WriterSigner } from "../../../services/settlement/anchoring/writerSigner.ts";
import type { LastSigned } from "../../../services/settlement/ledger/lastSigned.ts";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import { SignedHistory } from "../../../services/settlement/ledger/signedHistory.ts";
import { Checkpoints } from "../../../services/settlement/proofs/checkpoints.ts";
import { SimulatedChain } from "./simulatedChain.ts";

/** The contents of a disk: the leaves of the entries, and the last signed head. */
type Disk = { leaves: Uint8Array[]; lastSigned: LastSigned | undefined };

/** Everything around a writer. It exists before the writer's start and after its end. */
type World = {
  chain: SimulatedChain;
  /** The sender of anchors; see {@link playHistory}. */
  anchors: "sent" | "relayed" | "forgotten";
  words: Word[];
  disk: Disk;
  /** The last signed anchor for a relay, on a separate disk. */
  lastWord?: LastSigned | undefined;
};

/** A size and root that the writer signed, or that the contract holds, and the leaves of that tree. */
export type Word = { size: number; root: Hex; leaves: readonly Uint8Array[] };

/** The result of one history. */
export type HistoryOutcome = {
  words: Word[];
  /**
   * The number of pairs with which the prover could get the ledger marked. It must be 0, because the writer is
   * honest.
   */
  convictions: number;
  /**
   * Whether the prover found a forged word with one exchanged entry; undefined when there is no entry to exchange.
   */
  isForgeryFound: boolean | undefined;
  /** A record of what happened, to find the cause of a failure. */
  steps: string[];
};

const WRITER = `0x${"77".repeat(20)}` as const;
const CONFIRMATIONS = 3;
const SEED = new Uint8Array(32).fill(7);
const STEPS = [
  "append",
  "append",
  "append",
  "round",
  "round",
  "round",
  "cut",
  "lose",
  "kill",
  "image",
  "restore",
  "pull",
  "reorg",
  "mine",
  "mine",
  "lag",
  "checkpoint",
] as const;

/**
 * Plays one random history with the real checkpoints and the real anchorer. A history has writes, rounds, kills
 * between the sending and the mining of an anchor, and anchors that are never mined. It also has restored images of
 * the whole disk, lost disks that are fetched again, reorgs, and nodes that are behind. Then a prover tries every
 * pair of published words, and the stored head with each of them.
 *
 * @param random a number from 0 to 1
 * @param anchors `sent` by the writer itself; `relayed`: signed for another account to send, and remembered on
 * another disk, which is never restored; `forgotten`: relayed without that disk, to show why it is needed
 */
export async function playHistory(
  random: () => number,
  { anchors, length = 40 }: { anchors: World["anchors"]; length?: number },
): Promise<HistoryOutcome> {
  const below = (count: number): number => Math.floor(random() * count);
  const chain = new SimulatedChain({
    writer: WRITER,
    confirmations: CONFIRMATIONS,
  });
  const world: World = { chain, anchors, words: [], disk: { leaves: [], lastSigned: undefined } };
  const steps: string[] = [];
  /** The leaves of every state that was ever sent to the chain, for a writer that must fetch them again. */
  const sent = new Map<Hex, Uint8Array[]>();
  const images: Disk[] = [];
  let entries = 0;
  let process = await startWriter(world);

  const copy = ({ leaves, lastSigned }: Disk): Disk => ({ leaves: [...leaves], lastSigned });
  const round = async (): Promise<void> => {
    sent.set(toHex(process.tree.root()), [...world.disk.leaves]);
    await process.anchorer.anchorOnce().catch(() => {});
  };
  const actions: { [step in (typeof STEPS)[number]]: () => Promise<void> | void } = {
    append: () => {
      for (let n = below(4); n >= 0 && process.gate.refusal === undefined; n--) {
        const leaf = createHash("sha256").update(`entry ${entries++}`).digest();
        world.disk.leaves.push(leaf);
        process.tree.append(leaf);
      }
    },
    round,
    // The anchor is sent, and the process ends before the anchor is mined. The anchor may be mined later, perhaps
    // together with another anchor of the same seq.
    cut: async () => {
      chain.next = "cut";
      await round();
      chain.next = "mine";
      process = await startWriter(world);
    },
    // The anchor is signed and sent, but never mined.
    lose: async () => {
      chain.next = "lose";
      await round();
      chain.next = "mine";
    },
    // The kill also loses unwritten data, about which nobody got an answer.
    kill: async () => {
      process = await startWriter(world);
    },
    image: () => {
      images.push(copy(world.disk));
    },
    restore: async () => {
      const image = images[below(images.length)];
      if (image === undefined) return;
      world.disk = copy(image);
      process = await startWriter(world);
    },
    pull: async () => {
      const { size, root } = chain.head;
      const leaves = sent.get(root) ?? [];
      world.disk = { leaves: leaves.slice(0, Number(size)), lastSigned: { size: Number(size), root } };
      process = await startWriter(world);
    },
    reorg: () => chain.reorg(1 + below(CONFIRMATIONS + 2)),
    mine: () => {
      if (random() < 0.2) chain.waiting.pop();
      chain.mine();
    },
    lag: () => {
      chain.lag = 1 + below(4);
    },
    checkpoint: async () => {
      await process.checkpoints.make().catch(() => {});
    },
  };
  for (let n = 0; n < length; n++) {
    const step = STEPS[below(STEPS.length)] as (typeof STEPS)[number];
    steps.push(step);
    await actions[step]();
  }
  const { size, root } = chain.head;
  const stored: Word = { size: Number(size), root, leaves: sent.get(root) ?? [] };
  const all = [...world.words, stored];
  return {
    words: world.words,
    convictions: convictionsIn(all),
    isForgeryFound: await findsForgery(all, below),
    steps,
  };
}

/** The writer's checkpoints and its anchorer, as a process starts them from what its disk has. */
async function startWriter(world: World) {
  const { chain, anchors, words } = world;
  const tree = new MerkleTree(sha256ByNode);
  for (const leaf of world.disk.leaves) tree.append(leaf);
  const gate = new LedgerGate(() => {});
  const store = {
    read: async () => world.disk.lastSigned,
    write: async (lastSigned: LastSigned) => {
      world.disk.lastSigned = lastSigned;
    },
  };
  const history = await SignedHistory.open({ folder: "", tree, gate, store });
  const remembered =
    anchors === "relayed"
      ? await SignedHistory.open({
          folder: "",
          of: "words",
          tree,
          gate,
          store: {
            read: async () => world.lastWord,
            write: async (word) => {
              world.lastWord = word;
            },
          },
        })
      : undefined;
  // Everything that the writer signs counts as a word, even if it is never published.
  const say = (size: bigint, root: Hex) => {
    words.push({ size: Number(size), root, leaves: [...world.disk.leaves] });
  };
  const signer: WriterSigner = {
    writer: chain.writer,
    sign: async ({ message }) => {
      if ("size" in message) say(message.size, message.root);
      return { by: "key", signature: `0x${"11".repeat(65)}` };
    },
  };
  const checkpoints = new Checkpoints({
    origin: "tallystick.test/histories",
    tree,
    keys: [{ seed: SEED }],
    gate,
    history,
    writer: { signer, ledgerId: `0x${"01".repeat(32)}`, chainId: 1, contract: chain.writer },
  });
  const anchorer = new Anchorer({
    contract: chain.contract(anchors === "sent" ? undefined : ({ size, root }) => say(size, root)),
    tree,
    watch: new ChainWatch({ tree, writer: chain.writer, gate, forgives: anchors === "sent" }),
    history: {
      cover: async (size) => {
        await history.cover(size);
        await remembered?.cover(size);
      },
    },
    intervalMs: 1,
    maxEntries: 1,
    log: () => {},
    onCompared: async ({ confirmed }) => {
      if (confirmed && confirmed.size > 0n && Number(confirmed.size) <= tree.size)
        await checkpoints.makeHead({ size: Number(confirmed.size), root: confirmed.root }).catch(() => {});
    },
  });
  await anchorer.look().catch(() => {});
  return { tree, gate, checkpoints, anchorer };
}

/** How many ordered pairs of words convict their writer (AnchoredLedger.proveFork). */
export function convictionsIn(words: readonly Word[]): number {
  let count = 0;
  for (const a of words) for (const b of words) if (a.size <= b.size && convicts(a, b)) count++;
  return count;
}

/** Whether b's history has another root at a's size, with a proof that the contract would accept. */
function convicts(a: Word, b: Word): boolean {
  if (b.leaves.length < b.size) return false;
  const tree = new MerkleTree(sha256ByNode);
  for (const leaf of b.leaves.slice(0, b.size)) tree.append(leaf);
  const fromRoot = tree.root(a.size);
  const toRoot = fromHex(b.root);
  const proof = tree.consistencyProof(a.size, b.size);
  if (!verifyConsistency({ from: a.size, to: b.size, fromRoot, toRoot, proof })) return false;
  return !bytesEqual(fromRoot, fromHex(a.root));
}

/** Adds a forged word: the largest state with one exchanged entry. Returns whether the prover finds it. */
async function findsForgery(
  words: readonly Word[],
  below: (count: number) => number,
): Promise<boolean | undefined> {
  const largest = words.reduce((a, b) => (b.size > a.size ? b : a));
  if (largest.size === 0) return undefined;
  const leaves = largest.leaves.slice(0, largest.size);
  leaves[below(largest.size)] = createHash("sha256").update("foreign").digest();
  const tree = new MerkleTree(sha256ByNode);
  for (const leaf of leaves) tree.append(leaf);
  return convictionsIn([...words, { size: largest.size, root: toHex(tree.root()), leaves }]) > 0;
}
