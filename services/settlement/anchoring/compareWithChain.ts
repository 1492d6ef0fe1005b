import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { LedgerOnChain } from "./readLedgerOnChain.ts";

/**
 * Compares a ledger on disk with its contract. The chain may have less than the disk. Then the rest is not anchored
 * yet, a reorganization undid its anchor, or the answering node is some blocks behind.
 *
 * @param tree over the entries on disk
 * @param writer the writer that the ledger should have
 * @throws TallystickError `chain_ahead`, `root_contradicts`, `writer_differs`, `writer_changed` or
 * `ledger_equivocated`
 */
export function compareWithChain(
  { ledger }: LedgerOnChain,
  { tree, writer }: { tree: MerkleTree; writer: Address },
): void {
  if (ledger === undefined) return;
  const { head } = ledger;
  if (head.size > BigInt(tree.size)) {
    throw new TallystickError({
      code: "chain_ahead",
      message: `The contract holds ${head.size} entries, but the disk has only ${tree.size}.`,
      hint:
        "Anchored entries are missing here: this is an older copy, or another process writes the ledger. Stop the" +
        " service, restore the newest copy or run: tallystick ledger pull --from URL",
    });
  }
  const size = Number(head.size);
  if (toHex(tree.root(size)) !== head.root) {
    throw new TallystickError({
      code: "root_contradicts",
      message: `The first ${size} entries on disk are not the ones that were anchored.`,
      hint:
        "The ledger's file was replaced or rewritten, or another process writes the ledger. Stop the service," +
        " and restore the file from a copy: the contract accepts no other history.",
    });
  }
  if (ledger.isEquivocated) {
    throw new TallystickError({
      code: "ledger_equivocated",
      message: "The contract has marked this ledger: its writer signed two histories.",
      hint: "Nothing more can be anchored in it. Begin another ledger with a new LEDGER_ORIGIN and a new key.",
    });
  }
  if (ledger.writer !== writer && ledger.formerSize !== null) {
    throw new TallystickError({
      code: "writer_changed",
      message: `From entry ${ledger.formerSize} on, ${ledger.writer} writes the ledger. ${writer} wrote it before.`,
      hint: "Stop this service, because it is no longer the writer. Entries that it accepted from that entry on are in no ledger. Send them to the new writer.",
    });
  }
  if (ledger.writer !== writer) {
    const { announced } = ledger;
    throw new TallystickError({
      code: "writer_differs",
      message: `The ledger's writer is ${ledger.writer}, not ${writer}.`,
      hint:
        announced?.next === writer
          ? `${writer} is announced. When ${isoTime(announced.readyAt)} has come, run: tallystick ledger accept-writer`
          : "Set ANCHOR_WRITER and its key to the ledger's writer, and LEDGER_FIRST_WRITER to its first one; or stop this service.",
    });
  }
}

/**
 * Why a ledger should not be written although nothing contradicts it. Its guardian has announced another writer, so
 * entries that are written meanwhile may belong to no ledger later.
 */
export function haltOf({ ledger }: LedgerOnChain): TallystickError | undefined {
  const { announced } = ledger ?? {};
  if (!announced?.halted) return undefined;
  return new TallystickError({
    code: "guardian_announced",
    message: `The ledger's guardian has announced the writer ${announced.next}, from ${isoTime(announced.readyAt)} on. Until then nothing can be anchored.`,
    hint: "If you did not agree to that, ask the guardian to withdraw it. Otherwise this service ends when the new writer accepts.",
  });
}

function isoTime(seconds: bigint): string {
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}Z`;
}
