import { META, type Meta } from "../node/nodeState.ts";

export type LedgerHead = {
  id: string;
  seq: string;
  size: string;
  oldSize: string;
  root: string;
  time: number;
  block: number;
  tx: string;
  followed: boolean;
};

export type LedgerLine = {
  id: string;
  seq: number;
  hash: string;
  type: string | null;
  record: { type: string; signer: string; time: number; valid: boolean; reason: string | null } | null;
};

export type Ledger = {
  id: string;
  origin: string | null;
  size: number;
  root: string;
  head: string;
  block: number;
  time: number;
  writer: string | null;
  firstWriter: string | null;
  guardian: string | null;
  equivocation: { block: number; size: string; root: string; ownRoot: string } | null;
};

/** The answer to {@link LEDGER}. */
export type LedgerAnswer = {
  meta: Meta;
  ledger: Ledger | null;
  checkpoints: { totalCount: number; nodes: LedgerHead[] };
  ledgerEntries: { pageInfo: { hasNextPage: boolean; endCursor: string | null }; nodes: LedgerLine[] };
  /** Missing unless the page was opened with an entry. */
  entry?: LedgerEntry | null;
};

const ledgerWith = (
  variables: string,
  entry: string,
) => `query Ledger($id: ID!, $after: String, $type: String${variables}) {
  ${META}
  ${entry}
  ledger(id: $id) {
    id origin size root head block time writer firstWriter guardian equivocation { block size root ownRoot }
  }
  checkpoints(ledger: $id, first: 50) {
    totalCount nodes { id seq size oldSize root time block tx followed }
  }
  ledgerEntries(ledger: $id, first: 25, after: $after, recordType: $type) {
    pageInfo { hasNextPage endCursor }
    nodes { id seq hash type record { type signer time valid reason } }
  }
}`;

/** An entry with its proof. */
export type LedgerEntry = {
  ledger: string;
  seq: number;
  hash: string;
  type: string | null;
  record: {
    type: string;
    body: unknown;
    signer: string;
    signature: string | null;
    time: number;
    valid: boolean;
    reason: string | null;
  } | null;
  inclusionProof: {
    hashes: string[];
    index: number;
    root: string;
    size: number;
    checkpoint: { block: number; tx: string } | null;
  } | null;
};

/** The answer to {@link ENTRY} and {@link ENTRY_BY_HASH}. */
export type EntryAnswer = { meta: Meta; entry: LedgerEntry | null };

const PARTS = `{
    ledger seq hash type
    record { type body signer signature time valid reason }
    inclusionProof { hashes index root size checkpoint { block tx } }
  }`;

export const ENTRY = `query Entry($ledger: ID!, $seq: SafeInt!) {
  ${META}
  entry: ledgerEntry(ledger: $ledger, seq: $seq) ${PARTS}
}`;

export const ENTRY_BY_HASH = `query EntryByHash($hash: String!) {
  ${META}
  entry: ledgerEntryByHash(hash: $hash) ${PARTS}
}`;

export const LEDGER = ledgerWith("", "");

/** The question of a ledger's page that was opened with one of its entries: by number, or by hash. */
export const LEDGER_ENTRY = ledgerWith(
  ", $seq: SafeInt!",
  `entry: ledgerEntry(ledger: $id, seq: $seq) ${PARTS}`,
);
export const LEDGER_ENTRY_BY_HASH = ledgerWith(
  ", $hash: String!",
  `entry: ledgerEntryByHash(hash: $hash) ${PARTS}`,
);
