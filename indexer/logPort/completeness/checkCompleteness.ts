import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { walletOf } from "../checkLogs.ts";
import { TooManyLogsError } from "../errors.ts";
import type { BalanceSource, BlockAt, BlockRange, Call, LogPort, TokenTransfer } from "../logPort.ts";
import { sampleOf } from "./sampleOf.ts";

/** Transfers of a wallet in one direction: their number, and their sum in atomic units. */
export type Flow = { count: number; sum: bigint };

/** A wallet whose transfers are complete up to a block, with its balance there. */
export type Verified = { block: number; balance: bigint };

/** A wallet whose transfers do not add up to its balance. */
export type Gap = {
  wallet: Address;
  /** The block of the comparison, and the block from which on the transfers were counted. */
  block: number;
  blockHash: Hex;
  since: number;
  /** The source of the transfers, and the source of the balance. */
  source: string;
  balanceSource: string;
  /** Amounts received and sent since then, and the balance now, in atomic units. */
  received: bigint;
  sent: bigint;
  balance: bigint;
  /** The balance minus the sum of the transfers. Above zero, transfers to the wallet are missing. */
  difference: bigint;
};

/** The missing amount in words: `5 atomic units that it received`. */
export function missingOf({ difference }: Pick<Gap, "difference">): string {
  const [amount, what] = difference > 0n ? [difference, "received"] : [-difference, "sent"];
  return `${amount} atomic units that it ${what}`;
}

export type Completeness = {
  at: BlockAt;
  /** Wallets whose transfers were compared. Those without a gap are in `verified`. */
  checked: Address[];
  /** Wallets that were left out because more than `hubTransfers` transfers reached or left them. */
  hubs: Address[];
  gaps: Gap[];
  /** Give it to the next check, which then begins after these blocks. */
  verified: Map<Address, Verified>;
};

export type CompletenessOptions = {
  port: Pick<LogPort, "name" | "transfersTo" | "transfersFrom">;
  balances: BalanceSource;
  /** The token's first block. */
  firstBlock: number;
  /** All watched wallets, in the order in which they were added. */
  watched: readonly Address[];
  /** Wallets that are checked in any case: the new ones. */
  fresh?: readonly Address[];
  round: number;
  rounds: number;
  hubTransfers: number;
  /** A final block; default the finalized head of the balance source. */
  at?: BlockAt;
  verified?: ReadonlyMap<Address, Verified>;
  /**
   * The stored transfers to the wallets in a range. Without it the port is read again. Then the source is
   * checked, and not the stored rows.
   */
  received?: (
    wallets: readonly Address[],
    range: BlockRange,
    call: Call,
  ) => Promise<ReadonlyMap<Address, Flow>>;
};

/** Wallets that are read together: an RPC accepts this many in one request. */
const GROUP = 1_000;

/**
 * Compares the transfers of some wallets with their balances at a final block. It cannot find gaps that do
 * not change the sum: transfers of nothing, and missing transfers that cancel each other.
 *
 * @throws LogSourceError; InvalidInputError when `rounds` is not a whole number above zero, or `round` is not
 * a whole number from zero on
 */
export async function checkCompleteness(options: CompletenessOptions, call: Call): Promise<Completeness> {
  const { watched, fresh = [], round, rounds, balances } = options;
  expectWhole("rounds", rounds, 1);
  expectWhole("round", round, 0);
  const at = options.at ?? (await balances.finalizedHead(call));
  const sample = [...new Set([...fresh, ...sampleOf(watched, round, rounds)])];
  const verified = new Map(options.verified);
  const result: Completeness = { at, checked: [], hubs: [], gaps: [], verified };
  // Wallets that were verified at the same block need the same range.
  const starts = Map.groupBy(sample, (wallet) => verified.get(wallet)?.block ?? options.firstBlock - 1);
  for (const [last, wallets] of starts) {
    if (last >= at.block) continue;
    for (let n = 0; n < wallets.length; n += GROUP) {
      const range = { from: last + 1, to: at.block };
      await checkOrHalve(options, wallets.slice(n, n + GROUP), range, result, call);
    }
  }
  return result;
}

/**
 * Checks wallets. If they together have more transfers than one call may return, they are checked in two
 * halves.
 */
async function checkOrHalve(
  ...[options, wallets, range, result, call]: Parameters<typeof checkGroup>
): Promise<void> {
  try {
    await checkGroup(options, wallets, range, result, call);
  } catch (error) {
    if (!(error instanceof TooManyLogsError) || wallets.length === 1) throw error;
    const half = Math.ceil(wallets.length / 2);
    await checkOrHalve(options, wallets.slice(0, half), range, result, call);
    await checkOrHalve(options, wallets.slice(half), range, result, call);
  }
}

async function checkGroup(
  options: CompletenessOptions,
  wallets: readonly Address[],
  range: BlockRange,
  result: Completeness,
  call: Call,
): Promise<void> {
  const { port, balances, hubTransfers } = options;
  const { at, verified } = result;
  const limited = { ...call, limit: hubTransfers + 1 };
  const received =
    (await options.received?.(wallets, range, call)) ??
    flows(await port.transfersTo(wallets, range, limited), "transfersTo");
  const sent = flows(await port.transfersFrom(wallets, range, limited), "transfersFrom");
  const amounts = await balances.balances(wallets, at, call);
  for (const [n, wallet] of wallets.entries()) {
    const [into, out] = [received.get(wallet) ?? NOTHING, sent.get(wallet) ?? NOTHING];
    if (into.count > hubTransfers || out.count > hubTransfers) {
      result.hubs.push(wallet);
      continue;
    }
    result.checked.push(wallet);
    const balance = amounts[n] as bigint;
    const difference = balance - ((verified.get(wallet)?.balance ?? 0n) + into.sum - out.sum);
    if (difference === 0n) {
      verified.set(wallet, { block: at.block, balance });
      continue;
    }
    result.gaps.push({
      wallet,
      block: at.block,
      blockHash: at.hash,
      since: range.from,
      source: port.name,
      balanceSource: balances.name,
      received: into.sum,
      sent: out.sum,
      balance,
      difference,
    });
  }
}

const NOTHING: Flow = { count: 0, sum: 0n };

function flows(
  transfers: readonly TokenTransfer[],
  kind: "transfersTo" | "transfersFrom",
): Map<Address, Flow> {
  const found = new Map<Address, Flow>();
  for (const transfer of transfers) {
    const wallet = walletOf(transfer, kind);
    const { count, sum } = found.get(wallet) ?? NOTHING;
    found.set(wallet, { count: count + 1, sum: sum + transfer.value });
  }
  return found;
}

function expectWhole(field: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new InvalidInputError({ issues: [{ field, message: `must be a whole number from ${least} on` }] });
}
