import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import { askerOf, clientOf } from "tallystick-runtime/http/clientOf";
import type { ApiKeys } from "../keys/apiKeys.ts";
import { bearerKey } from "./requireBearer.ts";

/**
 * Requests a minute; 0 for no limit. But if `perKey` is 0, a request with a key counts for its address, like a request
 * without a key. `reads`: the points that the reads of an address may cost in a minute (see `readLimits`).
 * `trustedProxies`: how many proxies, one behind the other, are in front of this service and name the client in
 * `X-Forwarded-For`. 0 when clients connect directly and could write anything there.
 */
export type RateLimitConfig = {
  perKey: number;
  perAddress: number;
  reads: number;
  trustedProxies: number;
};

/** The window in which requests are counted, in seconds. */
export const RATE_WINDOW = 60;

/** The most callers that are counted at one time. With more callers, the oldest window is forgotten first. */
const MAX_CALLERS = 100_000;

/** How many requests each caller has left in its window. */
export class RateCounter {
  readonly #windows = new Map<string, { start: number; used: number }>();
  readonly #seconds: number;

  /** @param seconds how long a window is */
  constructor(seconds = RATE_WINDOW) {
    this.#seconds = seconds;
  }

  /** Counts a request, if it is allowed. `now` in seconds. */
  take(caller: string, limit: number, now: number): { allowed: boolean; remaining: number; reset: number } {
    let window = this.#windows.get(caller);
    if (!window || now >= window.start + this.#seconds || now < window.start) {
      // Deleted and set again, so that the map stays in the order in which the windows began.
      this.#windows.delete(caller);
      window = { start: now, used: 0 };
      this.#windows.set(caller, window);
      if (this.#windows.size > MAX_CALLERS) this.#forgetOldest();
    }
    const allowed = window.used < limit;
    if (allowed) window.used++;
    return {
      allowed,
      remaining: Math.max(0, limit - window.used),
      reset: Math.max(1, Math.ceil(window.start + this.#seconds - now)),
    };
  }

  /** Takes one counted request back. */
  giveBack(caller: string): void {
    const window = this.#windows.get(caller);
    if (window !== undefined && window.used > 0) window.used--;
  }

  #forgetOldest(): void {
    for (const caller of this.#windows.keys()) {
      this.#windows.delete(caller);
      return;
    }
  }
}

/** A question to the chain counts as this many requests more. RPCs limit such questions, and some take money for them. */
const REQUESTS_A_QUESTION = 4;

const questions = new AsyncLocalStorage<() => void>();

/** Counts a question to the chain for the client whose request needs its answer. */
export function countChainQuestion(): void {
  questions.getStore()?.();
}

/**
 * Limits requests for each key, and for each address without a known key. Answers carry `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-07). A request above the limit gets 429 with `Retry-After`.
 */
export function rateLimits(
  config: RateLimitConfig,
  { apiKeys, now }: { apiKeys: ApiKeys; now: () => number },
): MiddlewareHandler {
  const counter = new RateCounter();
  return async (c, next) => {
    const id = config.perKey > 0 ? await keyId(c, apiKeys) : undefined;
    const limit = id === undefined ? config.perAddress : config.perKey;
    if (limit === 0) return next();
    const caller = id === undefined ? `address ${clientAddress(c, config.trustedProxies)}` : `key ${id}`;
    const take = () => counter.take(caller, limit, now());
    const { allowed, remaining, reset } = take();
    let left = remaining;
    const headers = () => ({
      "ratelimit-policy": `${limit};w=${RATE_WINDOW}`,
      ratelimit: `limit=${limit}, remaining=${left}, reset=${reset}`,
    });
    if (!allowed) {
      throw new TallystickError({
        code: "rate_limited",
        message: `More than ${limit} requests a minute by this ${id === undefined ? "address" : "key"}.`,
        hint: `Wait ${reset} seconds.`,
        details: { headers: { ...headers(), "retry-after": String(reset) } },
      });
    }
    const count = () => {
      for (let n = 0; n < REQUESTS_A_QUESTION; n++) left = take().remaining;
    };
    await questions.run(count, next);
    for (const [name, value] of Object.entries(headers())) c.res.headers.set(name, value);
  };
}

/** The id of the known key that a request carries. */
async function keyId(c: Context, apiKeys: ApiKeys): Promise<string | undefined> {
  const key = bearerKey(c.req.header("authorization"));
  return key === undefined ? undefined : (await apiKeys.find(key))?.id;
}

const DAY = 86_400;

/**
 * Limits how often in a day an address may do something that costs the operator money or space. Wallets cost nothing,
 * so a limit for each wallet alone would stop no stranger. A known key has no such limit. If `perAddress` is 0, no
 * address has such a limit.
 *
 * @param limit `done` completes the error text "This address has … within a day"
 * @returns a function that counts one time. It gives the function that takes the count back, and throws TallystickError
 * `rate_limited` beyond `most`
 */
export function limitADay(
  { most, done }: { most: number; done: string },
  { apiKeys, now, rateLimits: { perAddress, trustedProxies } }: DailyLimitParameters,
): (c: Context) => Promise<() => void> {
  const counter = new RateCounter(DAY);
  return async (c) => {
    if (perAddress === 0 || (await keyId(c, apiKeys)) !== undefined) return () => {};
    const address = clientAddress(c, trustedProxies);
    const { allowed, reset } = counter.take(address, most, now());
    if (allowed) return () => counter.giveBack(address);
    throw new TallystickError({
      code: "rate_limited",
      message: `This address has ${done} within a day, which is the limit.`,
      hint: `Wait ${reset} seconds, or ask the operator for a key.`,
      details: { headers: { "retry-after": String(reset) } },
    });
  };
}

type DailyLimitParameters = { apiKeys: ApiKeys; now: () => number; rateLimits: RateLimitConfig };

/** The caller's address. Without a connection, as in tests, only the headers name it. */
function clientAddress(c: Context, trustedProxies: number): string {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage };
  const headers = { "x-forwarded-for": c.req.header("x-forwarded-for") };
  return clientOf(askerOf({ ...(incoming && { socket: incoming.socket }), headers }), trustedProxies);
}
