import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipelineOf } from "./pipelineOf.ts";

/** Bytes that the parser gets in one turn of the event loop. The headers of a usual request are shorter. */
const PIECE_BYTES = 4 * 1024;

/**
 * Lets a server parse what one connection sent in pieces, and do other work between them. Node reads up to 64
 * KiB at once, and parses all of it before anything else. 2,000 small requests in one read would hold up all
 * other clients for a tenth of a second. Nothing more is parsed of a connection that has sent a request after the
 * last one that may be answered.
 */
export function readInPieces(server: Server): void {
  server.on("connection", (socket: Socket) => {
    // Node's parser reads directly from the connection until something listens for its data.
    const nothing = () => {};
    socket.on("data", nothing);
    socket.removeListener("data", nothing);
    pushInPieces(socket);
  });
}

function pushInPieces(socket: Socket): void {
  const push = (chunk: Buffer | null) => Readable.prototype.push.call(socket, chunk);
  const rest: (Buffer | null)[] = [];

  const next = () => {
    const [first] = rest;
    if (first === undefined || socket.destroyed) return;
    if (pipelineOf({ socket }).isIgnored) {
      rest.length = 0;
      return;
    }
    if (first !== null && first.length > PIECE_BYTES) {
      rest[0] = first.subarray(PIECE_BYTES);
      push(first.subarray(0, PIECE_BYTES));
    } else {
      rest.shift();
      push(first);
    }
    // Reading has stopped while something was left. A paused connection reads again when it continues.
    if (rest.length > 0) setImmediate(next);
    else if (first !== null && !socket.isPaused()) socket.read(0);
  };

  socket.push = (chunk: Buffer | null) => {
    if (rest.length > 0) {
      rest.push(chunk);
      return false;
    }
    if (chunk === null || chunk.length <= PIECE_BYTES) return push(chunk);
    rest.push(chunk);
    next();
    return false;
  };
}
