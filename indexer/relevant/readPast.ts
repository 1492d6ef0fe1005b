import type { TransferEvent } from "tallystick-derive/events";
import type { ReadPast } from "tallystick-derive/relevant/applyRelevant";
import {
  type FirstSpentRead,
  MAX_EMPTY,
  type PaymentsRead,
  type Read,
  type TransfersFromRead,
  type TransfersToRead,
} from "tallystick-derive/relevant/reads";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { TokenTransfer, UsedAuthorization } from "../logPort/logPort.ts";
import { type ChainView, isBetween, transferEvent } from "./chainView.ts";

/**
 * Makes the function that reads earlier transfers, which an event needs, through the log port.
 *
 * @param isAuthorized whether the sender authorized the transfer that is being applied (EIP-3009)
 */
export function readPastOf(
  view: ChainView,
  isAuthorized: (transfer: TransferEvent) => Promise<boolean>,
): ReadPast {
  return async (reads, event) => {
    const answers = new Map<Read, TransferEvent[]>();
    await readInflows(view, reads.filter(isOfKind("transfersTo")), answers);
    await readOutflows(view, reads.filter(isOfKind("transfersFrom")), answers);
    await readFirstSpent(view, reads.filter(isOfKind("firstSpent")), answers);
    const payments = reads.filter(isOfKind("payments"));
    const found = await Promise.all(payments.map((read) => readPayments(view, read)));
    for (const [n, read] of payments.entries()) answers.set(read, found[n] ?? []);
    for (const read of reads) {
      if (read.kind !== "authorization" || event.kind !== "transfer") continue;
      answers.set(read, [{ ...event, authorized: await isAuthorized(event) }]);
    }
    return reads.map((read) => answers.get(read) ?? []);
  };
}

const isOfKind =
  <Kind extends Read["kind"]>(kind: Kind) =>
  (read: Read): read is Extract<Read, { kind: Kind }> =>
    read.kind === kind;

type Answers = Map<Read, TransferEvent[]>;

/** Reads the transfers that wallets received. Wallets without known transfers are read together. */
async function readInflows(
  view: ChainView,
  reads: readonly TransfersToRead[],
  answers: Answers,
): Promise<void> {
  const fresh = reads.filter(({ after }) => after === null);
  const found = new Map<TransfersToRead, readonly TokenTransfer[]>();
  if (fresh.length > 0) {
    const last = Math.min(view.final, Math.max(...fresh.map(({ before }) => before.block)));
    const limit = Math.max(...fresh.map((it) => it.limit));
    const wallets = [...new Set(fresh.map(({ wallet }) => wallet as Address))];
    const first = await view.transfers.first("transfersTo", wallets, last, limit, view.retryRead);
    for (const read of fresh) found.set(read, first.get(read.wallet as Address) ?? []);
  }
  for (const read of reads) {
    const { wallet, after, before, limit } = read;
    const final = found.get(read) ?? (await readFurther(view, read));
    const wanted = [...final, ...recentOf(view, "to", wallet)]
      .filter((it) => isBetween(it, after, before))
      .slice(0, limit);
    const timed = await withTimes(view, wanted);
    answers.set(
      read,
      timed.map((it) => transferEvent(it, view.token)),
    );
  }
}

/**
 * Reads the transfers that a wallet received after a position: all of that block, and `limit` of the later
 * blocks. The answer may also have earlier transfers.
 */
async function readFurther(
  { final, transfers, retryRead }: ChainView,
  { wallet, known, after, before, limit }: TransfersToRead,
): Promise<readonly TokenTransfer[]> {
  const to = Math.min(final, before.block);
  const first = after?.block ?? 0;
  if (first > to) return [];
  const wallets = [wallet as Address];
  if (transfers.isKnown("transfersTo", wallet as Address, to, known + limit)) {
    const all = await transfers.first("transfersTo", wallets, to, known + limit, retryRead);
    return all.get(wallet as Address) ?? [];
  }
  return [
    ...(await transfers.to(wallets, { from: first, to: first }, Number.POSITIVE_INFINITY, retryRead)),
    ...(await transfers.to(wallets, { from: first + 1, to }, limit, retryRead)),
  ];
}

/** Finds the first `limit` transfers that wallets sent. A wallet that sent fewer gets no answer. */
async function readOutflows(
  view: ChainView,
  reads: readonly TransfersFromRead[],
  answers: Answers,
): Promise<void> {
  const unknown = reads.filter((read) => !sentFewer(view, read));
  for (const [limit, group] of Map.groupBy(unknown, (it) => it.limit)) {
    const upTo = Math.min(view.final, Math.max(...group.map(({ before }) => before.block)));
    const wallets = [...new Set(group.map(({ wallet }) => wallet as Address))];
    const final = await view.transfers.first("transfersFrom", wallets, upTo, limit, view.retryRead);
    for (const read of group) {
      const { wallet, before } = read;
      const all = [...(final.get(wallet as Address) ?? []), ...recentOf(view, "from", wallet)];
      const sent = all.filter((it) => isBetween(it, null, before));
      const last = sent[limit - 1];
      if (last === undefined) continue;
      const [timed] = await withTimes(view, [last]);
      // The derivation looks only at the last of them, so only its time is read.
      answers.set(
        read,
        sent.slice(0, limit).map((it) => transferEvent({ ...it, time: timed?.time ?? 0 }, view.token)),
      );
    }
  }
}

