import type { Row } from "tallystick-derive/tables";
import { toBase64 } from "tallystick-protocol/base64";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { storedInclusionProof } from "../../src/segments/storedTree.ts";
import { anchorList, anchorOfSize, treePagesAt } from "../rows/ledgers.ts";
import type { RowOf } from "../rows/rowsById.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { plainText } from "./errors.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import { ReceiptRef } from "./receipt.ts";
import { recordEvent } from "./recordEvent.ts";

type Ledger = RowOf<"ledger">;
type Anchor = RowOf<"anchor">;
type Entry = RowOf<"genericEntry">;
type Proof = { entry: Entry; leafHash: Hex; hashes: Hex[]; head: Ledger };

const EquivocationRef = builder.objectRef<RowOf<"equivocation">>("Equivocation").implement({
  description:
    "The proof of a fork: the ledger's writers signed two heads that no single history can have. Nothing more of the ledger is loaded.",
  fields: (t) => ({
    size: t.field({ type: "BigInt", resolve: ({ size }) => size }),
    root: t.exposeString("root", { description: "The root of the shorter history at that size." }),
    ownRoot: t.exposeString("ownRoot", { description: "The root of the longer history at that size." }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
  }),
});

export const LedgerRef = builder.objectRef<Ledger>("Ledger").implement({
  description: "A followed ledger, up to its last loaded anchor.",
  fields: (t) => ({
    id: t.exposeID("id"),
    size: t.field({ type: "SafeInt", resolve: ({ size }) => size }),
    root: t.exposeString("root", {
      description: "RFC 6962 root over its entries, as anchored on the chain.",
    }),
    head: t.exposeString("head", { description: "Hash of its last entry." }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    origin: t.string({
      nullable: true,
      resolve: async ({ id }, _, { load }) => (await load.openedLedger.load(id))?.origin ?? null,
    }),
    writer: t.field({
      type: "Address",
      nullable: true,
      description: "The present writer.",
      resolve: async ({ id }, _, { load }) => (await load.openedLedger.load(id))?.writer ?? null,
    }),
    firstWriter: t.field({
      type: "Address",
      nullable: true,
      description:
        "The first writer. The ledger's id is a hash of the chain, the contract, the first writer, the guardian and the origin.",
      resolve: async ({ id }, _, { load }) => (await load.openedLedger.load(id))?.firstWriter ?? null,
    }),
    guardian: t.field({
      type: "Address",
      nullable: true,
      description: "The account that may announce another writer; the zero address if there is none.",
      resolve: async ({ id }, _, { load }) => (await load.openedLedger.load(id))?.guardian ?? null,
    }),
    equivocation: t.field({
      type: EquivocationRef,
      nullable: true,
      resolve: ({ id }, _, { load }) => load.equivocation.load(id),
    }),
  }),
});

const CheckpointRef = builder.objectRef<Anchor>("Checkpoint").implement({
  interfaces: [NodeRef],
  description: "A head of a ledger, as its writer anchored it in the contract.",
  fields: (t) => ({
    id: t.id({ resolve: ({ ledger, seq }) => `${ledger}@${seq}` }),
    ledger: t.exposeID("ledger"),
    seq: t.field({ type: "BigInt", resolve: ({ seq }) => seq }),
    oldSize: t.field({ type: "BigInt", resolve: ({ oldSize }) => oldSize }),
    size: t.field({ type: "BigInt", resolve: ({ newSize }) => newSize }),
    root: t.exposeString("root"),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    log: t.field({ type: "SafeInt", resolve: ({ log }) => log }),
    tx: t.exposeString("tx"),
    followed: t.boolean({
      description: "Whether this node loads the ledger's entries.",
      resolve: async ({ ledger }, _, { load }) => (await load.ledger.load(ledger)) !== null,
    }),
    note: t.string({
      nullable: true,
      description: "The text that a C2SP tlog-checkpoint of this head signs.",
      resolve: async ({ ledger, newSize, root }, _, { load }) => {
        const opened = await load.openedLedger.load(ledger);
        return opened === null ? null : `${opened.origin}\n${newSize}\n${toBase64(fromHex(root, 32))}\n`;
      },
    }),
  }),
});

registerNode("Checkpoint", {
  form: /^0x[0-9a-f]{64}@[0-9]+$/,
  find: (id, { load }) => load.anchor.load(id.replace("@", "/")),
});

const CheckpointConnection = builder.connectionObject(
  { type: CheckpointRef, name: "CheckpointConnection" },
  { name: "CheckpointEdge" },
);

const ProofRef = builder.objectRef<Proof>("InclusionProof").implement({
  description:
    "A proof that an entry is in a ledger with an anchored root (RFC 9162 §2.1.3). Hash the leaf with these hashes, one after the other; the result is the root. AnchoredLedger.verifyInclusion checks the same on the chain.",
  fields: (t) => ({
    leafHash: t.exposeString("leafHash"),
    index: t.field({ type: "SafeInt", resolve: ({ entry }) => entry.seq }),
    size: t.field({ type: "SafeInt", resolve: ({ head }) => head.size }),
    root: t.string({ resolve: ({ head }) => head.root }),
    hashes: t.exposeStringList("hashes"),
    checkpoint: t.field({
      type: CheckpointRef,
      nullable: true,
      description: "The anchor of that root.",
      resolve: async ({ head }, _, { db }) => (await anchorOfSize(db, head.id, BigInt(head.size))) ?? null,
    }),
  }),
});

const RecordRef = builder.objectRef<Row<"record">>("LedgerRecord").implement({
  description: "A protocol record, and whether it counts.",
  fields: (t) => ({
    type: t.exposeString("type"),
    signer: t.field({ type: "Address", resolve: ({ signer }) => signer }),
    valid: t.boolean({ resolve: ({ status }) => status === "valid" }),
    reason: t.exposeString("reason", { nullable: true, description: "The reason why it does not count." }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    log: t.field({ type: "SafeInt", resolve: ({ log }) => log }),
    body: t.field({
      type: "JSON",
      nullable: true,
      description: "The body as it was signed.",
      resolve: async (record, _, context) => (await recordEvent(record, context))?.body ?? null,
    }),
    signature: t.string({
      nullable: true,
      resolve: async (record, _, context) => (await recordEvent(record, context))?.signature ?? null,
    }),
  }),
});

export function entryOf({ id, ledger, seq, hash, type }: Row<"record">): Entry {
  // The derivation stores a record without a type with an empty type.
  return { id, ledger, seq, hash, type: type === "" ? null : type };
}

async function findEntry(id: string, { load }: QueryContext): Promise<Entry | null> {
  const record = await load.record.load(id);
  return record === null ? load.genericEntry.load(id) : entryOf(record);
}

export const EntryRef = builder.objectRef<Entry>("LedgerEntry").implement({
  interfaces: [NodeRef],
  description: "An entry of a followed ledger.",
  fields: (t) => ({
    id: t.exposeID("id"),
    ledger: t.exposeID("ledger"),
    seq: t.field({ type: "SafeInt", resolve: ({ seq }) => seq }),
    hash: t.exposeString("hash", { description: "Its `current_hash`." }),
    type: t.exposeString("type", { nullable: true }),
    record: t.field({
      type: RecordRef,
      nullable: true,
      description: "Null for generic work.",
      resolve: ({ id }, _, { load }) => load.record.load(id),
    }),
    inclusionProof: t.field({
      type: ProofRef,
      nullable: true,
      description: "A proof against the anchored head.",
      resolve: (entry, _, context) => proofOf(entry, context),
    }),
  }),
});

registerNode("LedgerEntry", {
  form: /^0x[0-9a-f]{64}\/[0-9]+$/,
  find: findEntry,
});

async function proofOf(entry: Entry, { db, load, takeRows }: QueryContext): Promise<Proof | null> {
  const head = await load.ledger.load(entry.ledger);
  if (head === null || entry.seq >= head.size) return null;
  const { leafHash, proof } = await storedInclusionProof(entry.seq, head.size, async (places) => {
    takeRows(places.length);
    return treePagesAt(db, entry.ledger, places);
  });
  const parts = { leafHash, index: entry.seq, size: head.size, proof, root: fromHex(head.root) };
  if (!verifyInclusion(parts)) throw new Error(`The stored tree of ${entry.ledger} is not its root's.`);
  return { entry, leafHash: toHex(leafHash), hashes: proof.map(toHex), head };
}

builder.objectField(ReceiptRef, "entry", (t) =>
  t.field({
    type: EntryRef,
    nullable: true,
    description: "Its entry in a ledger.",
    resolve: async ({ id }, _, { load }) => {
      const record = await load.recordByHash.load(id);
      if (record === null) return null;
      load.record.prime(record.id, record);
      return entryOf(record);
    },
  }),
);

builder.queryFields((t) => ({
  ledger: t.field({
    type: LedgerRef,
    nullable: true,
    description: "A followed ledger.",
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => load.ledger.load(id.toLowerCase()),
  }),
  ledgerEntry: t.field({
    type: EntryRef,
    nullable: true,
    description: "The entry at `seq`, counted from 0, of a followed ledger.",
    args: { ledger: t.arg.id({ required: true }), seq: t.arg({ type: "SafeInt", required: true }) },
    resolve: (_, { ledger, seq }, context) => findEntry(`${ledger.toLowerCase()}/${seq}`, context),
  }),
  checkpoints: t.connection(
    {
      description: "Anchored heads, the latest first: of one ledger, or of all, followed or not.",
      type: CheckpointRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), ledger: t.arg.id() },
      resolve: (_, { ledger, ...args }, context) =>
        listPage(args, context, anchorList(ledger && plainText(ledger.toLowerCase(), "ledger"))),
    },
    CheckpointConnection,
  ),
}));
