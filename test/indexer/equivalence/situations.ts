import type { DeriveEvent, HistoryEvent, TransferEvent } from "tallystick-derive/events";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { isMember } from "./crowd.ts";

/** How often each situation happened in the logs of a chain. */
export type Situations = Record<string, number>;

type Moved = TransferEvent | HistoryEvent;

/**
 * The smallest transfer that funds, and the smallest share (1/4) that it must have of all money that its receiver has
 * got. Records of parameters may change both.
 */
const FUNDING = 100_000n;
const SHARE = 4n;

/**
 * Counts the situations in the logs that nodes read, not in the generated logs.
 *
 * @param all the log with all transfers
 * @param few the log with only the transfers that matter
 * @param store the rows that are derived from the logs
 * @param logs the first and last block of each generated log
 */
export function situationsOf(
  all: readonly DeriveEvent[],
  few: readonly DeriveEvent[],
  store: MemoryStore,
  logs: readonly { from: number; to: number }[],
): Situations {
  const history = few.filter((it) => it.kind === "history");
  const late = new Set(history.filter(({ to }) => store.get("agent", to) !== null).map(({ to }) => to));
  const counts = (side: string) => few.filter((it) => it.kind === "count" && it.side === side).length;
  const ends = (is: (it: DeriveEvent) => boolean) => all.filter(is).length;
  return {
    "agents that register after money reached them": late.size,
    "legs of three steps": threeSteps(few, store),
    "hires paid to a payee": hires(store).filter(({ payee, seller }) => payee !== seller).length,
    "listings that are retired": [...store.rows("listing").values()].filter(({ live }) => !live).length,
    "receipts before their payment": receiptsFirst(all, store),
    "escrows released": ends((it) => it.kind === "escrow.released" && it.toBuyer === "0"),
    "escrows split": ends((it) => it.kind === "escrow.released" && it.toBuyer !== "0"),
    "escrows refunded": ends((it) => it.kind === "escrow.refunded"),
    "escrows timed out": ends((it) => it.kind === "escrow.timedOut"),
    "senders that reach the count": counts("out"),
    "receivers that reach the count": fullReceivers(all, few),
    "logs of which 99 % of transfers concern nobody": logs.filter((it) => isCrowded(all, few, it)).length,
    transfers: ends((it) => it.kind === "transfer"),
    "transfers that matter": few.filter(isMoved).length,
  };
}

/**
 * Counts the wallets of the relevant log that have received `hubTransfers` transfers, by the parameters of that moment.
 * On a chain the relevant log does not say so, because the first parameters allow 10,000.
 */
function fullReceivers(all: readonly DeriveEvent[], few: readonly DeriveEvent[]): number {
  const wallets = new Set(few.filter(isMoved).map(({ to }) => to));
  const received = new Map<string, number>();
  const full = new Set<string>();
  let most = Number.POSITIVE_INFINITY;
  for (const event of all) {
    if (event.kind === "params") most = event.params.hubTransfers;
    if (event.kind === "record" && event.type === "params" && event.error === undefined) {
      most = Number(event.body.hubTransfers ?? 10_000);
    }
    if (event.kind !== "transfer") continue;
    const count = (received.get(event.to) ?? 0) + 1;
    received.set(event.to, count);
    if (count >= most && wallets.has(event.to)) full.add(event.to);
  }
  return full.size;
}

function isMoved(event: DeriveEvent): event is Moved {
  return event.kind === "transfer" || event.kind === "history";
}

/** Direct hires with their receipt's payee. */
function hires(store: MemoryStore) {
  return [...store.rows("hire").values()].flatMap((hire) => {
    const receipt = hire.receipt === null ? null : store.get("receipt", hire.receipt);
    if (receipt === null || hire.escrowId !== null) return [];
    return [{ seller: hire.seller, payee: receipt.payee, tx: hire.tx, receipt: receipt.id }];
  });
}

function receiptsFirst(all: readonly DeriveEvent[], store: MemoryStore): number {
  const records = new Map<string, number>();
  const payments = new Map<string, number>();
  for (const [n, event] of all.entries()) {
    if (event.kind === "record" && !records.has(event.hash)) records.set(event.hash, n);
    if (event.kind === "transfer") payments.set(event.tx, n);
  }
  return hires(store).filter(({ tx, receipt }) => (records.get(receipt) ?? 0) < (payments.get(tx) ?? 0))
    .length;
}

/** Counts the ways of money to an agent that have exactly three transfers, through wallets that are no agents. */
function threeSteps(few: readonly DeriveEvent[], store: MemoryStore): number {
  const moved = few.filter(isMoved);
  const ordered = moved.toSorted((a, b) => a.block - b.block || a.log - b.log);
  const received = new Map<string, bigint>();
  /** For each wallet, the number of transfers of the longest way of funding into it, up to three. */
  const steps = new Map<string, number>();
  let found = 0;
  for (const { from, to, value } of ordered) {
    const amount = BigInt(value);
    const sum = (received.get(to) ?? 0n) + amount;
    received.set(to, sum);
    if (amount < FUNDING || amount * SHARE < sum) continue;
    const isAgent = store.get("agent", from) !== null;
    const length = Math.min(3, 1 + (isAgent ? 0 : (steps.get(from) ?? 0)));
    steps.set(to, Math.max(length, steps.get(to) ?? 0));
    if (length === 3 && store.get("agent", to) !== null) found++;
  }
  return found;
}

function isCrowded(
  all: readonly DeriveEvent[],
  few: readonly DeriveEvent[],
  { from, to }: { from: number; to: number },
): boolean {
  const within = (events: readonly DeriveEvent[]) =>
    events.filter((it) => isMoved(it) && it.block >= from && it.block <= to).length;
  const [whole, kept] = [within(all), within(few)];
  return whole > 1_000 && kept * 100 <= whole;
}

/** The log without the transfers between two members of the crowd. */
export function withoutCrowd(events: readonly DeriveEvent[]): DeriveEvent[] {
  return events.filter((it) => it.kind !== "transfer" || !isMember(it.from) || !isMember(it.to));
}
