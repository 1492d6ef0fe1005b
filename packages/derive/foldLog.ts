import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { apply } from "./apply.ts";
import { type ApplyOptions, openNotes } from "./applyContext.ts";
import type { DeriveEvent } from "./events.ts";
import { type LogPart, readParts } from "./logParts.ts";
import { LogReader } from "./logReader.ts";
import { MemoryStore } from "./memoryStore.ts";

export type FoldLogOptions = ApplyOptions & {
  /** The token of the log, for a log whose first line does not name it. Transfers of other tokens are left out. */
  token?: Address;
  /** Stop after this block. */
  atBlock?: number;
  /** Called after each event that was applied, with the rows as they are then. */
  onEvent?: (event: DeriveEvent, store: MemoryStore) => void;
  /**
   * Gives the same parts in the same order, perhaps later. While earlier parts are applied, it may prepare what the
   * events of the next parts need.
   */
  ahead?: (parts: AsyncIterable<LogPart>) => AsyncIterable<LogPart>;
};

export type DerivedLog = {
  store: MemoryStore;
  events: number;
  /**
   * The tokens whose transfers were left out, each with the number of these transfers. There are at most {@link
   * OTHER_TOKENS} of them.
   */
  otherTokens: Map<string, number>;
  /**
   * The records whose signer is a contract, according to the log, which also says whether the contract accepted the
   * signature. Only the chain can confirm it.
   */
  contractSigned: number;
};

/** A log with more tokens is probably a mistake, and nobody reads a longer list. */
const OTHER_TOKENS = 10;

/**
 * Folds a whole event log, one JSON line for each event, into rows in memory. Lines are read in small parts, so memory
 * grows with the state and not with the log.
 *
 * @param texts the log, each text one or more whole lines
 * @throws TallystickError naming the line that cannot be read, is out of order, or has a transfer of an unknown token
 */
export async function foldLog(
  texts: AsyncIterable<string>,
  { token, atBlock, onEvent, ahead, ...options }: FoldLogOptions = {},
): Promise<DerivedLog> {
  const derived: DerivedLog = {
    store: new MemoryStore(),
    events: 0,
    otherTokens: new Map(),
    contractSigned: 0,
  };
  const reader = new LogReader(token);
  const notes = openNotes(derived.store);
  const parts = readParts(texts, reader);
  for await (const { first, events, failure } of ahead?.(parts) ?? parts) {
    for (const [n, event] of events.entries()) {
      if (event === undefined) continue;
      if (atBlock !== undefined && event.block > atBlock) return derived;
      if ("token" in event && event.kind !== "params" && event.token !== reader.token) {
        noteOther(derived, event.token);
        continue;
      }
      try {
        apply(derived.store, event, options, notes);
      } catch (cause) {
        throw contradicts(first + n, cause);
      }
      derived.events++;
      if (event.kind === "record" && event.erc1271 !== undefined && !options.trustSignatures)
        derived.contractSigned++;
      onEvent?.(event, derived.store);
    }
    if (failure !== undefined) throw failure;
  }
  return derived;
}

/** A message for people about everything that was left out, or believed without a check, one line for each. */
export function notesOf({ otherTokens, contractSigned }: DerivedLog): string[] {
  const left = [...otherTokens].map(
    ([token, count]) => `note: left out ${count} transfers of ${token}, which is not the token of this log`,
  );
  if (contractSigned === 0) return left;
  return [
    ...left,
    `note: ${contractSigned} records have contracts as signers, by the word of the log; their signatures were not checked`,
  ];
}

function noteOther({ otherTokens }: DerivedLog, token: string): void {
  const count = otherTokens.get(token);
  if (count !== undefined || otherTokens.size < OTHER_TOKENS) otherTokens.set(token, (count ?? 0) + 1);
}

function contradicts(line: number, cause: unknown): TallystickError {
  return new TallystickError({
    code: "contradictory_event",
    message: `Line ${line} contradicts the lines above it: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "The log is incomplete or was edited; export it again from a node.",
    cause,
  });
}
