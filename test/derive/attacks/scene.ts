import type { Reputation } from "tallystick-derive/reputation";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { ESCROW, EventLog, START, wallet } from "../eventLog.ts";

/** The wallet of an exchange, and the recipient of fees. */
export const EXCHANGE = wallet(900);
export const FEES = wallet(901);
export const OPERATOR = wallet(902);

/** An attack, or honest behaviour that looks like one, as a log. */
export type Attack = {
  /** Its name in the table. */
  name: string;
  /** The agent whose figures are shown. */
  seller: Address;
  /** The wallets of the attacker. */
  own: readonly Address[];
  log: EventLog;
  /** The expected figures, and their meaning in a sentence. */
  expected: Partial<Reputation>;
  outcome: string;
  /** The number of SLA breaches, if the attack is about them. */
  breaches?: number;
};

/**
 * The number of transfers that make a wallet busy (`hubTransfers`), how often money circulates, and the days between
 * repetitions in attacks of a month. All are much smaller on a real chain, where each block takes time.
 */
export type Scale = { busy: number; rounds: number; days: number };
export const FULL: Scale = { busy: 10_000, rounds: 1_000, days: 1 };

export type Cost = { locked: bigint; lost: bigint; wallets: number; seconds: number };

/** A log with a published exchange and a published recipient of fees. */
export function openLog(params: ConstructorParameters<typeof EventLog>[0] = {}): EventLog {
  return new EventLog({ hubs: [EXCHANGE], feeRecipients: [FEES], operator: OPERATOR, ...params });
}

/** `count` wallets, numbered from `first` on. */
export function wallets(first: number, count: number): Address[] {
  return Array.from({ length: count }, (_, n) => wallet(first + n));
}

/** Three capabilities, as Tier 2 requires. */
export const CAPABILITIES = ["text.translate", "code.review", "chart.generate"];

/** `count` hires over the three capabilities. Tier 2 requires at least ten. */
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
 * The cost of an attack, computed from its log: the money that is needed at the start, the part that strangers keep,
 * the wallets and the time. Gas is not included.
 */
export function costOf({ log, own }: Attack): Cost {
  const mine = new Set<string>(own);
  const balance = new Map<string, bigint>();
  const deficit = new Map<string, bigint>();
  /** The amount that strangers gave and did not get back. */
  const given = new Map<string, bigint>();
  let [lost, deposited] = [0n, 0n];
  let last = START;
  for (const event of log.events) {
    if (event.kind !== "transfer") continue;
    const { from, to } = event;
    const value = BigInt(event.value);
    if (from === EXCHANGE && mine.has(to)) {
      // Money that the attackers brought to the exchange can come back. Other money from the exchange is new, and counts
      // as needed if they spend it.
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
