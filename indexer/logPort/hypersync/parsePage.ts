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

/** The fields that {@link parsePage} reads. */
export const FIELDS = {
  block: ["number", "hash", "timestamp"],
  log: [
    "block_number",
    "block_hash",
    "log_index",
    "transaction_hash",
    "address",
    "topic0",
    "topic1",
    "topic2",
    "topic3",
    "data",
  ],
};

/** The content of one answer of a HyperSync server. */
export type HypersyncPage = {
  /** The first block that was not read. */
  next: number;
  /** The last block that the server knows. */
  height: number;
  blocks: ReadonlyMap<number, BlockAt & { time: number }>;
  logs: TokenLog[];
  /** The hash of the block before the first that was read, if the server tells it. */
  parentHash: Hex | null;
};

/** @throws BadAnswerError naming the field */
export function parsePage(answer: unknown, source: string, token: Address, kind: LogKind): HypersyncPage {
  const at = (field: string): Spot => ({ source, field });
  const { data, next_block, archive_height, rollback_guard } = objectOf(answer, at("answer"));
  const parts = listOf(data, at("data")).map((part, n) => objectOf(part, at(`data[${n}]`)));
  const blocks = new Map<number, BlockAt & { time: number }>();
  for (const [n, part] of parts.entries()) {
    for (const [m, value] of listOf(part.blocks ?? [], at(`data[${n}].blocks`)).entries()) {
      const field = `data[${n}].blocks[${m}]`;
      const { number, hash, timestamp } = objectOf(value, at(field));
      const block = naturalOf(number, at(`${field}.number`));
      const header = {
        block,
        hash: word(hash, at(`${field}.hash`)),
        time: timeOf(timestamp, at(`${field}.timestamp`)),
      };
      if ((blocks.get(block)?.hash ?? header.hash) !== header.hash)
        throw new BadAnswerError(source, `${field}.hash`, "differs from another of the same block");
      blocks.set(block, header);
    }
  }
  const logs = parts.flatMap((part, n) =>
    listOf(part.logs ?? [], at(`data[${n}].logs`)).map((value, m) =>
      logOf(value, blocks, token, kind, at(`data[${n}].logs[${m}]`)),
    ),
  );
  const guard = rollback_guard == null ? null : objectOf(rollback_guard, at("rollback_guard"));
  return {
    next: naturalOf(next_block, at("next_block")),
    height: naturalOf(archive_height, at("archive_height")),
    blocks,
    logs,
    parentHash: guard === null ? null : word(guard.first_parent_hash, at("rollback_guard.first_parent_hash")),
  };
}

function logOf(
  value: unknown,
  blocks: ReadonlyMap<number, BlockAt & { time: number }>,
  token: Address,
  kind: LogKind,
  spot: Spot,
): TokenLog {
  const at = (name: string): Spot => ({ ...spot, field: `${spot.field}.${name}` });
  const log = objectOf(value, spot);
  const address = typeof log.address === "string" ? log.address.toLowerCase() : log.address;
  if (address !== token)
    throw new BadAnswerError(
      spot.source,
      `${spot.field}.address`,
      `must be the token, not ${shown(log.address)}`,
    );
  const block = naturalOf(log.block_number, at("block_number"));
  const blockHash = word(log.block_hash, at("block_hash"));
  const header = blocks.get(block);
  if (header !== undefined && header.hash !== blockHash)
    throw new BadAnswerError(spot.source, `${spot.field}.block_hash`, "is not that of its block");
  const place = {
    block,
    blockHash,
    time: header?.time ?? null,
    log: naturalOf(log.log_index, at("log_index")),
    tx: word(log.transaction_hash, at("transaction_hash")),
  };
  const topics = [log.topic0, log.topic1, log.topic2, log.topic3].filter((it) => it != null);
  const decode = KINDS[kind].event === TRANSFER ? transferOf : authorizationOf;
  return decode(place, topicsOf(topics, spot), log.data ?? "0x", spot);
}

/** Depending on its version, the server gives a time in hexadecimal or as a number. */
function timeOf(value: unknown, at: Spot): number {
  if (typeof value === "string" && /^0x[0-9a-f]{1,12}$/i.test(value)) return Number(value);
  return naturalOf(value, at);
}

function listOf(value: unknown, { source, field }: Spot): unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadAnswerError(source, field, `must be a list, not ${shown(value)}`);
}
