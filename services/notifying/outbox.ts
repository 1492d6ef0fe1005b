import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import { NOTICE_TYPE, noticeId } from "tallystick-protocol/notices/notice";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { Log } from "tallystick-runtime/stderrLog";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";
import type { LocalAccount } from "viem";
import type { ChainClock } from "./chainClock.ts";
import type { BreachStep, Subscription } from "./notifierNode.ts";
import { type SentNotices, sentNotices } from "./sentNotices.ts";

/**
 * The age from which an event is no longer announced, in seconds. So a notifier that starts from zero, or
 * follows a node that indexes from zero, sends no notices about the past.
 */
export const NEWS_SECONDS = 7 * 86_400;

/** How long a notice is tried, in seconds. */
export const TRYING_SECONDS = 3 * 86_400;

/**
 * When `MAX_WAITING` notices wait, a host with `MIN_PER_HOST` waiting notices gets no further notice. Otherwise a
 * stranger could fill the disk and the memory, with many subscriptions and an agent that breaches its SLA.
 */
const MAX_WAITING = 50_000;
const MIN_PER_HOST = 8;

/** Seconds until the next attempt, after the first, the second and so on. */
const PAUSES = [30, 120, 600, 3_600, 14_400, 43_200];

/** A notice that was not acknowledged yet. Its text never changes, so all attempts send the same. Times: unix seconds. */
export type WaitingNotice = {
  id: string;
  subscription: string;
  /** The host of the receiver. Notices of an earlier version lack it. */
  host?: string;
  text: string;
  attempts: number;
  nextAt: number;
  giveUpAt: number;
};

/** How a notice ended. `withdrawn`: when its time was over, it had no confirmed subscription. */
export type NoticeEnd = "delivered" | "given_up" | "withdrawn";

export type Outbox = {
  /** Stores a notice of a step, unless it is `known`: stored or sent already. `full`: too many wait. */
  add: (step: BreachStep, subscription: Subscription) => Promise<"new" | "known" | "full">;
  /**
   * Whether it is time for the next attempt. If this time is further ahead than the longest pause, a wrong clock set
   * it, and the notice is due.
   */
  isDue: (notice: WaitingNotice) => boolean;
  /** Whether the notice was tried long enough. A wrong clock alone ends no notice. */
  isOver: (notice: WaitingNotice) => boolean;
  waiting: () => Promise<WaitingNotice[]>;
  /**
   * Call it before an attempt. From then on the notice waits for its next attempt, even if this process ends.
   */
  begin: (notice: WaitingNotice) => Promise<WaitingNotice>;
  end: (notice: WaitingNotice, how: NoticeEnd) => Promise<void>;
  /** Forgets some of what was sent so long ago that its event is no longer announced; see {@link SentNotices}. */
  forget: SentNotices["forget"];
};

/**
 * The notices that will be sent, and those that were sent. A notice that was acknowledged, or given up, is noted as
 * sent before it is removed. So it is never made again, even if a node builds its index again or this process is
 * killed. If an answer was lost with this process, the notice is sent again with the same id and text.
 *
 * @param parameters.most how many notices may wait; 50,000 unless given
 */
export function createOutbox(parameters: {
  store: KeyValueStore;
  account: LocalAccount;
  ledger: () => Promise<LedgerName>;
  clock: ChainClock;
  most?: number;
  log?: Log;
}): Outbox {
  const { store, account, ledger, clock, most = MAX_WAITING, log = () => {} } = parameters;
  const { now, latest, passed } = clock;
  const time = (): number => Math.floor(now());
  const sent = sentNotices(store, passed);
  const logged = new Set<string>();
  /** Reads a notice; undefined if it is damaged. One damaged file must not stop the other notices. */
  const read = (key: string): Promise<WaitingNotice | undefined> =>
    unlessDamaged(store.get<WaitingNotice>(key), (error) => {
      if (!logged.has(key)) log("A notice cannot be read and is left where it is.", { key, error });
      logged.add(key);
    });

  /** How many notices wait for each host, and in all; undefined before the first look. */
  let counts: { of: Map<string, number>; all: number } | undefined;
  const count = ({ host = "" }: Pick<WaitingNotice, "host">, to: NonNullable<typeof counts>): void => {
    to.of.set(host, (to.of.get(host) ?? 0) + 1);
    to.all++;
  };

  async function waiting(): Promise<WaitingNotice[]> {
    const found: WaitingNotice[] = [];
    for (const key of await store.keys("waiting")) {
      const notice = await read(key);
      if (notice === undefined) continue;
      // The notice was sent or given up, but the process ended before it could remove the notice.
      if (await sent.has(notice.id)) await store.delete(key);
      else found.push(notice);
    }
    counts = { of: new Map(), all: 0 };
    for (const notice of found) count(notice, counts);
    return found;
  }

  return {
    add: async (step, { id: subscription, buyer, url }) => {
      const id = noticeId({ ...step, subscription });
      const key = `waiting/${id}`;
      if ((await sent.has(id)) || (await read(key)) !== undefined) return "known";
      if (counts === undefined) await waiting();
      const host = hostOf(new URL(url));
      if (counts && counts.all >= most && (counts.of.get(host) ?? 0) >= MIN_PER_HOST) return "full";
      const body = { id, subscription, buyer, ...step } as RecordBody;
      const notice = await signRecord({ type: NOTICE_TYPE, ledger: await ledger(), body, account });
      const kept: WaitingNotice = {
        ...{ id, subscription, host, text: JSON.stringify(notice), attempts: 0 },
        ...{ nextAt: time(), giveUpAt: Math.floor(latest()) + TRYING_SECONDS },
      };
      if (!(await store.putNew(key, kept))) return "known";
      if (counts) count(kept, counts);
      return "new";
    },
    isDue: ({ nextAt }) => nextAt <= now() || nextAt > now() + Math.max(...PAUSES),
    isOver: ({ giveUpAt }) => giveUpAt <= passed(),
    waiting,
    begin: async (notice) => {
      const pause = PAUSES[Math.min(notice.attempts, PAUSES.length - 1)] ?? 0;
      const begun = { ...notice, attempts: notice.attempts + 1, nextAt: time() + pause };
      await store.put(`waiting/${notice.id}`, begun);
      return begun;
    },
    end: async ({ id }, how) => {
      await sent.note(id, how, Math.floor(latest()));
      await store.delete(`waiting/${id}`);
    },
    forget: sent.forget,
  };
}
