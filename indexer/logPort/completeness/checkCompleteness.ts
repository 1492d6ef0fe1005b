import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { walletOf } from "../checkLogs.ts";
import { TooManyLogsError } from "../errors.ts";
import type { BalanceSource, BlockAt, BlockRange, Call, LogPort, TokenTransfer } from "../logPort.ts";
import { sampleOf } from "./sampleOf.ts";

/** Transfers of a wallet in one direction: how many, and their sum in atomic units. */
export type Flow = { count: number; sum: bigint };

/** What is known of a wallet that was found complete: its balance at that block. */
export type Verified = { block: number; balance: bigint };

/** A wallet whose transfers do not add up to its balance. */
export type Gap = {
  wallet: Address;
  /** The block at which they were compared, and from which on they were counted. */
  block: number;
  blockHash: Hex;
  since: number;
  /** Who told the transfers, and who the balance. */
  source: string;
  balanceSource: string;
  /** Atomic units: what came in and went out since, and the balance now. */
  received: bigint;
  sent: bigint;
  balance: bigint;
  /** The balance minus what the transfers make of it: above zero, transfers to the wallet are missing. */
  difference: bigint;
};

export type Completeness = {
  at: BlockAt;
  /** Wallets whose transfers were compared. Those without a gap are in `verified`. */
  checked: Address[];
  /** Wallets that were left out because more than `hubTransfers` transfers reached or left them. */
  hubs: Address[];
  gaps: Gap[];
  /** To be given to the next check: it then begins behind these blocks. */
  verified: Map<Address, Verified>;
};

export type CompletenessOptions = {
  port: Pick<LogPort, "name" | "transfersTo" | "transfersFrom">;
  balances: BalanceSource;
  /** The token's first block. */
  firstBlock: number;
  /** All watched wallets, in the order in which they became it. */
  watched: readonly Address[];
  /** Wallets to be checked now whosever turn it is: the new ones. */
  fresh?: readonly Address[];
  round: number;
  rounds: number;
  hubTransfers: number;
  /** A final block. Without it the balance source's finalized head. */
  at?: BlockAt;
  verified?: ReadonlyMap<Address, Verified>;
  /**
   * What the wallets received in a range, as it is kept. Without it the port is asked again, which says of the source what it gives,
   * not of the rows what they hold.
   */
  received?: (
    wallets: readonly Address[],
    range: BlockRange,
    call: Call,
  ) => Promise<ReadonlyMap<Address, Flow>>;
};

/** Wallets read at once: what one request of an RPC takes. */
const GROUP = 1_000;

/**
 * Holds the transfers of some wallets against their balances at a final block. What adds up in spite of a gap is not seen: transfers of
 * nothing, and missing ones that cancel each other.
 *
 * @throws LogSourceError; InvalidInputError when `rounds` is no whole number above zero, or `round` none from zero on
 */
export async function checkCompleteness(options: CompletenessOptions, call: Call): Promise<Completeness> {
  const { watched, fresh = [], round, rounds, balances } = options;
  expectWhole("rounds", rounds, 1);
  expectWhole("round", round, 0);
  const at = options.at ?? (await balances.finalizedHead(call));
  const sample = [...new Set([...fresh, ...sampleOf(watched, round, rounds)])];
  const verified = new Map(options.verified);
  const result: Completeness = { at, checked: [], hubs: [], gaps: [], verified };
  // Those that were verified at one block have one range to read.
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

/** Where wallets have more transfers together than one call may gather, half of them are read at a time. */
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
