import { type DeriveEvent, isPast } from "tallystick-derive/events";

/** After every log of a block. */
const LAST_SLOT = 99_999_999;

/** No ledger has this many entries. */
const LAST_SEQ = Number.MAX_SAFE_INTEGER;

/**
 * The position of an event in the log, as text that sorts like (block, log, seq). The parameters come before the
 * first log of their block. A tick comes after the last log. The width is fixed, so that every collation agrees.
 */
export function positionKey(event: DeriveEvent): string {
  const slot = event.kind === "tick" ? LAST_SLOT : event.kind === "params" ? 0 : event.log + 1;
  const seq = event.kind === "record" ? event.seq : 0;
  return [digits(event.block, 12), digits(slot, 8), digits(seq, 16)].join("/");
}

/** A line of the log, with its key. */
export type KeyedLine = { position: string; event: DeriveEvent };

/** Lines with their keys. */
export function keyedLines(events: readonly DeriveEvent[]): KeyedLine[] {
  const keys = lineKeys(events);
  return events.map((event, n) => ({ event, position: keys[n] as string }));
}

/**
 * The keys of lines of the log, in order. A line about the past (`history`, `count`) is stored right before the event
 * that needs it. Its key is the largest key below that event's key, with a number at the end.
 */
function lineKeys(events: readonly DeriveEvent[]): string[] {
  let past = 0;
  const keys: string[] = [];
  for (const event of events) {
    if (isPast(event)) {
      past++;
      continue;
    }
    const key = positionKey(event);
    for (let n = 0; n < past; n++) keys.push(`${keyBefore(event)}/${digits(n, 8)}`);
    keys.push(key);
    past = 0;
  }
  return keys;
}

/** The largest key below an event's key. An event that needs the past has a slot above 0. */
function keyBefore(event: DeriveEvent): string {
  const slot = event.kind === "tick" ? LAST_SLOT : event.log + 1;
  const [before, seq] =
    event.kind === "record" && event.seq > 0 ? [slot, event.seq - 1] : [slot - 1, LAST_SEQ];
  return [digits(event.block, 12), digits(before, 8), digits(seq, 16)].join("/");
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
