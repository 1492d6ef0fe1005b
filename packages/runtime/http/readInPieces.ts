import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipelineOf } from "./pipelineOf.ts";

/** Bytes that the parser gets in one turn of the event loop. The headers of a usual request are shorter. */
const PIECE_BYTES = 4 * 1024;

/**
 * Lets a server parse what one connection sent in pieces, and do other work between them. Node reads up to 64
 * KiB at once, and parses all of it before anything else. 2,000 small requests in one read would hold up all
 * other clients for a tenth of a second. After the last request of a connection that may be answered, only the rest
 * of its piece is parsed.
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
    if (pipelineOf({ socket }).ends) {
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
    if (rest.length > 0) setImmediate(next);
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
    if (chunk === null || chunk.length <= PIECE_BYTES) return push(chunk);
    rest.push(chunk);
    next();
    return false;
  };
}
