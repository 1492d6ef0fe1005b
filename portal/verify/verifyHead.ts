import { TallystickError } from "tallystick-protocol/errors";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import type { ChainHead, LedgerPlace, Reading, Readings } from "../chain/readHeads.ts";
import { entriesOf } from "../design/countOf.ts";
import { type Check, fails, holds, isOpen } from "./check.ts";
import type { OwnTree, Tree } from "./tree.ts";

export type { OwnTree, Tree } from "./tree.ts";

/** A node's description of a ledger, to compare with the chain. */
export type ToldLedger = {
  place: LedgerPlace;
  /** The values from which the id is computed; null if the node does not know them. */
  named: { firstWriter: string; guardian: string; origin: string } | null;
  /** The block up to which the node says it has read the chain. */
  indexedBlock: number;
  /** Whether the node says that it waits for entries of this ledger. */
  isBlocked: boolean;
};

/** Fetches a proof that the smaller tree is the beginning of the larger one; null if nobody has a proof. */
export type Prove = (from: number, to: number) => Promise<Uint8Array[] | null>;

/**
 * Checks that the ledger's id is computed from the contract that is read. So a node cannot name another contract for an
 * id that the reader knows.
 */
export function idCheck({ place, named }: ToldLedger): Check {
  const { chainId, contract, ledger } = place;
  if (named === null)
    return isOpen(
      "Whether the ledger's id belongs to this contract",
      "The node does not know its first writer.",
    );
  const { firstWriter, guardian, origin } = named;
  try {
    const id = ledgerId({
      chainId,
      contract: contract as Hex,
      writer: firstWriter as Hex,
      guardian: guardian as Hex,
      origin,
    });
    if (id === ledger)
      return holds(
        "The ledger's id follows from chain, contract, first writer and name",
        `${id}, in the contract ${contract} of chain ${chainId}`,
      );
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
  }
  return fails(
    "The node names another contract or writer than the ledger's id does",
    `The id is a hash of chain, contract, first writer, guardian and name. ${ledger} is not that of ${contract}.`,
  );
}

/**
 * Checks that the contract can only hold heads that a ledger's writer anchored in it, one after the other. A node could
 * name a contract of its own. Ids of ledgers follow from that contract as well, and it can answer any head.
 *
 * @param isPublic whether released contracts are deployed on this chain. Elsewhere, such as on a test chain, they may be at other
 * addresses
 */
export function codeCheck({ code }: ChainHead, contract: string, isPublic: boolean): Check {
  if (code === "released")
    return holds(
      "The contract is the released AnchoredLedger, at the address of its release",
      `${contract}: its code was compared here, byte by byte. No other code has written what it holds.`,
    );
  if (code === "none")
    return fails(
      "There is no contract at this address",
      `${contract} had no code at the block that was read. The node names a wrong contract, or the source is far behind.`,
    );
  if (code === "unknown")
    return fails(
      "The contract's code is not that of a released AnchoredLedger",
      `${contract} may answer any head. It was made by somebody else, or it is newer than this page.`,
    );
  const detail = `Another constructor may have written heads into ${contract} before.`;
  return isPublic
    ? fails("The contract is a copy of the released AnchoredLedger at another address", detail)
    : isOpen("The contract has the released code, at another address than that of its release", detail);
}

/** Who names the ledger to compare: the reader, the page's address, the file itself, or only the node. */
export type NamedBy = "reader" | "page" | "file" | "node";

const NAMED: { [by in Exclude<NamedBy, "node">]: string } = {
  reader: "It is the ledger whose id you gave",
  page: "It is the ledger of this page's address",
  file: "It is the ledger that the file names",
};

/** Says which ledger was compared, and on whose word. Anybody can open a ledger of any name in the same contract. */
export function ledgerCheck({ place, named }: ToldLedger, by: NamedBy): Check {
  const { origin, firstWriter } = named ?? { origin: "no name", firstWriter: "nobody known" };
  const whose = `${place.ledger}: ${origin}, first written by ${firstWriter}`;
  if (by !== "node") return holds(NAMED[by], whose);
  return isOpen(
    "Whether it is the ledger that you mean: only the node named it",
    `${whose}. Compare the id with one that you trust.`,
  );
}

/** This many blocks are not just a short delay. On Base they take half an hour. */
export const MANY_BLOCKS = 900;

/**
 * The age, in seconds, at which a chain's newest block is old. Then the chain has no new blocks, or the source does not
 * tell them.
 */
