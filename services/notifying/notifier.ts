import { hostOf } from "tallystick-protocol/net/publicAddress";
import { inTurnsOfSites } from "tallystick-runtime/http/inTurnsOfSites";
import { type Rounds, repeatRounds } from "tallystick-runtime/repeatRounds";
import type { Log } from "tallystick-runtime/stderrLog";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";
import type { ChainClock } from "./chainClock.ts";
import type { Confirmations } from "./confirmations.ts";
import { forEachHost } from "./forEachHost.ts";
import type { NotifierNode, Subscription } from "./notifierNode.ts";
import { NEWS_SECONDS, type Outbox, TRYING_SECONDS, type WaitingNotice } from "./outbox.ts";
import { type Post, reasonOf } from "./post.ts";

/** The most notices to one host in a round. */
const MAX_PER_HOST = 50;

/**
 * How long a round sends notices, in milliseconds. The next round reads steps first, and then sends the other notices.
 */
const SENDING_MS = 30_000;

/**
 * How many hosts get notices at the same time. `prompt`: the last answer was a 2xx, within {@link PROMPT_MS}. `new`: there
 * was no attempt yet. `late`: all others. Hosts of one kind must not delay hosts of another kind.
 */
const AT_ONCE = { prompt: 6, new: 6, late: 4 };
const PROMPT_MS = 2_000;

/**
 * How long the last answer of a host is remembered, in milliseconds, and for how many hosts. The attempts of a waiting
 * notice are stored with the notice.
 */
const HOST_MS = TRYING_SECONDS * 1_000;
const MAX_HOSTS = 20_000;

/** Milliseconds between two deletions of old notices. */
const FORGET_MS = 3_600_000;

/** The key under which the store has the first block whose steps were not read. The next round continues there. */
const PLACE = "feed/place";

/** The state of a sender. Times: milliseconds since 1970, 0 before the first. */
export type NotifierState = {
  roundAt: number;
  nextBlock: number;
  subscriptions: number;
  confirmed: number;
  waiting: number;
  delivered: number;
  failed: number;
  givenUp: number;
  failures: number;
  /**
   * This machine's clock is far ahead of the chain's, or the node is far behind. Until this ends, steps that may be old
   * wait.
   */
  isClockDoubtful: boolean;
};

export type NotifierParameters = {
  node: NotifierNode;
  outbox: Outbox;
  confirmations: Confirmations;
  post: Post;
  store: KeyValueStore;
  clock: ChainClock;
  roundMs: number;
  /** Milliseconds since 1970. */
  now: () => number;
  log: Log;
};

export type Notifier = Rounds & { state: () => NotifierState };

/** The notifier: follows a node, and tells buyers what happens to the SLAs of the agents that they named. */
export function createNotifier(parameters: NotifierParameters): Notifier {
  const { roundMs, now, log, node, confirmations, outbox } = parameters;
  const state: NotifierState = {
    ...{ roundAt: 0, nextBlock: 0, subscriptions: 0, confirmed: 0, waiting: 0 },
    ...{ delivered: 0, failed: 0, givenUp: 0, failures: 0, isClockDoubtful: false },
  };
  let forgotAt = 0;
  /** Confirmed subscriptions. Settlement may not know yet that they are confirmed. */
  let untold: Subscription[] = [];
  const hosts = new Map<string, LastAnswer>();

  /** Asks the node what happened, writes the new notices down, and sends what is due. */
  async function work(signal: AbortSignal): Promise<void> {
    try {
      // Without the list of subscriptions nothing is sent.
      const subscriptions = await node.subscriptions(signal, untold);
      state.subscriptions = subscriptions.length;
      const confirmed = await confirmations.confirmed(subscriptions, signal);
      state.confirmed = confirmed.length;
      untold = confirmed.filter(({ isConfirmed }) => isConfirmed !== true);
      // Waiting notices are sent even if the node cannot be read.
      const collected = await collect(parameters, state, confirmed, signal).then(
        () => null,
        (error: unknown) => ({ error }),
      );
      await deliver(parameters, { state, hosts }, confirmed, signal);
      // A time in the future was set by a wrong clock. It counts as a long time ago.
      if (Math.abs(now() - forgotAt) > FORGET_MS) {
        forgotAt = now();
        await outbox.forget();
      }
      if (collected !== null) throw collected.error;
      state.roundAt = now();
    } catch (error) {
      if (signal.aborted) return;
      state.failures++;
      log("A round of notices failed. The next round repeats it.", { error });
    }
  }
  const rounds = repeatRounds(work, { pauseMs: roundMs, closed: "The sender of notices was closed.", log });
  return { ...rounds, state: () => state };
}

/**
 * Stores the new notices. If the process is killed at any point, the next round reads the same steps again
 * and stores none twice.
 */
