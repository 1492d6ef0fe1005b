import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import { NOTICE_TYPE, noticeId } from "tallystick-protocol/notices/notice";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import type { LocalAccount } from "viem";
import type { ChainClock } from "./chainClock.ts";
import type { BreachStep, Subscription } from "./notifierNode.ts";

/**
 * The age from which an event is no longer announced, in seconds. So a notifier that starts from zero, or
 * follows a node that indexes from zero, sends no notices about the past.
 */
export const NEWS_SECONDS = 7 * 86_400;

/**
 * How long a notice is tried, and how long its id is remembered, in seconds. The id is remembered longer than
 * its event is announced ({@link NEWS_SECONDS}).
 */
export const TRYING_SECONDS = 3 * 86_400;
const REMEMBERED_SECONDS = 30 * 86_400;

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
  /** Forgets what was sent so long ago that its event is no longer announced. */
  forget: () => Promise<void>;
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
}): Outbox {
  const { store, account, ledger, clock, most = MAX_WAITING } = parameters;
  const { now, latest, passed } = clock;
  const time = (): number => Math.floor(now());
  const isSent = async (id: string): Promise<boolean> => (await store.get(`sent/${id}`)) !== undefined;

  /** How many notices wait for each host, and in all; undefined before the first look. */
  let counts: { of: Map<string, number>; all: number } | undefined;
  const count = ({ host = "" }: Pick<WaitingNotice, "host">, to: NonNullable<typeof counts>): void => {
    to.of.set(host, (to.of.get(host) ?? 0) + 1);
    to.all++;
  };

  async function waiting(): Promise<WaitingNotice[]> {
    const found: WaitingNotice[] = [];
    for (const key of await store.keys("waiting")) {
      const notice = await store.get<WaitingNotice>(key);
      if (notice === undefined) continue;
      // The notice was sent or given up, but the process ended before it could remove the notice.
      if (await isSent(notice.id)) await store.delete(key);
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
      if ((await isSent(id)) || (await store.get(key)) !== undefined) return "known";
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
      await store.putNew(`sent/${id}`, { how, at: Math.floor(latest()) });
      await store.delete(`waiting/${id}`);
    },
    forget: async () => {
      for (const key of await store.keys("sent")) {
        const sent = await store.get<{ at: number }>(key);
        if (sent !== undefined && sent.at < passed() - REMEMBERED_SECONDS) await store.delete(key);
      }
    },
  };
}
