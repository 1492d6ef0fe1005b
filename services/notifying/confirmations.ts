import { randomBytes } from "node:crypto";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { Log } from "tallystick-runtime/stderrLog";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import type { LocalAccount } from "viem";
import { forEachHost } from "./forEachHost.ts";
import type { Subscription } from "./notifierNode.ts";
import { type Post, reasonOf } from "./post.ts";

/** How many subscriptions are asked in one round, and how many of one host. */
const MAX_PER_ROUND = 64;
const MAX_PER_HOST = 2;

/** The number of hosts that are asked at the same time. */
const HOSTS_AT_ONCE = 16;

/** Seconds until an address is asked again: after the first time, the second and so on. The last value repeats. */
const PAUSES = [60, 600, 3_600, 86_400];

export type Confirmations = {
  /** Asks some of the addresses that have not confirmed yet. Returns the subscriptions whose address has confirmed. */
  confirmed: (subscriptions: readonly Subscription[], signal: AbortSignal) => Promise<Subscription[]>;
};

/**
 * Asks each address whether it wants notices, before anything else is sent there. The server at the address has to send
 * back a number that only this server received. So nobody can have notices sent to a stranger.
 */
export function createConfirmations(parameters: {
  store: KeyValueStore;
  account: LocalAccount;
  ledger: (signal?: AbortSignal) => Promise<LedgerName>;
  post: Post;
  /** Unix seconds. */
  now: () => number;
  log: Log;
}): Confirmations {
  const { store, account, ledger, post, now, log } = parameters;
  const known = new Set<string>();
  const asked = new Map<string, { times: number; nextAt: number }>();

  async function isKnown(key: string): Promise<boolean> {
    if (!known.has(key) && (await store.get(key)) !== undefined) known.add(key);
    return known.has(key);
  }

  async function ask(subscription: Subscription, signal: AbortSignal): Promise<void> {
    const { id, buyer, url } = subscription;
    const key = keyOf(subscription);
    const { times } = asked.get(key) ?? { times: 0 };
    asked.set(key, { times: times + 1, nextAt: now() + (PAUSES[Math.min(times, PAUSES.length - 1)] ?? 0) });
    const challenge = randomBytes(16).toString("hex");
    const type = "notice_confirmation";
    const body = { subscription: id, buyer, url, challenge, issued_at: Math.floor(now()) };
    const text = JSON.stringify(await signRecord({ type, ledger: await ledger(signal), body, account }));
    const answer = await post({ url, text, id: challenge, isRead: true }, signal).catch((error) => {
      log("A receiver of notices could not be asked.", { subscription: id, reason: reasonOf(error) });
      return undefined;
    });
    if (answer === undefined || answer.status < 200 || answer.status > 299) return;
    const said = (tryForeignJson(answer.text) as { challenge?: unknown } | null | undefined)?.challenge;
    if (said !== challenge && answer.text.trim() !== challenge) return;
    await store.put(key, { at: Math.floor(now()) });
    known.add(key);
    asked.delete(key);
  }

  return {
    confirmed: async (subscriptions, signal) => {
      const open: Subscription[] = [];
      for (const it of subscriptions) {
        const nextAt = asked.get(keyOf(it))?.nextAt ?? 0;
        // A time that is further ahead than the longest pause was set by a wrong clock.
        const isDue = nextAt <= now() || nextAt > now() + Math.max(...PAUSES);
        if (!(await isKnown(keyOf(it))) && isDue) open.push(it);
      }
      // The addresses that were asked least often come first, so addresses that never answer block no others.
      open.sort((a, b) => (asked.get(keyOf(a))?.times ?? 0) - (asked.get(keyOf(b))?.times ?? 0));
      const limits = { most: MAX_PER_HOST, atOnce: HOSTS_AT_ONCE };
      await forEachHost(open.slice(0, MAX_PER_ROUND), limits, async (it) => {
        signal.throwIfAborted();
        await ask(it, signal);
        return true;
      });
      const keys = new Set(subscriptions.map(keyOf));
      for (const key of asked.keys()) if (!keys.has(key)) asked.delete(key);
      return subscriptions.filter((it) => known.has(keyOf(it)));
    },
  };
}

/** A cancelled subscription that comes again is asked again. */
function keyOf({ id, since }: Subscription): string {
  return `confirmed/${id}-${since}`;
}