const OLD_SECONDS = 3_600;

/**
 * Fails if the newest block of the sources is old, because the sources then hide later anchors. There is no such check
 * on a test chain, which may stand still.
 *
 * @param now the reader's clock, unix seconds
 */
export function ageCheck({ blockTime }: ChainHead, isPublic: boolean, now: number): Check[] {
  const age = now - blockTime;
  if (!isPublic || age <= OLD_SECONDS) return [];
  const hours = `The block is ${count(Math.floor(age / 3_600))} hours old, by the clock of this device.`;
  return [fails("The newest block of the sources is an old one", hours)];
}

/** Checks whether the sources agree, and returns their head; null if there is none to use. */
export function sourceChecks({ block, spread, readings }: Readings): {
  checks: Check[];
  head: ChainHead | null;
} {
  const problems = readings.flatMap((it) =>
    "problem" in it ? [isOpen(`${it.source} could not be asked`, it.problem)] : [],
  );
  const heads = readings.flatMap((it) => ("head" in it ? [it] : []));
  const [one, other] = heads;
  if (one === undefined)
    return { checks: [...problems, isOpen("No source could be asked, so nothing was verified")], head: null };
  const at = `at block ${block.toLocaleString("en")}`;
  if (other === undefined) {
    const detail = `Only ${one.source} says so, ${at}. Name a second source: then both would have to lie.`;
    return { checks: [...problems, isOpen("One source", detail)], head: one.head };
  }
  // Both sources are asked about the same block. If one source names a very old block as its newest block, the
  // honest source is asked about the old block too, and tells an old head.
  if (spread > MANY_BLOCKS) {
    const detail = `${one.source} and ${other.source} are ${count(spread)} blocks apart. One is behind, or lies: ask a third.`;
    return {
      checks: [...problems, fails("The two sources do not agree how far the chain is", detail)],
      head: null,
    };
  }
  const differing = (["blockHash", "size", "root", "isForked", "code"] as const).find(
    (name) => one.head[name] !== other.head[name],
  );
  if (differing === undefined) {
    const check = holds(`Two sources say the same, ${at}`, `${one.source} and ${other.source}`);
    return { checks: [...problems, check], head: one.head };
  }
  const detail = `${sentenceOf(one)} ${sentenceOf(other)} One of them lies, or is on another fork: ask a third.`;
  return { checks: [...problems, fails(`The two sources do not agree ${at}`, detail)], head: null };
}

function sentenceOf({ source, head }: Extract<Reading, { head: ChainHead }>): string {
  const { size, root, blockHash, isForked, code } = head;
  if (code === "none") return `${source} says: no contract, block ${blockHash}.`;
  const mark = `${isForked ? ", marked as forked" : ""}${code === "unknown" ? ", of unknown code" : ""}`;
  return `${source} says: ${entriesOf(size)}, root ${root}${mark}, block ${blockHash}.`;
}

/**
 * Checks that a node says that it has read the chain up to a recent block. Otherwise the node could show an old head,
 * which was right at an old block.
 *
 * @param tip the newest block of the sources
 */
export function recentCheck({ indexedBlock }: Pick<ToldLedger, "indexedBlock">, tip: number): Check[] {
  if (!Number.isSafeInteger(indexedBlock) || indexedBlock < 0)
    return [fails("The node does not say up to which block it has read the chain")];
  if (tip - indexedBlock <= MANY_BLOCKS) return [];
  const numbers = `It says block ${count(indexedBlock)}, and the chain is at block ${count(tip)}.`;
  return [fails(`The node has not read the last ${count(tip - indexedBlock)} blocks`, numbers)];
}

/**
 * Compares a node's head with the chain's head, at the block up to which the node says it has read.
 *
 * @param isSameBlock whether the chain was read at exactly that block; otherwise the two heads may differ
 * for a good reason
 */
