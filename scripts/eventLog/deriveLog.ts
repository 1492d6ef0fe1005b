import { sha256HexByNode } from "../../indexer/sha256HexByNode.ts";
import { apply } from "../../indexer/src/derive/apply.ts";
import type { DeriveEvent } from "../../indexer/src/derive/events.ts";
import { MemoryStore } from "../../indexer/src/derive/memoryStore.ts";
import { parseEvent } from "../../indexer/src/derive/parseEvent.ts";
import type { Address } from "../../protocol/address.ts";
import { InvalidInputError, TallystickError } from "../../protocol/errors.ts";
import { recoverByWasm } from "../../protocol/signatures/recoverByWasm.ts";

export type DeriveLogOptions = {
  /** Transfers of other tokens are left out; without it, every transfer of the log counts. */
  token?: Address;
  /** Stop after this block. */
  atBlock?: number;
  /** Accept the signatures that are present, for synthetic logs. */
  trustSignatures?: boolean;
};

export type DerivedLog = {
  store: MemoryStore;
  events: number;
  /** Tokens of transfers that were left out, with how many. */
  otherTokens: Map<string, number>;
};

/**
 * Folds a whole event log, one JSON line an event, into rows in memory. Lines are read as they come, so what is kept grows
 * with the state and not with the log.
 *
 * @param texts the log, each text one or more whole lines
 * @throws TallystickError naming the line that cannot be read or stands out of order
 */
export async function deriveLog(
  texts: AsyncIterable<string>,
  { token, atBlock, trustSignatures = false }: DeriveLogOptions = {},
): Promise<DerivedLog> {
  const derived: DerivedLog = { store: new MemoryStore(), events: 0, otherTokens: new Map() };
  const options = { trustSignatures, recover: await recoverByWasm(), sha256Hex: sha256HexByNode };
  let line = 0;
  let last: DeriveEvent | undefined;
  for await (const text of texts) {
    for (const lineText of text.split("\n")) {
      line++;
      if (lineText.trim() === "") continue;
      const event = parseLine(lineText, line);
      if (last !== undefined && !isBefore(last, event)) throw outOfOrder(line);
      last = event;
      if (atBlock !== undefined && event.block > atBlock) return derived;
      if (event.kind === "transfer" && token !== undefined && event.token !== token) {
        derived.otherTokens.set(event.token, (derived.otherTokens.get(event.token) ?? 0) + 1);
        continue;
      }
      try {
        const applied = apply(derived.store, event, options);
        if (applied instanceof Promise) await applied;
      } catch (cause) {
        throw contradicts(line, cause);
      }
      derived.events++;
    }
  }
  return derived;
}

function parseLine(text: string, line: number): DeriveEvent {
  try {
    return parseEvent(text);
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause;
    const [issue] = cause.issues;
    throw new TallystickError({
      code: "invalid_event",
      message: `Line ${line} is not an event: ${[issue?.field, issue?.message].filter(Boolean).join(" ")}.`,
      hint: "An event log is what `tallystick export` writes: one JSON object a line.",
      cause,
    });
  }
}

/** Order: block, log, seq; a block's tick is its last event. */
function isBefore(a: DeriveEvent, b: DeriveEvent): boolean {
  if (a.block !== b.block) return a.block < b.block;
  const [logA, logB] = [logOf(a), logOf(b)];
  if (logA !== logB) return logA < logB;
  if (a.kind === "record" && b.kind === "record") return a.seq < b.seq;
  // The parameters a log starts with share the position of whatever comes first.
  return a.kind === "params" && b.kind !== "params";
}

function logOf(event: DeriveEvent): number {
  return event.kind === "tick" ? Number.POSITIVE_INFINITY : event.log;
}

function outOfOrder(line: number): TallystickError {
  return new TallystickError({
    code: "events_out_of_order",
    message: `Line ${line} stands before or at the place of the line above it.`,
    hint: "Events are in the order of block, log and seq, and the tick of a block is its last.",
  });
}

function contradicts(line: number, cause: unknown): TallystickError {
  return new TallystickError({
    code: "contradictory_event",
    message: `Line ${line} contradicts the lines above it: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "The log is incomplete or was edited; export it again from a node.",
    cause,
  });
}
