import { Repeater } from "graphql-yoga";
import type { Row } from "tallystick-derive/tables";
import { admittedOf } from "tallystick-runtime/http/limitClients";
import type { StreamMessage } from "../stream/messages.ts";
import { News } from "../stream/news.ts";
import { isPosition } from "../stream/position.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError, refusal } from "./errors.ts";
import { HireRef } from "./hire.ts";
import { BreachStepRef } from "./sla.ts";
import { TierChangeRef } from "./tierChange.ts";

/** An event. Without a subject it means that a reorg took back everything after the position. */
export type Happening = { position: string; subject: string | null };

/**
 * The number of events that are read together for one subscriber. The next events are read only after
 * the subscriber has taken these.
 */
const BATCH = 100;

/**
 * The price of starting a subscription, the same as for a WebSocket, because it reads the head of the
 * timeline.
 */
const SUBSCRIPTION_POINTS = 5;

const REORG =
  "True after a reorganization of blocks: every message after `position` is void, and the valid messages follow.";
const POSITION = "Give it as `after` to continue from here, on this node or on a replica.";
const AFTER =
  'The position after which to begin: the position of an earlier message, or "0" for the beginning. Default: only new events.';

const HireCountedRef = builder.objectRef<Happening>("HireCounted").implement({
  fields: (t) => ({
    position: t.exposeString("position", { description: POSITION }),
    reorg: t.boolean({ description: REORG, resolve: ({ subject }) => subject === null }),
    hire: t.field({
      type: HireRef,
      nullable: true,
      resolve: ({ subject }, _, { load }): Promise<Row<"hire"> | null> | null =>
        subject === null ? null : load.hire.load(subject),
    }),
  }),
});

const TierChangedRef = builder.objectRef<Happening>("TierChanged").implement({
  fields: (t) => ({
    position: t.exposeString("position", { description: POSITION }),
    reorg: t.boolean({ description: REORG, resolve: ({ subject }) => subject === null }),
    tierChange: t.field({
      type: TierChangeRef,
      nullable: true,
      resolve: ({ subject }, _, { load }): Promise<Row<"tierChange"> | null> | null =>
        subject === null ? null : load.tierChange.load(subject),
    }),
  }),
});

const BreachChangedRef = builder.objectRef<Happening>("BreachChanged").implement({
  fields: (t) => ({
    position: t.exposeString("position", { description: POSITION }),
    reorg: t.boolean({ description: REORG, resolve: ({ subject }) => subject === null }),
    breachStep: t.field({
      type: BreachStepRef,
      nullable: true,
      resolve: ({ subject }, _, { load }): Promise<Row<"breachStep"> | null> | null =>
        subject === null ? null : load.breachStep.load(subject),
    }),
  }),
});

builder.subscriptionType({
  description:
    "Live events over server-sent events, in the order of the log. A slow subscriber gets its messages later; they are not buffered for it.",
  fields: (t) => ({
    hireCounted: t.field({
      type: HireCountedRef,
      args: {
        seller: t.arg({ type: "Address" }),
        buyer: t.arg({ type: "Address" }),
        capability: t.arg({ type: "Capability" }),
        after: t.arg.string({ description: AFTER }),
      },
      subscribe: (_, { seller, buyer, capability, after }, context) =>
        follow(context, after, (message) => {
          if (message.kind !== "hire") return false;
          if (seller && message.agent !== seller) return false;
          if (buyer && message.counterpart !== buyer) return false;
          return !capability || JSON.parse(message.text).data.capability === capability;
        }),
      resolve: (happening) => happening,
    }),
    tierChanged: t.field({
      type: TierChangedRef,
      args: { agent: t.arg({ type: "Address" }), after: t.arg.string({ description: AFTER }) },
      subscribe: (_, { agent, after }, context) =>
        follow(
          context,
          after,
          (message) => message.kind === "tier_change" && (!agent || message.agent === agent),
        ),
      resolve: (happening) => happening,
    }),
    breachChanged: t.field({
      type: BreachChangedRef,
      description:
        "A step of a breach of an SLA: detected, disputed, ruled on, confirmed, closed, reinstated or paid.",
      args: { agent: t.arg({ type: "Address" }), after: t.arg.string({ description: AFTER }) },
      subscribe: (_, { agent, after }, context) =>
        follow(
          context,
          after,
          (message) => message.kind === "sla_step" && (!agent || message.agent === agent),
        ),
      resolve: (happening) => happening,
    }),
  }),
});

function follow(
  context: QueryContext,
  after: string | null | undefined,
  wants: (message: StreamMessage) => boolean,
): AsyncIterable<Happening> {
  const begin = startOf(after);
  const { feed, followers, connection } = context;
  followers.checkRoom();
  context.charge(SUBSCRIPTION_POINTS);
  const admitted = admittedOf(connection.incoming);
  if (admitted?.becomeStream() === false) {
    const message = "This address already has its maximum of open streams; close one first.";
    throw refusal("TOO_MANY_SUBSCRIPTIONS", message, { status: 429, retryAfter: 30 });
  }
  return new Repeater<Happening>(async (push, stop) => {
    const leave = followers.enter();
    const news = new News();
    const unsubscribe = feed.subscribe((reorg) => news.tell(reorg?.position ?? null));
    stop.then(() => news.end());
    // The stream does not notice a client that leaves before the first message. Only the connection shows it.
    whenClosed(connection, stop);
    try {
      await feed.poll();
      await pushAll(push, news, begin ?? feed.head(), context, wants);
    } finally {
      unsubscribe();
      leave();
      stop();
    }
  });
}

function whenClosed({ outgoing }: QueryContext["connection"], run: () => void): void {
  if (outgoing?.closed || outgoing?.destroyed) run();
  else outgoing?.once("close", run);
}

async function pushAll(
  push: (happening: Happening) => Promise<unknown>,
  news: News,
  from: string,
  context: QueryContext,
  wants: (it: StreamMessage) => boolean,
): Promise<void> {
  const { feed, renew } = context;
  let position = from;
  const resumed = await feed.resumeFrom(from);
  if (resumed !== from) news.tell(resumed);
  while (!news.hasEnded) {
    const takenBack = news.takeReorg();
    if (takenBack !== null && takenBack < position) {
      position = takenBack;
      renew();
      await push({ position, subject: null });
    }
    await turnOf(context, news);
    const messages = await feed.after(position, BATCH);
    if (messages.length === 0) await news.next();
    else context.charge(1);
    for (const message of messages) {
      if (news.hasEnded || news.hasReorg) break;
      position = message.position;
      if (!wants(message)) continue;
      await turnOf(context, news);
      if (news.hasEnded) break;
      // Every event is answered like a separate query, with freshly read rows, the limits of a query and its
      // price.
      renew();
      context.charge(1);
      await push({ position, subject: message.subject });
    }
  }
}

/** Waits while the client's budget is empty. Events take from the same budget as queries. */
async function turnOf({ connection }: QueryContext, news: News): Promise<void> {
  const budget = admittedOf(connection.incoming)?.budget;
  while (budget !== undefined && budget.secondsToWait > 0 && !news.hasEnded) {
    await new Promise((resolve) => setTimeout(resolve, 250).unref());
  }
}

function startOf(after: string | null | undefined): string | undefined {
  if (after === null || after === undefined) return undefined;
  if (isPosition(after)) return after;
  throw queryError("INVALID_CURSOR", 'after must be a position that this API gave, or "0".');
}
