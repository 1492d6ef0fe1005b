import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import type { SignedRecord } from "tallystick-protocol/records/record";
import * as z from "zod";
import { readServiceAnswer } from "../readServiceAnswer.ts";
import { type Fetch, requestService, ServiceError } from "../requestService.ts";
import { settledEntryForm } from "../settledEntryForm.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/** A receipt in the ledger: its entry hash and the tokens of its two ratings. */
export type SettledReceipt = { hash: string; ratingTokens: { buyer: string; seller: string } };

/** A receipt waiting to be submitted. `notBefore` is milliseconds since 1970. */
type Waiting = { record: SignedRecord; notBefore?: number };

export type ReceiptOutboxParameters = {
  store: KeyValueStore;
  /** The URL of the settlement service, or of the node in front of it. */
  baseUrl: string;
  fetch?: Fetch | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called when a receipt is in the ledger, also when it was there before. */
  onSettled: (key: string, settled: SettledReceipt) => Promise<void>;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
  /** Milliseconds until the first repetition; doubles up to a minute. Default 1,000. */
  retryMs?: number;
};

export type ReceiptOutbox = {
  /** Stores a receipt. From then on it will reach the ledger, even after a crash of this process. */
  add: (key: string, record: SignedRecord, notBefore?: number) => Promise<void>;
  /**
   * Submits one receipt now. Undefined when the service cannot be reached or refuses the receipt. Then the
   * receipt is tried again, or put aside.
   */
  submit: (key: string) => Promise<SettledReceipt | undefined>;
  /** Starts submitting what is waiting, in the background. */
  start: () => void;
  /** The number of receipts that wait. */
  waiting: () => Promise<number>;
  close: () => Promise<void>;
};

const MAX_WAIT_MS = 60_000;

/**
 * Receipts on their way to the ledger. Each is on the disk before it is sent. It is deleted only when the service has
 * answered that it is settled (201), or known already (200). A receipt that the service refuses finally is kept under
 * `refused/` with the reason, for a person.
 */
export function createReceiptOutbox(parameters: ReceiptOutboxParameters): ReceiptOutbox {
  const { store, baseUrl, fetch, now, onSettled, log, retryMs = 1_000 } = parameters;
  const underWay = new Map<string, Promise<SettledReceipt | undefined>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = retryMs;
  let closed = false;

  async function submitNow(key: string): Promise<SettledReceipt | undefined> {
    const waiting = await store.get<Waiting>(`outbox/${key}`);
    if (!waiting) return undefined;
    const { body, signer, signature } = waiting.record;
    try {
      const { text } = await requestService({
        baseUrl,
        path: "/v1/receipts",
        body: { body, signer, signature },
        fetch,
      });
      const settled = readAnswer(text);
      await onSettled(key, settled);
      await store.delete(`outbox/${key}`);
      wait = retryMs;
      return settled;
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.isRefusal) {
        plan();
        return undefined;
      }
      const { code, message } = error;
      log("The ledger refuses a receipt.", { key, code, message });
      await store.put(`refused/${key}`, { ...waiting, code, message });
      await store.delete(`outbox/${key}`);
      return undefined;
    }
  }

  const submit = (key: string) => {
    const running = underWay.get(key) ?? submitNow(key).finally(() => underWay.delete(key));
    underWay.set(key, running);
    return running;
  };

  async function flush(): Promise<void> {
    let left = 0;
    for (const path of await store.keys("outbox")) {
      if (closed) return;
      const key = path.slice("outbox/".length);
      try {
        const notBefore = (await store.get<Waiting>(path))?.notBefore ?? 0;
        const settled = notBefore > now() ? undefined : await submit(key);
        if (!settled) left++;
      } catch (error) {
        // One receipt that cannot be read must not stop the others.
        log("A receipt cannot be read or sent. It is tried again.", { key, error: String(error) });
        left++;
      }
    }
    if (left > 0) plan();
  }

  function flushOrPlan(): void {
    flush().catch((error) => {
      log("The outbox could not be read.", { error: String(error) });
      plan();
    });
  }

  function plan(): void {
    if (timer !== undefined || closed) return;
    timer = setTimeout(() => {
      timer = undefined;
      wait = Math.min(MAX_WAIT_MS, wait * 2);
      flushOrPlan();
    }, wait);
    // A seller that has nothing else to do may end: the outbox is on the disk.
    (timer as { unref?: () => void }).unref?.();
  }

  return {
    add: async (key, record, notBefore) => {
      await store.put(`outbox/${key}`, { record, ...(notBefore !== undefined && { notBefore }) });
      if (notBefore !== undefined) plan();
    },
    submit,
    start: flushOrPlan,
    waiting: async () => (await store.keys("outbox")).length,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await Promise.allSettled(underWay.values());
    },
  };
}

const settledReceiptForm = settledEntryForm.extend({
  rating_tokens: z.object({ buyer: z.string(), seller: z.string() }),
});

/** @throws ServiceError `unreadable_answer`: then nobody knows whether the receipt is in the ledger */
function readAnswer(text: string): SettledReceipt {
  const { hash, rating_tokens } = readServiceAnswer(settledReceiptForm, tryForeignJson(text));
  return { hash, ratingTokens: rating_tokens };
}
