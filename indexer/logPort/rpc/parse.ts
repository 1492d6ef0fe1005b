import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError } from "../errors.ts";
import type { BlockHeader, LogKind, LogPlace, TokenLog } from "../logPort.ts";
import {
  authorizationOf,
  KINDS,
  type Spot,
  shown,
  TRANSFER,
  topicsOf,
  transferOf,
  word,
} from "../tokenLogs.ts";

/** A log in a node's form. Its shape is checked, but it is not decoded. */
export type RawLog = { address: string; topics: Hex[]; data: unknown; place: LogPlace; at: Spot };

/** A header, with more fields for checks. */
export type RawHeader = BlockHeader & { logsBloom: string | null; transactions: Hex[] };

const QUANTITY = /^0x[0-9a-f]{1,13}$/;

/** Reads a quantity (Ethereum JSON-RPC) that fits into a number. */
export function quantity(value: unknown, { source, field }: Spot): number {
  if (typeof value === "string" && QUANTITY.test(value)) return Number(value);
  throw new BadAnswerError(source, field, `must be a quantity in hexadecimal, not ${shown(value)}`);
}

export const hexOf = (quantity: number): Hex => `0x${quantity.toString(16)}`;

/** Reads a JSON object. */
export function membersOf(value: unknown, { source, field }: Spot): { [key: string]: unknown } {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new BadAnswerError(source, field, `must be an object, not ${shown(value)}`);
}

/** Reads a JSON array. */
export function itemsOf(value: unknown, { source, field }: Spot): unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadAnswerError(source, field, `must be a list, not ${shown(value)}`);
}

/**
 * Some nodes give 0 as the time of a log whose time they do not know (go-ethereum issue 32334). Then the time is null.
 *
 * @throws BadAnswerError; also for a log that is marked as removed, because only subscriptions may give such
 * logs
 */
export function rawLog(value: unknown, at: Spot): RawLog {
  const spot = (name: string) => ({ ...at, field: `${at.field}.${name}` });
  const log = membersOf(value, at);
  if (log.removed === true) throw new BadAnswerError(at.source, `${at.field}.removed`, "must not be true");
  const time = log.blockTimestamp;
  if (typeof log.address !== "string") {
    throw new BadAnswerError(
      at.source,
      `${at.field}.address`,
      `must be an address, not ${shown(log.address)}`,
    );
  }
  return {
    address: log.address.toLowerCase(),
    topics: topicsOf(log.topics, at),
    data: log.data,
    place: {
      block: quantity(log.blockNumber, spot("blockNumber")),
      blockHash: word(log.blockHash, spot("blockHash")),
      time: time === undefined || time === null ? null : quantity(time, spot("blockTimestamp")) || null,
      log: quantity(log.logIndex, spot("logIndex")),
      tx: word(log.transactionHash, spot("transactionHash")),
    },
    at,
  };
}

/** Decodes a log, and checks that it is of the token and of the event that was asked for. */
export function tokenLog(
  { address, topics, data, place, at }: RawLog,
  token: string,
  kind: LogKind,
): TokenLog {
  if (address !== token) {
    throw new BadAnswerError(at.source, `${at.field}.address`, `must be the token, not ${address}`);
  }
  const decode = KINDS[kind].event === TRANSFER ? transferOf : authorizationOf;
  return decode(place, topics, data, at);
}

export function headerOf(value: unknown, at: Spot): RawHeader {
  const spot = (name: string) => ({ ...at, field: `${at.field}.${name}` });
  const { number, hash, parentHash, timestamp, logsBloom, transactions } = membersOf(value, at);
  return {
    block: quantity(number, spot("number")),
    hash: word(hash, spot("hash")),
    parentHash: word(parentHash, spot("parentHash")),
    time: quantity(timestamp, spot("timestamp")),
    logsBloom: typeof logsBloom === "string" && /^0x[0-9a-f]{512}$/.test(logsBloom) ? logsBloom : null,
    transactions: itemsOf(transactions, spot("transactions")).map((hash, n) =>
      word(hash, spot(`transactions[${n}]`)),
    ),
  };
}
