import type { Address } from "tallystick-protocol/address";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { keccak256, toBytes } from "viem";
import { byPlace } from "../../../../indexer/logPort/checkLogs.ts";
import type { BlockRange, LogQuery, TokenLog } from "../../../../indexer/logPort/logPort.ts";
import { AUTHORIZATION_USED, KINDS, TRANSFER, topicOf } from "../../../../indexer/logPort/tokenLogs.ts";

export const TOKEN: Address = `0x${"70".repeat(20)}`;
export const OTHER_TOKEN: Address = `0x${"71".repeat(20)}`;
export const ZERO: Address = `0x${"00".repeat(20)}`;

export const wallet = (n: number): Address => `0x${"aa".repeat(16)}${n.toString(16).padStart(8, "0")}`;
const APPROVAL: Hex = keccak256(toBytes("Approval(address,address,uint256)"));
const hashOf = (...parts: unknown[]): Hex => keccak256(toBytes(parts.join("/")));

/** The content that a test gives to a block. */
export type Written =
  | { from: Address; to: Address; value: bigint; token?: Address }
  | { authorizer: Address; nonce: Hex }
  | { approver: Address };

export type ChainLog = {
  address: Address;
  topics: Hex[];
  data: Hex;
  block: number;
  blockHash: Hex;
  log: number;
  tx: Hex;
  time: number;
};

export type ChainBlock = {
  block: number;
  hash: Hex;
  parentHash: Hex;
  time: number;
  transactions: Hex[];
  logs: ChainLog[];
  bloom: Hex;
};

/**
 * A chain in memory. Block 0 has the deployment of the token, which logs nothing. Each pair of logs is one transaction.
 */
export class FakeChain {
  readonly blocks: ChainBlock[] = [];
  #moved: Moves = { blocks: 0, of: new Map() };

  constructor(blocks: readonly (readonly Written[])[] = [], salt = "") {
    for (const written of [[], ...blocks]) this.mine(written, salt);
  }

  get head(): number {
    return this.blocks.length - 1;
  }

  mine(written: readonly Written[], salt = ""): ChainBlock {
    const block = this.blocks.length;
    const parentHash = this.blocks.at(-1)?.hash ?? hashOf("genesis");
    const hash = hashOf("block", block, parentHash, salt, written.length);
    const time = 1_700_000_000 + 2 * block;
    const first = hashOf("transaction", block, salt);
    const logs = written.map((it, log): ChainLog => {
      const tx = log < 2 ? first : hashOf("transaction", block, salt, log >> 1);
      const isTransfer = "value" in it;
      const topics = topicsOf(it);
      const data: Hex = isTransfer ? `0x${it.value.toString(16).padStart(64, "0")}` : "0x";
      const address = (isTransfer && it.token) || TOKEN;
      return { address, topics, data, block, blockHash: hash, log, tx, time };
    });
    const transactions = [...new Set([first, ...logs.map(({ tx }) => tx)])];
    const made = { block, hash, parentHash, time, transactions, logs, bloom: bloomOf(logs) };
    this.blocks.push(made);
    return made;
  }

  /** The same chain up to a block, with other blocks after it. */
  fork(after: number, blocks: readonly (readonly Written[])[]): FakeChain {
    const other = new FakeChain();
    other.blocks.splice(0, 1, ...this.blocks.slice(0, after + 1));
    for (const written of blocks) other.mine(written, "fork");
    return other;
  }

  at(block: number): ChainBlock {
    return this.blocks[block] as ChainBlock;
  }

  /** A plain filter over the chain. It gives the expected logs of a port. */
  find({ kind, wallets }: LogQuery, { from, to }: BlockRange, limit = Infinity): TokenLog[] {
    const counts = new Map<string, number>();
    const { event, position } = KINDS[kind];
    const topics = new Set(wallets.map(topicOf));
    return this.blocks
      .slice(from, to + 1)
      .flatMap(({ logs }) => logs)
      .filter(({ address, topics: [first, ...rest] }) => {
        const word = rest[position - 1] as Hex;
        if (address !== TOKEN || first !== event || !topics.has(word)) return false;
        counts.set(word, (counts.get(word) ?? 0) + 1);
        return (counts.get(word) as number) <= limit;
      })
      .map(decoded)
      .sort(byPlace);
  }

  balanceOf(wallet: Address, at = this.head): bigint {
    if (this.#moved.blocks !== this.blocks.length) this.#moved = movesOf(this.blocks);
    const moves = this.#moved.of.get(wallet) ?? [];
    return moves.reduce((sum, { block, value }) => (block <= at ? sum + value : sum), 0n);
  }
}

function topicsOf(it: Written): Hex[] {
  if ("value" in it) return [TRANSFER, topicOf(it.from), topicOf(it.to)];
  if ("approver" in it) return [APPROVAL, topicOf(it.approver), topicOf(ZERO)];
  return [AUTHORIZATION_USED, topicOf(it.authorizer), it.nonce];
}

type Moves = { blocks: number; of: Map<Address, { block: number; value: bigint }[]> };

/** The changes of each wallet's balance, with their blocks. */
function movesOf(blocks: readonly ChainBlock[]): Moves {
  const of: Moves["of"] = new Map();
  for (const log of blocks.flatMap(({ logs }) => logs).filter(({ address }) => address === TOKEN)) {
    if (log.topics[0] === APPROVAL) continue;
    const transfer = decoded(log);
    if (!("value" in transfer)) continue;
    const { from, to, block, value } = transfer;
    for (const [wallet, moved] of [
      [from, -value],
      [to, value],
    ] as const) {
      const moves = of.get(wallet) ?? [];
      of.set(wallet, moves);
      moves.push({ block, value: moved });
    }
  }
  return { blocks: blocks.length, of };
}

/** A log in the form of the port. */
export function decoded({ topics, data, block, blockHash, log, tx, time }: ChainLog): TokenLog {
  const place = { block, blockHash, time, log, tx };
  const [event, first, second] = topics as [Hex, Hex, Hex];
  const address = (topic: Hex): Address => `0x${topic.slice(26)}`;
  return event === TRANSFER
    ? { ...place, from: address(first), to: address(second), value: BigInt(data) }
    : { ...place, authorizer: address(first), nonce: second };
}

const hashes = new Map<Hex, Uint8Array>();

function bloomOf(logs: readonly ChainLog[]): Hex {
  const bytes = new Uint8Array(256);
  for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const hash = hashes.get(value) ?? keccak256(value, "bytes");
    hashes.set(value, hash);
    for (const n of [0, 2, 4]) {
      const bit = (((hash[n] as number) << 8) | (hash[n + 1] as number)) & 2047;
      const byte = 255 - (bit >> 3);
      bytes[byte] = (bytes[byte] as number) | (1 << (bit & 7));
    }
  }
  return toHex(bytes);
}
