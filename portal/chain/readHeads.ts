import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import { type LedgerCode, ledgerCode } from "tallystick-protocol/ledger/ledgerCode";
import { askRpc } from "./askRpc.ts";
import { sourceName } from "./sourceUrl.ts";

/** The head of a ledger in the contract, at one block. */
export type ChainHead = {
  blockHash: Hex;
  /** The block's own time, unix seconds. */
  blockTime: number;
  size: number;
  root: Hex;
  /** When it was anchored, unix seconds. */
  time: number;
  /** Number of anchors; 0 for a ledger that nobody opened or anchored. */
  anchors: number;
  isForked: boolean;
  /** How the contract's code compares with the released code; "none" if there is no contract at the address. */
  code: LedgerCode | "none";
};

/** The answer of one source, or the reason why there is none. */
export type Reading = { source: string } & ({ head: ChainHead } | { problem: string });

export type Readings = {
  /** The block that the sources were asked about. */
  block: number;
  /** Whether `block` is the wanted block. True too if no particular block was wanted. */
  isWanted: boolean;
  /** The newest block that all sources have, without the sources that do not answer. 0 if none answers. */
  tip: number;
  /** The number of blocks from `tip` to the newest block that any source has. */
  spread: number;
  readings: Reading[];
};

/** Names an AnchoredLedger contract and one of its ledgers. */
export type LedgerPlace = { chainId: number; contract: string; ledger: string };

type Tip = { url: string; tip: number } | { url: string; problem: string };

/**
 * Reads a ledger's head from each source, all at the same block. This is the wanted block if every source can read
 * the head there. Otherwise it is the newest block that all answering sources have.
 *
 * @param urls JSON-RPC addresses, as {@link sourceUrlOf} gives them
 */
export async function readHeads(
  urls: readonly string[],
  place: LedgerPlace,
  wanted: number | null,
  signal: AbortSignal,
): Promise<Readings> {
  const tips = await Promise.all(urls.map((url) => tipOf(url, place.chainId, signal)));
  const known = tips.flatMap((it) => ("tip" in it ? [it.tip] : []));
  const last = known.length === 0 ? 0 : Math.min(...known);
  const spread = known.length === 0 ? 0 : Math.max(...known) - last;
  const isReached = wanted !== null && wanted <= last;
  const first = isReached ? await readAll(tips, place, wanted, signal) : null;
  // A source may have deleted the state of older blocks. Then the newest common block is used.
  if (first !== null && wanted !== null && first.every((it) => "head" in it))
    return { block: wanted, isWanted: true, tip: last, spread, readings: first };
  const readings = await readAll(tips, place, last, signal);
  return { block: last, isWanted: wanted === null, tip: last, spread, readings };
}

async function tipOf(url: string, chainId: number, signal: AbortSignal): Promise<Tip> {
  try {
    const [chain, tip] = await Promise.all([
      askRpc(url, "eth_chainId", [], signal).then(count),
      askRpc(url, "eth_blockNumber", [], signal).then(count),
    ]);
    return chain === chainId
      ? { url, tip }
      : { url, problem: `It leads to chain ${chain}, and this ledger is on chain ${chainId}.` };
  } catch (error) {
    signal.throwIfAborted();
    return { url, problem: (error as Error).message };
  }
}

async function readAll(
  tips: readonly Tip[],
  place: LedgerPlace,
  block: number,
  signal: AbortSignal,
): Promise<Reading[]> {
  return await Promise.all(
    tips.map(async (it): Promise<Reading> => {
      const source = sourceName(it.url);
      if ("problem" in it) return { source, problem: it.problem };
      try {
        return { source, head: await headAt(it.url, place, block, signal) };
      } catch (error) {
        signal.throwIfAborted();
        return { source, problem: (error as Error).message };
      }
    }),
  );
}

const NO_CONTRACT = {
  size: 0,
  root: ZERO_HASH,
  time: 0,
  anchors: 0,
  isForked: false,
  code: "none",
} as const satisfies Partial<ChainHead>;

async function headAt(
  url: string,
  { chainId, contract, ledger }: LedgerPlace,
  number: number,
  signal: AbortSignal,
): Promise<ChainHead> {
  const at = `0x${number.toString(16)}`;
  const call = (signature: string) =>
    askRpc(url, "eth_call", [{ to: contract, data: `${selector(signature)}${ledger.slice(2)}` }, at], signal);
  const [found, head, forked, code] = await Promise.all([
    askRpc(url, "eth_getBlockByNumber", [at, false], signal),
    call("head(bytes32)"),
    call("isEquivocated(bytes32)"),
    askRpc(url, "eth_getCode", [contract, at], signal),
  ]);
  const { hash, timestamp } = Object(found) as { hash?: unknown; timestamp?: unknown };
  const block = { blockHash: word(hash), blockTime: count(timestamp) };
  // An address without code has no head. This is an answer and not a problem, so that the reader sees when the
  // sources differ.
  if (code === "0x") return { ...block, ...NO_CONTRACT };
  const [root = "", size = "", time = "", anchors = ""] = words(head, 4);
  const [isForked = ""] = words(forked, 1);
  return {
    ...block,
    root: `0x${root}`,
    size: count(`0x${size}`),
    time: count(`0x${time}`),
    anchors: count(`0x${anchors}`),
    isForked: BigInt(`0x${isForked}`) !== 0n,
    code: ledgerCode(bytes(code), { chainId, address: contract as Hex }),
  };
}

function selector(signature: string): string {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(signature)).subarray(0, 4))}`;
}

function words(answer: unknown, expected: number): string[] {
  if (typeof answer !== "string" || !new RegExp(`^0x[0-9a-f]{${64 * expected}}$`).test(answer))
    throw new Error("Its answer is not that of an AnchoredLedger. Is the contract's address right?");
  return answer.slice(2).match(/.{64}/g) ?? [];
}

function bytes(value: unknown): Hex {
  if (typeof value !== "string" || !/^0x(?:[0-9a-f]{2})*$/.test(value))
    throw new Error("It answers something that is not a contract's code.");
  return value as Hex;
}

function word(value: unknown): Hex {
  if (typeof value !== "string" || !/^0x[0-9a-f]{64}$/.test(value))
    throw new Error("It does not know the block that it was asked about.");
  return value as Hex;
}

function count(value: unknown): number {
  const number = typeof value === "string" && /^0x[0-9a-f]{1,64}$/.test(value) ? Number(BigInt(value)) : -1;
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error("It answers something that is not a number.");
  return number;
}
