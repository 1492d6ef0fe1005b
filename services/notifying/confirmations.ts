import { randomBytes } from "node:crypto";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import { inTurnsOfSites } from "tallystick-runtime/http/inTurnsOfSites";
import type { Log } from "tallystick-runtime/stderrLog";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";
import type { LocalAccount } from "viem";
import { forEachHost } from "./forEachHost.ts";
import type { Subscription } from "./notifierNode.ts";
import { type Post, reasonOf } from "./post.ts";

/**
 * How many subscriptions are asked in one round. First come those that were asked least often, then those of the rest
 * that have waited longest. `MAX_PER_HOST` is the most of one host.
 */
const LEAST_ASKED = 48;
const LONGEST_WAITING = 16;
const MAX_PER_HOST = 2;

/** The most pairs of a host and a buyer for which the number of questions is remembered. */
const MAX_COUNTS = 20_000;

/**
 * How many confirmations are kept. A node keeps half as many subscriptions. A renewed subscription needs a new
 * confirmation, so a stranger could fill the disk with old confirmations. After each `NEW_CONFIRMED` new confirmations,
 * old ones are deleted.
 */
const MAX_CONFIRMED = 20_000;
const NEW_CONFIRMED = 1_000;

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
  const asked = new Map<string, { times: number; at: number; nextAt: number }>();
  const counts = createCounts();
  /** How many confirmations were stored since old ones were deleted. */
  let stored = NEW_CONFIRMED;
  const waitsSince = (it: Subscription): number => asked.get(keyOf(it))?.at ?? it.since;

  async function isKnown(key: string): Promise<boolean> {
    // If its confirmation is damaged, an address is asked again.
    if (!known.has(key) && (await unlessDamaged(store.get(key))) !== undefined) known.add(key);
    return known.has(key);
  }

  async function ask(subscription: Subscription, signal: AbortSignal): Promise<void> {
    const { id, buyer, url } = subscription;
    const key = keyOf(subscription);
    const { times } = asked.get(key) ?? { times: 0 };
    const pause = PAUSES[Math.min(times, PAUSES.length - 1)] ?? 0;
    asked.set(key, { times: times + 1, at: now(), nextAt: now() + pause });
    counts.add(subscription);
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
    stored++;
  }

  /**
   * Deletes confirmations of subscriptions that are not listed. The confirmation of the oldest subscription is deleted
   * first.
   */
  async function forget(listed: ReadonlySet<string>): Promise<void> {
    if (stored < NEW_CONFIRMED) return;
    stored = 0;
    const keys = await store.keys("confirmed");
    if (keys.length <= MAX_CONFIRMED) return;
    const others = keys.filter((key) => !listed.has(key)).sort((a, b) => sinceOf(a) - sinceOf(b));
    for (const key of others.slice(0, keys.length - MAX_CONFIRMED)) {
      known.delete(key);
      await store.delete(key);
    }
  }

  return {
    confirmed: async (subscriptions, signal) => {
      const open: Subscription[] = [];
      for (const it of subscriptions) {
        const nextAt = asked.get(keyOf(it))?.nextAt ?? 0;
        // A time that is further ahead than the longest pause was set by a wrong clock.
        const isDue = nextAt <= now() || nextAt > now() + Math.max(...PAUSES);
        if (isDue && it.isConfirmed !== true && !(await isKnown(keyOf(it)))) open.push(it);
      }
      const limits = { most: MAX_PER_HOST, atOnce: HOSTS_AT_ONCE };
      await forEachHost(choose(open, counts.of, waitsSince), limits, async (it) => {
        signal.throwIfAborted();
        await ask(it, signal);
        return true;
      });
      const keys = new Set(subscriptions.map(keyOf));
      for (const key of asked.keys()) if (!keys.has(key)) asked.delete(key);
      await forget(keys);
      // Settlement knows from this sender what is confirmed, and still knows it if the sender has lost its folder.
      return subscriptions.filter((it) => it.isConfirmed === true || known.has(keyOf(it)));
    },
  };
}

/** A cancelled subscription that comes again is asked again. */
function keyOf({ id, since }: Subscription): string {
  return `confirmed/${id}-${since}`;
}

/** When the subscription of a confirmation began, in unix seconds. */
function sinceOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("-") + 1));
}

function pairOf({ url, buyer }: Subscription): string {
  return `${hostOf(new URL(url))} ${buyer}`;
}

/**
 * Counts how often a host was asked for a buyer. A cancelled subscription that comes again is not counted from zero.
 * Otherwise its buyer could renew it in every round, and it would always be asked before others.
 */
function createCounts(): { of: (it: Subscription) => number; add: (it: Subscription) => void } {
  const counts = new Map<string, number>();
  const of = (it: Subscription): number => counts.get(pairOf(it)) ?? 0;
  return {
    of,
    add: (it) => {
      const times = of(it) + 1;
      // The map is in the order of the questions, so the oldest is forgotten.
      counts.delete(pairOf(it));
      counts.set(pairOf(it), times);
      const [oldest] = counts.keys();
      if (counts.size > MAX_COUNTS && oldest !== undefined) counts.delete(oldest);
    },
  };
}

/** The subscriptions that are asked in this round. */
function choose(
  open: readonly Subscription[],
  countOf: (it: Subscription) => number,
  waitsSince: (it: Subscription) => number,
): Subscription[] {
  const perHost = new Map<string, number>();
  const chosen = new Set<Subscription>();
  const add = (from: readonly Subscription[], most: number, ofOneHost: number): void => {
    for (const it of from) {
      if (chosen.size >= most) return;
      const host = hostOf(new URL(it.url));
      const ofHost = perHost.get(host) ?? 0;
      if (chosen.has(it) || ofHost >= ofOneHost) continue;
      perHost.set(host, ofHost + 1);
      chosen.add(it);
    }
  };
  const counted = new Map(open.map((it) => [it, countOf(it)]));
  const leastAsked = open.toSorted((a, b) => (counted.get(a) ?? 0) - (counted.get(b) ?? 0));
  // A site with many hosts must not delay other sites.
  const ofSites = inTurnsOfSites(leastAsked, ({ url }) => hostOf(new URL(url)));
  // The last place of each host is left to the subscription that waits longest.
  add(ofSites, LEAST_ASKED, MAX_PER_HOST - 1);
  // Strangers can bring new hosts and new buyers in every round, but they cannot wait longer than others.
  const longest = open.toSorted((a, b) => waitsSince(a) - waitsSince(b));
  add(longest, LEAST_ASKED + LONGEST_WAITING, MAX_PER_HOST);
  return [...chosen];
}
