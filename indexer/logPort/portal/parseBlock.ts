import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError } from "../errors.ts";
import type { BlockAt, LogKind, TokenLog } from "../logPort.ts";
import { naturalOf, objectOf } from "../readJson.ts";
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

/** One line of a portal's stream: a block, and the logs in it that were asked for. */
export type PortalBlock = BlockAt & { logs: TokenLog[] };

/** The fields that {@link parseBlock} reads. A portal refuses fields that it does not know. */
export const FIELDS = {
  block: { number: true, hash: true, timestamp: true },
  log: { logIndex: true, transactionHash: true, address: true, topics: true, data: true },
} as const;

/** @throws BadAnswerError, also when the line is not JSON */
export function parseBlock(line: string, source: string, token: Address, kind: LogKind): PortalBlock {
  const { header, logs = [] } = objectOf(parse(line, source), { source, field: "line" });
  const fields = objectOf(header, { source, field: "header" });
  const block = naturalOf(fields.number, { source, field: "header.number" });
  const hash = word(fields.hash, { source, field: "header.hash" });
  const time = naturalOf(fields.timestamp, { source, field: "header.timestamp" });
  if (!Array.isArray(logs)) throw new BadAnswerError(source, "logs", `must be a list, not ${shown(logs)}`);
  const place = { block, blockHash: hash, time };
  return {
    block,
    hash,
    logs: logs.map((log, n) => logOf(log, place, token, kind, { source, field: `logs[${n}]` })),
  };
}

type BlockPlace = { block: number; blockHash: Hex; time: number };

function logOf(value: unknown, block: BlockPlace, token: Address, kind: LogKind, at: Spot): TokenLog {
  const spot = (name: string) => ({ ...at, field: `${at.field}.${name}` });
  const log = objectOf(value, at);
  const address = typeof log.address === "string" ? log.address.toLowerCase() : log.address;
  if (address !== token) {
    throw new BadAnswerError(
      at.source,
      `${at.field}.address`,
      `must be the token, not ${shown(log.address)}`,
    );
  }
  const place = {
    ...block,
    log: naturalOf(log.logIndex, spot("logIndex")),
    tx: word(log.transactionHash, spot("transactionHash")),
  };
  const decode = KINDS[kind].event === TRANSFER ? transferOf : authorizationOf;
  return decode(place, topicsOf(log.topics, at), log.data, at);
}

function parse(line: string, source: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new BadAnswerError(source, "line", `must be JSON, not ${shown(line)}`);
  }
}
