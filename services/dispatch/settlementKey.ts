import { TallystickError } from "tallystick-protocol/errors";
import type { Log } from "tallystick-runtime/stderrLog";
import { abortable } from "tallystick-sdk/deadline";
import { requestService, ServiceError } from "tallystick-sdk/requestService";
import type { Settlement } from "./triage/settlementRules.ts";

/**
 * How long settlement is not asked again, in milliseconds: after it took the key, refused the key, and did not answer. A
 * refusal counts for less than the time between two searches for open tasks, so each search asks.
 */
const TAKEN_MS = 60_000;
const REFUSED_MS = 20_000;
const SILENT_MS = 5_000;
/** How long settlement may take to answer whether it takes the key, in milliseconds. */
const ASK_MS = 10_000;

/** Settlement does not take the dispatcher's key. No model is asked until it does. Code `settlement_key_refused`. */
export class SettlementKeyRefused extends TallystickError {
  constructor() {
    super({
      code: "settlement_key_refused",
      message: "Settlement refuses the key of this dispatcher, so no answer could be settled.",
      hint: "The dispatcher's operator sets DISPATCH_SETTLEMENT_KEY to a key that settlement knows. Open tasks then go on.",
    });
  }
}

export type SettlementKey = {
  /** Whether settlement refused the key when it was asked last. */
  isRefused: () => boolean;
  /**
   * Asks settlement whether it takes the key, unless it said so a short time ago. If settlement does not answer, the
   * key counts as before.
   *
   * @throws SettlementKeyRefused; the signal's reason
   */
  require: (signal?: AbortSignal) => Promise<void>;
  /** The same service, each answer of which is noted if it says something about the key. */
  watch: (settlement: Settlement) => Settlement;
};

/** Whether settlement refused a request because of its key. A proxy that forbids a request has no code. */
export function isKeyRefusal(error: ServiceError): boolean {
  return error.status === 401 || (error.status === 403 && error.isRefusal);
}

/**
 * What settlement says about the dispatcher's key.
 *
 * @param now milliseconds since 1970
 */
export function settlementKey(settlement: Settlement, now: () => number, log: Log): SettlementKey {
  let known: { isTaken: boolean; at: number } | undefined;
  let silentAt: number | undefined;
  let isRefused = false;
  let asking: Promise<void> | undefined;

  function learn(isTaken: boolean): void {
    known = { isTaken, at: now() };
    silentAt = undefined;
    if (isRefused === isTaken)
      log(isTaken ? "Settlement takes the key again." : "Settlement refuses the key. No model is asked.");
    isRefused = !isTaken;
  }

  async function ask(): Promise<void> {
    const { baseUrl, apiKey, fetch } = settlement;
    try {
      await requestService({ baseUrl, path: "/v1/reviews", apiKey, fetch, timeoutMs: ASK_MS });
      learn(true);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (isRefused || isKeyRefusal(error)) learn(false);
      else silentAt = now();
    }
  }

  // A clock that was set back does not make an answer count for longer.
  function isWithin(ms: number, at: number | undefined): boolean {
    return at !== undefined && Math.abs(now() - at) < ms;
  }

  return {
    isRefused: () => isRefused,
    require: async (signal) => {
      const isKnown = isWithin(known?.isTaken ? TAKEN_MS : REFUSED_MS, known?.at);
      if (!isKnown && !isWithin(SILENT_MS, silentAt)) {
        asking ??= ask().finally(() => {
          asking = undefined;
        });
        await (signal ? abortable(asking, signal) : asking);
      }
      if (isRefused) throw new SettlementKeyRefused();
    },
    watch: (watched) => ({
      ...watched,
      fetch: async (input, init) => {
        const answer = await (watched.fetch ?? globalThis.fetch)(input, init);
        if (!new Headers(init?.headers).has("authorization")) return answer;
        if (answer.status === 401) learn(false);
        // It may have another reason. So the key is asked for before the next call of a model.
        else if (answer.status === 403) [known, silentAt] = [undefined, undefined];
        // Other routes also answer without a key.
        else if (answer.ok && /\/v1\/(?:settle|reviews)(?:$|[/?])/.test(input)) learn(true);
        return answer;
      },
    }),
  };
}
