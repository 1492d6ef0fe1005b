import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { invalidInputFromZod } from "tallystick-protocol/errors";
import type { ClientBudget } from "tallystick-runtime/http/clientBudgets";
import { closeAfterWriting } from "tallystick-runtime/http/guardServer";
import { refuseInTime, tooManyRequests } from "tallystick-runtime/http/refuseRequest";
import { inTurnsOf, outOfTurns } from "tallystick-runtime/http/turns";
import { type WebSocket, WebSocketServer } from "ws";
import { logWarning } from "../../ponderProcess.ts";
import type { Database } from "../database.ts";
import { databaseAway } from "../databaseAway.ts";
import { problem, problemResponse } from "../problem.ts";
import { indexedBlock } from "../rows/checkpoint.ts";
import { stateRow } from "../rows/state.ts";
import { guardSocket } from "./guardSocket.ts";
import { type StreamMessage, topicOf } from "./messages.ts";
import { type StreamQuery, streamQuery } from "./streamRequest.ts";
import { carrySubscriber, type Outlet } from "./subscriber.ts";
import { createTimelineFeed } from "./timelineFeed.ts";

export const STREAM_PATH = "/v1/stream";

export type StreamOptions = {
  db: Database;
  /** Milliseconds between two checks for new events. */
  pollMs?: number;
  heartbeatMs?: number;
  maxClients?: number;
  /** The most bytes that wait in the buffer of one client. */
  maxBuffered?: number;
  /** A client that accepts no data for this many milliseconds is disconnected. */
  patienceMs?: number;
  /** Tells whether the database does not answer. Then no stream can begin. */
  isAway?: () => boolean;
  /** Finds the budget of a client. Without it only `maxClients` limits how many streams begin. */
  budgetOf?: (request: IncomingMessage) => ClientBudget;
};

export type Stream = {
  /** Takes over a connection that asks for `/v1/stream`. Returns false for any other connection. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  /** Closes the connections of all clients in an orderly way. */
  close: () => void;
  readonly clients: number;
};

/** Close code "going away" (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;
const TERMINATE_MS = 5_000;

/** A client whose stream begins, and its connection. */
type Newcomer = {
  connection: Duplex;
  query: StreamQuery;
  budget: ClientBudget | undefined;
  endTurn: () => void;
};

/** Clients need not send anything but pongs. */
const SOCKETS = { noServer: true, maxPayload: 1024, perMessageDeflate: false, autoPong: false };

/** Seconds until the next attempt, if it is unknown when there will be room. */
const SECONDS_TO_COME_AGAIN = 30;

/** The price of starting a stream, because it reads the head of the timeline and the node's state. */
const STREAM_POINTS = 5;

/**
 * The live stream (SHP §10). It has hires, ratings, tier changes, anchors, audits and steps of SLA breaches as JSON
 * messages, in the order of the log. It also has a heartbeat, and a message `reorg` when a reorganization took blocks
 * back. Every message has the `position` from which a client can resume.
 */
export function createStream(options: StreamOptions): Stream {
  const { db, pollMs = 500, heartbeatMs = 15_000, maxClients = 1_000 } = options;
  const { maxBuffered = 256 * 1024, patienceMs = 30_000, budgetOf, isAway } = options;
  const feed = createTimelineFeed({ db, everyMs: pollMs });
  const server = new WebSocketServer(SOCKETS);
  const alive = new WeakSet<WebSocket>();
  /** The position from which each client can continue. */
  const positions = new WeakMap<WebSocket, () => string>();
  let heartbeats: NodeJS.Timeout | undefined;

  function welcome(socket: WebSocket, { connection, query, budget, endTurn }: Newcomer): void {
    alive.add(socket);
    socket.on("pong", () => alive.add(socket));
    // Small messages are ignored. A large message, or too many bytes in small ones, ends the connection.
    guardSocket(socket, connection, { maxBuffered, everyMs: heartbeatMs });
    const outlet = outletOf(socket);
    const begin = async () => {
      await feed.poll();
      const from = query.from ?? feed.head();
      if (socket.readyState !== socket.OPEN) return;
      socket.send(JSON.stringify({ type: "hello", position: from, head: feed.head() }));
      socket.send(heartbeatAt(from, await stateNow(db)));
      const client = { outlet, from, wants: wanted(query), budget };
      const { position, stop } = carrySubscriber({ ...client, feed, maxBuffered, patienceMs });
      positions.set(socket, position);
      socket.on("close", stop);
      if (socket.readyState !== socket.OPEN) stop();
    };
    begin()
      .catch((error) => {
        logWarning({ msg: "Could not begin a stream", cause: String(error) });
        outlet.close(1011, "the node could not read its database");
      })
      .finally(endTurn);
    heartbeats ??= outOfTurns(() =>
      setInterval(() => {
        beat(server.clients, alive, { db, positions, maxBuffered }).catch((error) =>
          logWarning({ msg: "Could not read the node's state for the heartbeats", cause: String(error) }),
        );
      }, heartbeatMs).unref(),
    );
    socket.on("close", () => {
      if (server.clients.size > 0) return;
      clearInterval(heartbeats);
      heartbeats = undefined;
    });
  }

  return {
    upgrade: (request, socket, head) => {
      // The target is split as text, because `new URL` throws for a target such as `//`. The path ends at the first `?`.
      const [path = "", ...search] = (request.url ?? "").split("?");
      if (path !== STREAM_PATH) return false;
      const budget = budgetOf?.(request);
      const seconds = budget?.secondsToWait ?? 0;
      budget?.charge(STREAM_POINTS);
      if (budget !== undefined && seconds > 0) {
        const answer = () => void refuse(socket, tooMany("has used up what it may ask for", seconds));
        refuseInTime(budget, socket, answer);
        return true;
      }
      const query = streamQuery.safeParse(Object.fromEntries(new URLSearchParams(search.join("?"))));
      if (!query.success) void refuse(socket, problemResponse(invalidInputFromZod(query.error)));
      else if (isAway?.()) void refuse(socket, databaseAway());
      else if (server.clients.size >= maxClients) {
        const detail = "This node cannot take more streaming clients; try another node.";
        void refuse(socket, problem(503, "too_many_clients", detail), SECONDS_TO_COME_AGAIN);
      } else {
        const leave = budget?.openStream();
        if (budget !== undefined && leave === undefined) {
          void refuse(socket, tooMany("has as many streams open as it may", SECONDS_TO_COME_AGAIN));
          return true;
        }
        // Runs at every kind of end: a refused handshake, a normal close, or a broken connection.
        if (leave !== undefined) socket.once("close", leave);
        if (socket.destroyed) leave?.();
        const isTaken = takeTurn(budget, socket, (endTurn) =>
          server.handleUpgrade(request, socket, head, (it) =>
            welcome(it, { connection: socket, query: query.data, budget, endTurn }),
          ),
        );
        if (!isTaken) void refuse(socket, tooMany("asks too much at once", 1));
      }
      return true;
    },
    close: () => {
      clearInterval(heartbeats);
      for (const socket of server.clients) outletOf(socket).close(GOING_AWAY, "the node stops");
    },
    get clients() {
      return server.clients.size;
    },
  };
}

