import type { Address } from "../../protocol/address.ts";
import { TallystickError } from "../../protocol/errors.ts";
import { toHex } from "../../protocol/hex.ts";
import type { MerkleTree } from "../../protocol/merkle/merkleTree.ts";
import type { LedgerOnChain } from "./readLedgerOnChain.ts";

/**
 * Compares a ledger on disk with what its contract holds. A chain that holds less than the disk is as it should be: the
 * rest is not anchored yet, a reorg undid it, or the node that answers is some blocks behind.
 *
 * @param tree over the entries on disk
 * @param writer whose ledger it is taken to be
 * @throws TallystickError `chain_ahead`, `root_contradicts`, `writer_differs` or `ledger_equivocated`
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
      message: `The contract holds ${head.size} entries, the disk only ${tree.size}.`,
      hint:
        "Entries that were anchored are missing here: this is an older copy, or another process writes the ledger. Stop the" +
        " service, restore the newest copy or run: tallystick ledger pull --from URL",
    });
  }
  const size = Number(head.size);
  if (toHex(tree.root(size)) !== head.root) {
    throw new TallystickError({
      code: "root_contradicts",
      message: `The first ${size} entries on disk are not the ones that were anchored.`,
      hint:
        "The ledger's file was replaced or rewritten, or another process writes the ledger. Stop the service, restore the" +
        " file from a copy; the contract takes no other history.",
    });
  }
  if (ledger.isEquivocated) {
    throw new TallystickError({
      code: "ledger_equivocated",
      message: "The contract has marked this ledger: its writer signed two histories.",
      hint: "Nothing can be anchored in it any more. Begin another ledger with a new LEDGER_ORIGIN and a new key.",
    });
  }
  if (ledger.writer !== writer) {
    throw new TallystickError({
      code: "writer_differs",
      message: `The ledger's writer is ${ledger.writer}, not ${writer}.`,
      hint: "Another wallet has taken the ledger over. Give this service that writer's key, or stop it.",
    });
  }
}
