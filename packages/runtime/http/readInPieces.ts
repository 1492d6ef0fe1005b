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
 * Lets a server parse what one connection sent in pieces, and do other work between them. Node reads up to 64
 * KiB at once, and parses all of it before anything else. 2,000 small requests in one read would hold up all
 * other clients for a tenth of a second. All connections of an address together get one piece in each turn of the event
 * loop; each connection of a proxy gets one, because many clients share its address. After the last request of a connection that
 * may be answered, only the rest of its piece is parsed.
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

/** The client of a connection as in {@link clientOf}, or a proxy's connection. */
type Sender = string | Socket;

/** The connections with pieces that wait, by sender. In each turn of the event loop one of each sender has its step. */
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
      // An error belongs to one connection, and the others go on.
      if (this.#waiting.size > 0) setImmediate(this.#round);
    }
  };

  #stepOf(sender: Sender, steps: Set<Step>): void {
    const [step] = steps;
    if (step === undefined) return;
    steps.delete(step);
    try {
      // A connection with more pieces waits behind the sender's others.
      if (step()) steps.add(step);
    } finally {
      if (steps.size === 0) this.#waiting.delete(sender);
    }
  }
}

/**
 * Takes a step, and throws its error later, in the same context. An error that went through the end of a bound context would
 * belong to the client whose round it is.
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

  // Each piece is the answer to a wish to read. So the connection is read again only when nothing is left, and a request
  // whose body nobody reads holds no more than before.
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
    // A step runs in a round that another client may have begun, and must still belong to its own.
    add(AsyncLocalStorage.bind(() => inOwnContext(next)));
    return false;
  };
}