/**
 * Begins a stream at its client's turn, like a request. The turn ends when the stream has begun, or its connection is
 * gone. Returns false if too many requests of the client already wait.
 */
function takeTurn(
  budget: ClientBudget | undefined,
  socket: Duplex,
  begin: (endTurn: () => void) => void,
): boolean {
  if (budget === undefined) {
    begin(() => {});
    return true;
  }
  // The next stream of this client begins in a later turn of the event loop, so that other clients get turns too.
  const end = () => void setImmediate(() => giveBack?.());
  const run = () => (socket.destroyed ? end() : inTurnsOf(budget.statements, () => begin(end)));
  const giveBack = budget.takeTurn(AsyncLocalStorage.bind(run));
  socket.once("close", end);
  return giveBack !== undefined;
}

function outletOf(socket: WebSocket): Outlet {
  return {
    send: (text) => socket.send(text),
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    get isOpen() {
      return socket.readyState === socket.OPEN;
    },
    close: (code, reason) => {
      socket.close(code, reason);
      // A client that does not read will not read the closing message either, so its connection is ended.
      setTimeout(() => socket.terminate(), TERMINATE_MS).unref();
    },
  };
}

function wanted({ topics, agent }: StreamQuery): (message: StreamMessage) => boolean {
  const wantedTopics = topics === undefined ? null : new Set<string | undefined>(topics);
  return (message) =>
    (wantedTopics === null || wantedTopics.has(topicOf(message))) &&
    (agent === undefined || message.agent === agent || message.counterpart === agent);
}

/**
 * Sends a ping and a heartbeat to every client, and ends the connection of each that did not answer the last ping. A
 * client whose stream has not begun, or whose buffer is full, gets only the ping.
 */
async function beat(
  clients: Set<WebSocket>,
  alive: WeakSet<WebSocket>,
  {
    db,
    positions,
    maxBuffered,
  }: { db: Database; positions: WeakMap<WebSocket, () => string>; maxBuffered: number },
): Promise<void> {
  const state = await stateNow(db);
  for (const socket of clients) {
    // There was no pong since the last heartbeat, so the client is gone.
    if (!alive.has(socket)) {
      socket.terminate();
      continue;
    }
    alive.delete(socket);
    socket.ping();
    const position = positions.get(socket);
    if (position !== undefined && socket.bufferedAmount <= maxBuffered) {
      socket.send(heartbeatAt(position(), state));
    }
  }
}

/** The node's state, so that a client can distinguish a quiet market from a node that is stuck. */
async function stateNow(db: Database) {
  const row = await stateRow(db);
  return {
    indexed_block: await indexedBlock(db),
    block: row?.block ?? 0,
    time: row?.time ?? 0,
    digest: row?.digest ?? null,
  };
}

/** A heartbeat for a client that can continue from a position. */
function heartbeatAt(position: string, state: Awaited<ReturnType<typeof stateNow>>): string {
  return JSON.stringify({ type: "heartbeat", position, ...state });
}

function tooMany(why: string, seconds: number): Response {
  return new Response(tooManyRequests(why, seconds), {
    status: 429,
    headers: { "content-type": "application/problem+json", "retry-after": String(seconds) },
  });
}

/** Answers an upgrade with a plain HTTP response. */
async function refuse(socket: Duplex, response: Response, retryAfter?: number): Promise<void> {
  const body = await response.text();
  const seconds = response.headers.get("retry-after") ?? retryAfter;
  const head = [
    `HTTP/1.1 ${response.status} Refused`,
    `content-type: ${response.headers.get("content-type")}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...(seconds === undefined ? [] : [`retry-after: ${seconds}`]),
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  closeAfterWriting(socket);
}
