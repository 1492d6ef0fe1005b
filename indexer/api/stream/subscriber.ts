import type { ClientBudget } from "tallystick-runtime/http/clientBudgets";
import type { StreamMessage } from "./messages.ts";
import { News } from "./news.ts";
import type { TimelineFeed } from "./timelineFeed.ts";

/** The part of a WebSocket that a subscriber writes to. */
export type Outlet = {
  send: (text: string) => void;
  /** Bytes that were written and not sent yet. */
  readonly bufferedAmount: number;
  readonly isOpen: boolean;
  close: (code: number, reason: string) => void;
};

export type SubscriberOptions = {
  feed: TimelineFeed;
  outlet: Outlet;
  /** The position up to which the client has received everything. */
  from: string;
  wants: (message: StreamMessage) => boolean;
  /** While the buffer has more bytes than this, nothing is written to it. */
  maxBuffered: number;
  /** How long the buffer may stay above `maxBuffered` before the connection is closed. */
  patienceMs: number;
  /** The client's budget. Messages take points from it, and an empty budget makes the client wait. */
  budget?: ClientBudget | undefined;
};

/** A client that the timeline is sent to. */
export type Subscriber = {
  /** The position from which the client can continue: it has everything up to here. */
  position: () => string;
  stop: () => void;
};

/** Close code "try again later" (RFC 6455, IANA registry). */
const TRY_AGAIN_LATER = 1013;
const BATCH = 200;
const LOOK_AGAIN_MS = 50;

/** Messages that cost a client one point. */
const MESSAGES_PER_POINT = 20;

/**
 * Sends the timeline to one client, at the client's pace. The next batch of events is read only when the last one was
 * written, so a slow client costs little more than `maxBuffered` bytes and one batch. A client whose buffer stays above
 * `maxBuffered` for `patienceMs` is disconnected, with the position to resume from.
 */
export function carrySubscriber(options: SubscriberOptions): Subscriber {
  const { feed, outlet, wants, maxBuffered, patienceMs, budget } = options;
  let position = options.from;
  const news = new News();

  const isDone = () => news.hasEnded || !outlet.isOpen;

  /** Waits until the buffer has room. Returns false if it has none for too long, or if the connection is over. */
  async function room(): Promise<boolean> {
    for (let waited = 0; outlet.bufferedAmount > maxBuffered; waited += LOOK_AGAIN_MS) {
      if (isDone() || waited >= patienceMs) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS).unref());
    }
    return !isDone();
  }

  /** Waits until the client's budget allows the next messages. */
  async function turn(): Promise<void> {
    while (budget !== undefined && budget.secondsToWait > 0 && !isDone()) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS).unref());
    }
  }

  async function send(text: string): Promise<boolean> {
    if (await room()) {
      outlet.send(text);
      return true;
    }
    if (!isDone()) outlet.close(TRY_AGAIN_LATER, `too slow; resume from ${position}`);
    stop();
    return false;
  }

  async function sendAll(messages: StreamMessage[]): Promise<void> {
    for (const message of messages) {
      if (news.hasReorg || isDone()) return;
      if (wants(message) && !(await send(message.text))) return;
      position = message.position;
    }
  }

  async function tellReorg(): Promise<void> {
    const to = news.takeReorg();
    if (to === null || position <= to) return;
    // The client's position goes back only after the client was told. If the message cannot be sent, the client
    // resumes from the last position that it has.
    if (await send(JSON.stringify({ type: "reorg", position: to }))) position = to;
  }

  async function run(): Promise<void> {
    try {
      const from = await feed.resumeFrom(position);
      if (from !== position) news.tell(from);
      while (!isDone()) {
        await tellReorg();
        await turn();
        const messages = await feed.after(position, BATCH);
        if (isDone()) return;
        if (messages.length === 0) await news.next();
        else {
          budget?.charge(messages.length / MESSAGES_PER_POINT);
          await sendAll(messages);
        }
      }
    } catch {
      if (!isDone()) outlet.close(1011, `the node could not read on; resume from ${position}`);
      stop();
    }
  }

  const unsubscribe = feed.subscribe((reorg) => news.tell(reorg?.position ?? null));

  function stop(): void {
    news.end();
    unsubscribe();
  }

  void run();
  return { position: () => position, stop };
}
