import type { TimelineRow } from "../rows/timeline.ts";

/** The position before the first event. It sorts before all others, and a client may begin from it. */
export const BEGINNING = "0";

/**
 * How many digits of a block's hash a position has. More would not fit into the reason of a closed WebSocket, which
 * contains a position and has at most 123 bytes (RFC 6455 §5.5).
 */
const HASH_DIGITS = 16;

const POSITION = /^\d{12}\/\d{8}\/\d{16}\/\d{6}(\/[0-9a-f]{16})?$/;

/**
 * The position of an event, as clients get it: the event's place in the log, and the beginning of a block's hash. When
 * a client comes back with its position, the node can see whether the client's events still stand.
 */
export function positionOf({ position, blockHash }: Pick<TimelineRow, "position" | "blockHash">): string {
  return `${position}/${blockHash.slice(2, 2 + HASH_DIGITS)}`;
}

/** Whether a client may give this as its position. The hash may be missing. */
export function isPosition(text: string): boolean {
  return text === BEGINNING || POSITION.test(text);
}

/** The place in the log of a client's position, without the hash. */
export function placeOf(position: string): string {
  return position.split("/", 4).join("/");
}

/** The block of a position's event. */
export function blockOf(position: string): number {
  return Number(position.slice(0, 12));
}
