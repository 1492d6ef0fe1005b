import type { Reputation } from "tallystick-derive/reputation";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { ESCROW, EventLog, START, wallet } from "../eventLog.ts";

/** Whom the money of an exchange comes from, and who gets fees. */
export const EXCHANGE = wallet(900);
export const FEES = wallet(901);
export const OPERATOR = wallet(902);

/** An attack, or an honest course of things that looks like one, as a log. */
export type Attack = {
  /** How it stands in the table. */
  name: string;
  /** Whose figures are shown. */
  seller: Address;
  /** The wallets of whoever does it. */
  own: readonly Address[];
  log: EventLog;
  /** What is expected, and what it means, in a sentence. */
  expected: Partial<Reputation>;
  outcome: string;
  /** How many breaches of SLAs there are, where that is what it is about. */
  breaches?: number;
};

/**
 * How many transfers make a wallet busy (`hubTransfers`), how often money goes round, and each how many days where that takes a
 * month: on a real chain all far less often, since each block takes its time there.
 */
export type Scale = { busy: number; rounds: number; days: number };
export const FULL: Scale = { busy: 10_000, rounds: 1_000, days: 1 };

export type Cost = { locked: bigint; lost: bigint; wallets: number; seconds: number };

/** A log with a published exchange and a published recipient of fees. */
export function openLog(params: ConstructorParameters<typeof EventLog>[0] = {}): EventLog {
  return new EventLog({ hubs: [EXCHANGE], feeRecipients: [FEES], operator: OPERATOR, ...params });
}

/** Wallets by number, `count` of them. */
export function wallets(first: number, count: number): Address[] {
  return Array.from({ length: count }, (_, n) => wallet(first + n));
}

/** Three, as Tier 2 asks for. */
export const CAPABILITIES = ["text.translate", "code.review", "chart.generate"];

/** Ten hires and more, over three capabilities: what Tier 2 asks for. */
export function hires(
  log: EventLog,
  seller: Address,
  buyers: readonly Address[],
  count: number,
  amount: number,
) {
  for (let n = 0; n < count; n++) {
    const capability = CAPABILITIES[n % 3] ?? "";
    log.after(2).hire(seller, buyers[n % buyers.length] as Address, { amount, capability });
  }
}

/**
 * What an attack takes, from its log: the money that has to be there at the outset, what of it ends with strangers, the wallets and the
 * time. Gas is not in it.
 */
export function costOf({ log, own }: Attack): Cost {
  const mine = new Set<string>(own);
  const balance = new Map<string, bigint>();
  const deficit = new Map<string, bigint>();
  /** What strangers gave and did not get back. */
  const given = new Map<string, bigint>();
  let [lost, deposited] = [0n, 0n];
  let last = START;
  for (const event of log.events) {
    if (event.kind !== "transfer") continue;
    const { from, to } = event;
    const value = BigInt(event.value);
    if (from === EXCHANGE && mine.has(to)) {
      // What was brought there comes out again. Beyond that it is the owner's own money, needed as far as it is spent.
      const back = value < deposited ? value : deposited;
      deposited -= back;
      balance.set(to, (balance.get(to) ?? 0n) + back);
    }
    if (from === EXCHANGE || from === ZERO_ADDRESS || (!mine.has(from) && !mine.has(to))) continue;
    if (to === EXCHANGE) deposited += value;
    last = event.time;
    const after = (balance.get(from) ?? 0n) - value;
    balance.set(from, after);
    balance.set(to, (balance.get(to) ?? 0n) + value);
    if (mine.has(from) && -after > (deficit.get(from) ?? 0n)) deficit.set(from, -after);
    if (!mine.has(from) && mine.has(to) && from !== ESCROW) given.set(from, (given.get(from) ?? 0n) + value);
    if (mine.has(from) && !mine.has(to) && to !== EXCHANGE && to !== ESCROW && to !== ZERO_ADDRESS) {
      const owed = given.get(to) ?? 0n;
      const back = value < owed ? value : owed;
      given.set(to, owed - back);
      lost += value - back;
    }
    if (from === ESCROW && !mine.has(to)) lost += value;
  }
  const locked = [...deficit.values()].reduce((sum, it) => sum + it, 0n);
  return { locked, lost, wallets: own.length, seconds: last - START };
}
