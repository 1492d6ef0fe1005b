import { AsyncLocalStorage } from "node:async_hooks";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { clientOf } from "./clientOf.ts";
import { pipelineOf } from "./pipelineOf.ts";

/** Bytes that the parser gets in one turn of the event loop. The headers of a usual request are shorter. */
const PIECE_BYTES = 4 * 1024;

/** A read of at most this length is parsed at once. Most requests without a body are shorter. */
const SMALL_BYTES = 1_024;

/** Pushes the next piece of a connection. Returns whether more pieces wait. */
type Step = () => boolean;

/**
 * Lets a server parse the bytes of a connection in pieces, and do other work between two pieces. Node reads up to 64
 * KiB at once, and parses all of it before anything else. 2,000 small requests in one read would delay all other
 * clients by a tenth of a second. In each turn of the event loop, all connections of an address together get one
 * piece. Many clients share a proxy's address, so there each connection gets one piece. Behind the last request that
 * may be answered, only the rest of that request's piece is parsed.
 */
export function readInPieces(server: Server, { isProxied }: { isProxied: boolean }): void {
  const turns = new PieceTurns();
  server.on("connection", (socket: Socket) => {
    // Node's parser reads directly from the connection until something listens for its data.
    const nothing = () => {};
    socket.on("data", nothing);
    socket.removeListener("data", nothing);
    const sender = isProxied
      ? socket
      : clientOf({ remoteAddress: socket.remoteAddress, forwardedFor: undefined }, 0);
    const add = (step: Step) => turns.add(sender, step);
    pushInPieces(socket, add);
  });
}

/** The client of a connection (see {@link clientOf}), or the connection itself if it is a proxy's. */
type Sender = string | Socket;

/**
 * The connections with pieces that wait, by sender. In each turn of the event loop, one connection of each sender
 * takes a step.
 */
class PieceTurns {
  readonly #waiting = new Map<Sender, Set<Step>>();

  add(sender: Sender, step: Step): void {
    if (this.#waiting.size === 0) setImmediate(this.#round);
    const steps = this.#waiting.get(sender) ?? new Set();
    this.#waiting.set(sender, steps.add(step));
  }

  #round = () => {
    try {
      for (const [sender, steps] of this.#waiting) this.#stepOf(sender, steps);
    } finally {
      // An error belongs to one connection. The other connections go on.
      if (this.#waiting.size > 0) setImmediate(this.#round);
    }
  };

  #stepOf(sender: Sender, steps: Set<Step>): void {
    const [step] = steps;
    if (step === undefined) return;
    steps.delete(step);
    try {
      // A connection with more pieces now waits behind the sender's other connections.
      if (step()) steps.add(step);
    } finally {
      if (steps.size === 0) this.#waiting.delete(sender);
    }
  }
}

/**
 * Takes a step. An error of the step is thrown later, in the context of the step's own client. If it were thrown at
 * once, it would leave this context and end up with the client that began the round.
 */
function inOwnContext(step: Step): boolean {
  try {
    return step();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
    return false;
  }
}

function pushInPieces(socket: Socket, add: (step: Step) => void): void {
  const push = (chunk: Buffer | null) => Readable.prototype.push.call(socket, chunk);
  const rest: (Buffer | null)[] = [];

  const next: Step = () => {
    const [first] = rest;
    if (first === undefined || socket.destroyed) return false;
    if (pipelineOf({ socket }).ends) {
      rest.length = 0;
      return false;
    }
    if (first !== null && first.length > PIECE_BYTES) {
      rest[0] = first.subarray(PIECE_BYTES);
      push(first.subarray(0, PIECE_BYTES));
    } else {
      rest.shift();
      push(first);
    }
    return rest.length > 0;
  };

  // The parser gets a piece when it asks for data. The connection is read again only when no piece is left. So a
  // request whose body nobody reads does not need more memory than without pieces.
  const read = socket._read.bind(socket);
  socket._read = (size) => {
    if (rest.length === 0) read(size);
  };

  socket.push = (chunk: Buffer | null) => {
    if (rest.length > 0) {
      rest.push(chunk);
      return false;
    }
    if (chunk === null || chunk.length <= SMALL_BYTES) return push(chunk);
    rest.push(chunk);
    // Another client may have begun the round in which a step runs. The step must still belong to its own client.
    add(AsyncLocalStorage.bind(() => inOwnContext(next)));
    return false;
  };
}