/** Whether it is known, without a request, that a wallet sent fewer transfers than a read asks for. */
function sentFewer(view: ChainView, { wallet, before, limit }: TransfersFromRead): boolean {
  const later = recentOf(view, "from", wallet).length;
  return view.transfers.sentFewer(wallet as Address, Math.min(view.final, before.block), limit - later);
}

/** The transfers that a wallet sent (`from`) or received (`to`) in the blocks that are not final yet. */
function recentOf({ recent }: ChainView, side: "from" | "to", wallet: string): TokenTransfer[] {
  return recent.flatMap(({ transfers }) => transfers.filter((it) => it[side] === wallet));
}

/**
 * Reads what wallets sent, up to the first transfer that is not empty. For most wallets this is their first
 * transfer.
 */
async function readFirstSpent(
  view: ChainView,
  reads: readonly FirstSpentRead[],
  answers: Answers,
): Promise<void> {
  const open: FirstSpentRead[] = [];
  for (const read of reads) {
    const known = knownSpent(view, read);
    if (known === undefined) open.push(read);
    else answers.set(read, await firstSpentEvents(view, known));
  }
  await readFirstSpentLists(view, open, answers);
}

/**
 * The first transfer that a wallet sent and that is not empty, as a list; undefined if the number of its transfers is not known
 * without a request.
 */
function knownSpent(view: ChainView, { wallet, before }: FirstSpentRead): TokenTransfer[] | undefined {
  const sent = view.transfers.sent(wallet as Address, Math.min(view.final, before.block));
  if (sent === undefined) return undefined;
  const recent = recentOf(view, "from", wallet);
  // The search may end with an empty transfer.
  if (sent.transfers + recent.length >= MAX_EMPTY) return undefined;
  const spent = sent.spent === null ? recent.filter(({ value }) => value > 0n) : [sent.spent];
  return spent.filter((it) => isBetween(it, null, before)).slice(0, 1);
}

async function firstSpentEvents(view: ChainView, spent: readonly TokenTransfer[]): Promise<TransferEvent[]> {
  const timed = await withTimes(view, spent);
  return timed.map((it) => transferEvent(it, view.token));
}

async function readFirstSpentLists(
  view: ChainView,
  reads: readonly FirstSpentRead[],
  answers: Answers,
): Promise<void> {
  let open = reads;
  for (let limit = 1; open.length > 0; limit = Math.min(MAX_EMPTY, limit * 10)) {
    const upTo = Math.min(view.final, Math.max(...open.map(({ before }) => before.block)));
    const wallets = [...new Set(open.map(({ wallet }) => wallet as Address))];
    const final = await view.transfers.first("transfersFrom", wallets, upTo, limit, view.retryRead);
    const further: FirstSpentRead[] = [];
    for (const read of open) {
      const old = final.get(read.wallet as Address) ?? [];
      const isWhole = old.length < limit || limit === MAX_EMPTY;
      const recent = isWhole ? recentOf(view, "from", read.wallet) : [];
      const sent = [...old, ...recent].filter((it) => isBetween(it, null, read.before));
      const at = sent.findIndex(({ value }, n) => value > 0n || n + 1 >= MAX_EMPTY);
      const [timed] = at < 0 ? [] : await withTimes(view, sent.slice(at, at + 1));
      const { time = 0 } = timed ?? {};
      const told = at < 0 ? [] : sent.slice(0, at + 1);
      if (at < 0 && !isWhole) further.push(read);
      else
        answers.set(
          read,
          told.map((it) => transferEvent({ ...it, time }, view.token)),
        );
    }
    open = further;
  }
}

/** Reads the transfers of one transaction that fit a receipt's payment. */
async function readPayments(view: ChainView, read: PaymentsRead): Promise<TransferEvent[]> {
  const { after, before, limit } = read;
  const tx = read.tx as Hex;
  const isWanted = (it: TokenTransfer) =>
    it.tx === tx &&
    it.from === read.from &&
    it.to === read.to &&
    it.value === read.value &&
    isBetween(it, after, before);
  const { transfers, authorizations } = await transactionOf(view, tx, before.block);
  const wanted = await withTimes(view, transfers.filter(isWanted).slice(0, limit));
  return wanted.map((it) => transferEvent(it, view.token, authorizes(authorizations, it)));
}

async function transactionOf(view: ChainView, tx: Hex, asOf: number) {
  for (const { transfers, authorizations } of view.recent) {
    if (transfers.some((it) => it.tx === tx)) return { transfers, authorizations };
  }
  const nothing = { transfers: [], authorizations: [] };
  const last = Math.min(asOf, view.final);
  // The chain has no final block yet that could contain the transaction.
  if (last < view.firstBlock) return nothing;
  return (await view.transfers.transaction(tx, last, view.retryRead)) ?? nothing;
}

/** Whether the token logged the sender's authorization right before a transfer (EIP-3009). */
export function authorizes(
  authorizations: readonly UsedAuthorization[],
  { block, log, tx, from }: Pick<TokenTransfer, "block" | "log" | "tx" | "from">,
): boolean {
  return authorizations.some(
    (it) => it.block === block && it.log === log - 1 && it.tx === tx && it.authorizer === from,
  );
}

/** Adds the time of its block to each transfer. For blocks that are not final yet the time is known. */
function withTimes(view: ChainView, transfers: readonly TokenTransfer[]) {
  const times = new Map(view.recent.map(({ block, time }) => [block, time]));
  const told = transfers.map((it) => ({ ...it, time: it.time ?? times.get(it.block) ?? null }));
  return view.transfers.withTimes(told, view.retryRead);
}
