import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Answer } from "./askGraphql.ts";
import { NodeError } from "./nodeError.ts";
import type { Meta } from "./nodeState.ts";
import { noteNodeState } from "./nodeStateStore.ts";

/**
 * The state of a page's query. `last` is the latest answer. The reader can still read it while the page asks again, and
 * after a failure.
 */
export type Asked<Data> =
  | { state: "loading"; last: null }
  | { state: "ready"; last: Answer<Data>; isAsking: boolean }
  | { state: "failed"; error: NodeError; last: Answer<Data> | null };

/** Answers of earlier pages, so that going back shows them at once. The oldest is dropped first. */
const kept = new Map<string, Answer<unknown>>();
const MAX_KEPT = 30;

/** An answer older than this is asked for again when the reader comes back to the page. */
const FRESH_MS = 30_000;

/**
 * Asks when the page opens, when `key` changes, and when the reader comes back after a while.
 *
 * @param key the key of the query; the same key has the same answer
 * @param ask sends the query in one request
 * @param options.isOneList another key asks for another part of the same list. The present answer stays until the new
 * one comes
 */
export function useAnswer<Data>(
  key: string,
  ask: (signal: AbortSignal) => Promise<Answer<Data>>,
  { isOneList = false } = {},
): Asked<Data> & { again: () => void } {
  const [asked, setAsked] = useState<Asked<Data>>(() => begun<Data>(key));
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  const again = useCallback(() => setRound((it) => it + 1), []);

  // A new `round` sends the same query again.
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setAsked((before) => begun<Data>(key, isOneList ? before.last : null));
    asking
      .current(control.signal)
      .then((answer) => {
        if (control.signal.aborted) return;
        keep(key, answer);
        noteNodeState({ asOf: answer.asOf, at: answer.at, ...metaOf(answer.data) });
        setAsked({ state: "ready", last: answer, isAsking: false });
      })
      .catch((cause: unknown) => {
        if (control.signal.aborted) return;
        const error = cause instanceof NodeError ? cause : unexpected(cause);
        setAsked({ state: "failed", error, last: (kept.get(key) as Answer<Data> | undefined) ?? null });
        if (error.retryAfter !== null) timer = setTimeout(again, error.retryAfter * 1_000);
      });
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key, round, isOneList]);

  useEffect(() => {
    const onBack = () => {
      const at = kept.get(key)?.at ?? 0;
      if (document.visibilityState === "visible" && Date.now() - at > FRESH_MS) again();
    };
    document.addEventListener("visibilitychange", onBack);
    return () => document.removeEventListener("visibilitychange", onBack);
  }, [key, again]);

  return { ...asked, again };
}

function begun<Data>(key: string, before: Answer<Data> | null = null): Asked<Data> {
  const last = (kept.get(key) as Answer<Data> | undefined) ?? before;
  return last === null ? { state: "loading", last } : { state: "ready", last, isAsking: true };
}

function keep(key: string, answer: Answer<unknown>): void {
  kept.delete(key);
  kept.set(key, answer);
  for (const [oldest] of kept) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
}

function metaOf(data: unknown): { meta?: Meta } {
  const { meta } = Object(data) as { meta?: Meta };
  return meta === undefined || meta === null ? {} : { meta };
}

function unexpected(cause: unknown): NodeError {
  return new NodeError({
    code: "unexpected",
    message: cause instanceof Error ? cause.message : String(cause),
    hint: "This page made a mistake. Reload it; if it stays, please report it.",
  });
}
