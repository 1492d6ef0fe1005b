import { TallystickError } from "tallystick-protocol/errors";
import { fromHex, toHex } from "tallystick-protocol/hex";
import { recordBodyFromPyJson } from "tallystick-protocol/json/recordBody";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { readProvenEntry } from "tallystick-protocol/proof/provenEntry";
import { signerOf } from "tallystick-protocol/records/record";
import { entriesOf } from "../design/countOf.ts";
import { type Check, type Finding, fails, holds, isOpen } from "./check.ts";

/** A node's description of a ledger entry with a signed record. */
export type ToldEntry = {
  seq: number;
  hash: string;
  record: { type?: string; body: unknown; signer: string } | null;
  inclusionProof: {
    hashes: string[];
    index: number;
    root: string;
    size: number;
    checkpoint: { block: number; tx: string } | null;
  } | null;
  /** The hire whose receipt it should be. */
  of?: ReceiptOf;
};

/** A hire as a page shows it. `id` begins with its payment's transaction, or with its escrow's id. */
export type ReceiptOf = { id: string; seller: string; buyer: string; allPassed: boolean };

/**
 * Verifies an entry and its record. The line must hash to the entry's hash, and must be in the tree of the
 * root that the node names. The signer must have signed the record that the node shows.
 */
export function verifyEntry(told: ToldEntry, line: string): Finding {
  const title = "The receipt";
  try {
    const { payload, currentHash } = readProvenEntry(line);
    const checks: Check[] = [
      currentHash === told.hash.replace(/^0x/, "")
        ? holds("The entry hashes to what it says", `hash ${currentHash}`)
        : fails("The entry is another one than the page shows", `The line hashes to ${currentHash}.`),
      ...recordChecks(payload, told),
      ...inclusionChecks(line, told),
    ];
    return { title, checks };
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    return { title, checks: [fails("The entry does not hold", error.message)] };
  }
}

function recordChecks(payload: { [key: string]: unknown }, told: ToldEntry): Check[] {
  const { body, signer, signature } = payload;
  if (told.record === null && signature === undefined)
    return [isOpen("Nobody signed it: it is generic work", "The ledger's writer answers for it.")];
  if (typeof signer !== "string" || typeof signature !== "string")
    return [fails("The entry has no signed record", "It names no signer or no signature.")];
  const signed = recordBodyFromPyJson(body as Parameters<typeof recordBodyFromPyJson>[0]);
  const found = signerOf(signed, signature);
  const shown = told.record;
  const isShown =
    shown !== null &&
    canonical(shown.body) === canonical(signed) &&
    (shown.type === undefined || shown.type === payload.type);
  return [
    found === signer.toLowerCase() && found === told.record?.signer
      ? holds("Its signer's wallet signed it", found)
      : fails(
          "Its signer's wallet did not sign it",
          found === null
            ? "No wallet's key made this signature. If a contract wallet made it, only the chain can check it."
            : `It is by ${found}.`,
        ),
    isShown
      ? holds("The page shows what was signed")
      : fails(
          "The page shows something else than what was signed",
          "The node changed the record on its way.",
        ),
    ...(told.of === undefined ? [] : [hireCheck(payload, signed, told.of)]),
  ];
}

/**
 * Whether a receipt is of the hire on the page. A node could show the good receipt of another hire, or one that it signed
 * itself in the seller's name.
 */
function hireCheck(
  { type, signer }: { [name: string]: unknown },
  signed: { [name: string]: unknown },
  { id, seller, buyer, allPassed }: ReceiptOf,
): Check {
  if (type !== "receipt") return fails("It is no receipt", `It is a record of the type ${String(type)}.`);
  if (String(signer).toLowerCase() !== seller)
    return fails(
      "Another wallet than the seller's signed it",
      `It is by ${String(signer)}, the seller is ${seller}.`,
    );
  const { agent_id, buyer: from, tx_hash, escrow_id, verification } = signed;
  const [payment] = id.split("-");
  const isPaid = [tx_hash, escrow_id].some((it) => typeof it === "string" && it.toLowerCase() === payment);
  const differing = [
    [isPaid, "payment"],
    [agent_id === seller, "seller"],
    [from === buyer, "buyer"],
    [(Object(verification) as { all_passed?: unknown }).all_passed === allPassed, "result of the checks"],
  ].flatMap(([isSame, name]) => (isSame ? [] : [name]));
  return differing.length === 0
    ? holds("It is of this hire: of its payment, by its seller, for its buyer")
    : fails(
        "It is the receipt of another hire",
        `It has another ${differing.join(", ")} than the page shows.`,
      );
}

function inclusionChecks(line: string, { seq, inclusionProof }: ToldEntry): Check[] {
  if (inclusionProof === null)
    return [isOpen("The node gives no inclusion proof", "The entry may not be anchored yet.")];
  const { hashes, index, root, size, checkpoint } = inclusionProof;
  const bytes = (hex: string) => fromHex(hex.startsWith("0x") ? hex : `0x${hex}`);
  const leafHash = lineLeafHash(line);
  const isIn =
    index === seq && verifyInclusion({ leafHash, index, size, root: bytes(root), proof: hashes.map(bytes) });
  if (!isIn)
    return [
      fails(
        "It is not in the tree of that root",
        `leaf ${toHex(leafHash)}, root ${root}, ${entriesOf(size)}`,
      ),
    ];
  return [
    holds(
      `It is entry ${seq} of a tree of ${size.toLocaleString("en")}`,
      `The inclusion proof leads to the root ${root}.`,
    ),
    isOpen(
      "Look on the chain whether it has this root",
      checkpoint === null
        ? "The node names no anchor."
        : `The node names transaction ${checkpoint.tx} of block ${checkpoint.block}.`,
    ),
  ];
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object")
    return typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "");
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, it]) => `${JSON.stringify(key)}:${canonical(it)}`).join(",")}}`;
}