async function collect(
  { node, outbox, store, clock, log }: NotifierParameters,
  state: NotifierState,
  subscriptions: readonly Subscription[],
  signal: AbortSignal,
): Promise<void> {
  // Without its place, the sender reads all steps again, and makes no notice twice.
  const place = await unlessDamaged(store.get<{ block: number }>(PLACE));
  const { steps, finalBlock, time } = await node.stepsFrom(place?.block ?? 0, signal);
  clock.note(time);
  const wasDoubtful = state.isClockDoubtful;
  state.isClockDoubtful = clock.isDoubtful();
  if (state.isClockDoubtful && !wasDoubtful)
    log("This clock is a day ahead of the node's last tick. Steps that may be old wait until this ends.");
  const oldest = clock.latest() - NEWS_SECONDS;
  const byAgent = new Map<string, Subscription[]>();
  for (const it of subscriptions) {
    for (const agent of it.agents) {
      const named = byAgent.get(agent);
      if (named === undefined) byAgent.set(agent, [it]);
      else named.push(it);
    }
  }
  /** Steps that are old by one of the two clocks only. */
  let unsure = 0;
  let leftOut = 0;
  for (const step of steps) {
    if (step.time < oldest) {
      if (step.time >= clock.passed() - NEWS_SECONDS) unsure++;
      continue;
    }
    for (const it of byAgent.get(step.agent) ?? [])
      if (step.time >= it.since && (await outbox.add(step, it)) === "full") leftOut++;
  }
  // If this clock is wrong, these steps are new. So a later round reads all steps again.
  if (state.isClockDoubtful && unsure > 0) return;
  if (leftOut > 0) {
    state.givenUp += leftOut;
    log("Notices were left out, because too many wait for their receivers.", { notices: leftOut });
  }
  state.nextBlock = Math.max(place?.block ?? 0, finalBlock + 1);
  if (state.nextBlock !== place?.block) await store.put(PLACE, { block: state.nextBlock });
}

/** The last answer of a host: its kind, and when the attempt began. The hosts with the oldest attempts come first. */
type LastAnswer = { kind: "prompt" | "late"; at: number };

type Delivery = { state: NotifierState; hosts: Map<string, LastAnswer> };

async function deliver(
  parameters: NotifierParameters,
  delivery: Delivery,
  subscriptions: readonly Subscription[],
  signal: AbortSignal,
): Promise<void> {
  const { outbox, now, log } = parameters;
  const { state, hosts } = delivery;
  for (const [host, { at }] of hosts) if (Math.abs(now() - at) > HOST_MS) hosts.delete(host);
  const byId = new Map(subscriptions.map((it) => [it.id, it]));
  const due: (WaitingNotice & { url: string })[] = [];
  const waiting = await outbox.waiting();
  state.waiting = waiting.length;
  for (const notice of waiting) {
    const to = byId.get(notice.subscription);
    if (outbox.isOver(notice) && to === undefined) await outbox.end(notice, "withdrawn");
    else if (outbox.isOver(notice)) {
      state.givenUp++;
      log("A notice was given up, because its receiver never accepted it.", { notice: notice.id });
      await outbox.end(notice, "given_up");
      // When a ledger moves to another machine or to a restored copy, subscriptions are missing until their buyers
      // renew them. So a notice waits for its subscription.
    } else if (to !== undefined && outbox.isDue(notice)) due.push({ ...notice, url: to.url });
  }
  due.sort((a, b) => a.attempts - b.attempts);
  const byHost = [...Map.groupBy(due, ({ url }) => hostOf(new URL(url)))].map(([host, notices]) => {
    // After a restart only the attempts of the waiting notices are known.
    const unknown = notices.at(-1)?.attempts === 0 ? ("new" as const) : ("late" as const);
    return { notices, ...(hosts.get(host) ?? { kind: unknown, at: 0 }) };
  });
  byHost.sort((a, b) => a.at - b.at);
  const begunAt = now();
  const isOver = () => Math.abs(now() - begunAt) >= SENDING_MS;
  // Receivers that do not answer must not delay receivers that do. A site with many hosts must not delay other sites.
  const sendings = (["prompt", "new", "late"] as const).map(async (kind) => {
    const ofKind = byHost.filter((it) => it.kind === kind);
    const ordered = inTurnsOfSites(ofKind, ({ notices: [first] }) => hostOf(new URL(first?.url ?? "")));
    await forEachHost(
      ordered.flatMap(({ notices }) => notices),
      { most: MAX_PER_HOST, atOnce: AT_ONCE[kind], isOver },
      ({ url, ...notice }) => attempt(parameters, delivery, notice, url, signal),
    );
  });
  // An error ends the round only after the other sendings have ended.
  await Promise.allSettled(sendings);
  await Promise.all(sendings);
}

/** @returns whether the receiver accepted it */
async function attempt(
  { outbox, post, now, log }: NotifierParameters,
  { state, hosts }: Delivery,
  notice: WaitingNotice,
  url: string,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const at = now();
  const begun = await outbox.begin(notice);
  const failure = await post({ url, text: notice.text, id: notice.id }, signal).then(
    ({ status }) => (status >= 200 && status <= 299 ? null : `HTTP ${status}`),
    reasonOf,
  );
  const kind = failure === null && Math.abs(now() - at) <= PROMPT_MS ? "prompt" : "late";
  note(hosts, hostOf(new URL(url)), { kind, at });
  if (failure === null) {
    await outbox.end(begun, "delivered");
    state.delivered++;
    state.waiting--;
    return true;
  }
  state.failed++;
  log("A notice was not accepted. It will be sent again.", { notice: notice.id, reason: failure });
  return false;
}

function note(hosts: Map<string, LastAnswer>, host: string, answer: LastAnswer): void {
  // The map is in the order of the answers, so the oldest is forgotten.
  hosts.delete(host);
  hosts.set(host, answer);
  const [oldest] = hosts.keys();
  if (hosts.size > MAX_HOSTS && oldest !== undefined) hosts.delete(oldest);
}
