import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError } from "./errors.ts";
import type { LogKind, LogPlace, TokenTransfer, UsedAuthorization } from "./logPort.ts";

/** keccak256 of `Transfer(address,address,uint256)` (ERC-20). */
export const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** keccak256 of `AuthorizationUsed(address,bytes32)` (EIP-3009). */
export const AUTHORIZATION_USED: Hex = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";

/** For each kind: its event, the topic with the wallet, and the field for the wallet. */
export const KINDS = {
  transfersTo: { event: TRANSFER, position: 2, wallet: "to" },
  transfersFrom: { event: TRANSFER, position: 1, wallet: "from" },
  authorizationsBy: { event: AUTHORIZATION_USED, position: 1, wallet: "authorizer" },
} as const satisfies { [kind in LogKind]: { event: Hex; position: 1 | 2; wallet: string } };

/** An address as a topic: 32 bytes. */
export const topicOf = (wallet: Address): Hex => `0x${"0".repeat(24)}${wallet.slice(2)}`;

const WORD = /^0x[0-9a-f]{64}$/;
const PADDED = /^0x0{24}[0-9a-f]{40}$/;

/** A source and a place in its answer, for a {@link BadAnswerError}. */
export type Spot = { source: string; field: string };

/** Reads 32 bytes in hexadecimal, in upper or lower case. */
export function word(value: unknown, { source, field }: Spot): Hex {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (typeof text === "string" && WORD.test(text)) return text as Hex;
  throw new BadAnswerError(source, field, `must be 32 bytes in hexadecimal, not ${shown(value)}`);
}

/** Decodes a `Transfer`. */
export function transferOf(place: LogPlace, topics: readonly Hex[], data: unknown, at: Spot): TokenTransfer {
  expectTopics(topics, 3, TRANSFER, at);
  return {
    ...place,
    from: address(topics[1], 1, at),
    to: address(topics[2], 2, at),
    value: BigInt(word(data, { ...at, field: `${at.field}.data` })),
  };
}

/** Decodes an `AuthorizationUsed`. */
export function authorizationOf(
  place: LogPlace,
  topics: readonly Hex[],
  data: unknown,
  at: Spot,
): UsedAuthorization {
  expectTopics(topics, 3, AUTHORIZATION_USED, at);
  if (data !== "0x") throw new BadAnswerError(at.source, `${at.field}.data`, "must be empty");
  return { ...place, authorizer: address(topics[1], 1, at), nonce: topics[2] as Hex };
}

/** Reads the topics of a log, of 32 bytes each. */
export function topicsOf(value: unknown, at: Spot): Hex[] {
  if (!Array.isArray(value) || value.length > 4) {
    throw new BadAnswerError(at.source, `${at.field}.topics`, "must be a list of at most 4");
  }
  return value.map((it, n) => word(it, { ...at, field: `${at.field}.topics[${n}]` }));
}

/** A wrong value as short text for an error. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function expectTopics(topics: readonly Hex[], count: number, event: Hex, { source, field }: Spot): void {
  if (topics.length !== count) {
    throw new BadAnswerError(source, `${field}.topics`, `must be ${count}, not ${topics.length}`);
  }
  if (topics[0] !== event) {
    throw new BadAnswerError(source, `${field}.topics[0]`, `must be the event asked for, ${event}`);
  }
}

function address(topic: Hex | undefined, n: number, { source, field }: Spot): Address {
  if (topic === undefined || !PADDED.test(topic)) {
    throw new BadAnswerError(source, `${field}.topics[${n}]`, `must be an address, not ${shown(topic)}`);
  }
  return `0x${topic.slice(26)}`;
}
