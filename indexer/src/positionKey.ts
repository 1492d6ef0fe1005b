import type { DeriveEvent } from "tallystick-derive/events";

/** Behind every log of a block. */
const LAST_SLOT = 99_999_999;

/**
 * Where an event stands in the log, as text that sorts like (block, log, seq): the parameters come before the first log of
 * their block, a tick after the last. Fixed width, so that every collation agrees.
 */
export function positionKey(event: DeriveEvent): string {
  const slot = event.kind === "tick" ? LAST_SLOT : event.kind === "params" ? 0 : event.log + 1;
  const seq = event.kind === "record" ? event.seq : 0;
  return [digits(event.block, 12), digits(slot, 8), digits(seq, 16)].join("/");
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