export async function nodeHeadChecks(
  told: Tree,
  head: ChainHead,
  { indexedBlock, isBlocked }: Pick<ToldLedger, "indexedBlock" | "isBlocked">,
  { block, isSameBlock, prove }: { block: number; isSameBlock: boolean; prove: Prove },
): Promise<Check[]> {
  const general = stateCheck(head);
  if (general !== null) return [general];
  const numbers = `The node says ${count(told.size)}, the chain ${count(head.size)}.`;
  if (told.size === head.size)
    return [
      told.root === head.root
        ? holds("The node's head is the chain's", `${entriesOf(told.size)}, root ${told.root}`)
        : fails(
            "The node tells the head of another ledger",
            `At ${entriesOf(told.size)} it says root ${told.root}, the chain ${head.root}.`,
          ),
    ];
  if (told.size > head.size)
    return [
      block < indexedBlock
        ? isOpen("The sources are behind the node", `They are at block ${block}, it is at ${indexedBlock}.`)
        : fails("The node tells more entries than the chain has anchored", numbers),
    ];
  const checks = await beginningChecks("The node's head", told, head, prove);
  // If the node says that it has read further than the sources, it has also read this block.
  const hasRead = isSameBlock || block <= indexedBlock;
  if (isBlocked) return [isOpen("The node waits for entries, as it says itself", numbers), ...checks];
  return [
    hasRead
      ? fails(
          "The node tells an old head",
          `${numbers} It says that it has read the chain up to block ${indexedBlock}, and block ${block} has the newer one.`,
        )
      : isOpen("The chain may have gone on since the block that the node has read", numbers),
    ...checks,
  ];
}

/** Compares a tree of the reader with the chain's newest head. */
export async function treeChecks(tree: OwnTree, head: ChainHead, prove: Prove): Promise<Check[]> {
  const { what, isWhole } = tree;
  const general = stateCheck(head);
  if (general !== null) return [general];
  if (tree.size === head.size)
    return [
      tree.root === head.root
        ? holds(`The chain has the root of ${what}`, `${entriesOf(tree.size)}, root ${tree.root}`)
        : fails(
            `The chain has another root than ${what}`,
            `At ${entriesOf(tree.size)} ${what} comes to ${tree.root}, the chain has ${head.root}.`,
          ),
    ];
  if (tree.size > head.size) {
    const missing = tree.size - head.size;
    const isOn = await proves(head, tree, prove);
    if (isOn === false)
      return [
        fails(`What the chain has is not the beginning of ${what}`, `The chain has root ${head.root}.`),
      ];
    return [
      isOn === null ? noProof() : holds(`What the chain has is the beginning of ${what}`),
      isOpen(
        missing === 1
          ? "The last entry is not anchored yet"
          : `The last ${count(missing)} entries are not anchored yet`,
      ),
    ];
  }
  const checks = await beginningChecks(`The root of ${what}`, tree, head, prove);
  if (!isWhole || checks.every(({ state }) => state !== "yes")) return checks;
  const missing = head.size - tree.size;
  const detail = `The chain has ${entriesOf(head.size)}, ${what} ${count(tree.size)}.`;
  const last = missing === 1 ? "entry is" : `${count(missing)} entries are`;
  return [fails(`The last ${last} missing in ${what}`, detail), ...checks];
}

async function beginningChecks(what: string, tree: Tree, head: ChainHead, prove: Prove): Promise<Check[]> {
  const isOn = await proves(tree, head, prove);
  if (isOn === null) return [noProof()];
  return [
    isOn
      ? holds(`${what} is the beginning of what the chain has`, "The consistency proof was checked here.")
      : fails(
          `${what} is not the beginning of what the chain has`,
          "No consistency proof leads from one root to the other. So the tree is of another ledger, or it was changed.",
        ),
  ];
}

/** Whether a consistency proof shows that `from` is the beginning of `to`; null if there is no proof. */
export async function proves(from: Tree, to: Tree, prove: Prove): Promise<boolean | null> {
  const proof = from.size === to.size ? [] : await prove(from.size, to.size);
  if (proof === null) return null;
  return verifyConsistency({
    from: from.size,
    to: to.size,
    fromRoot: bytesOf(from.root),
    toRoot: bytesOf(to.root),
    proof,
  });
}

function stateCheck({ anchors, isForked }: ChainHead): Check | null {
  if (isForked)
    return fails(
      "The contract has marked this ledger: its writer signed two histories",
      "Indexers load nothing more of it.",
    );
  if (anchors === 0)
    return fails("The contract has no such ledger", "Nothing was ever anchored under this id.");
  return null;
}

function noProof(): Check {
  return isOpen(
    "No consistency proof is available here",
    "Reading every entry of the ledger shows the same.",
  );
}

function bytesOf(root: string): Uint8Array {
  try {
    return fromHex(root.startsWith("0x") ? root : `0x${root}`);
  } catch {
    return new Uint8Array(0);
  }
}

function count(value: number): string {
  return value.toLocaleString("en");
}
