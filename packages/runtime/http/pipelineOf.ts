import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** A connection, as far as it matters for the limits of the requests on it. */
export type Pipeline = {
  /** Requests that have no whole answer yet. */
  waiting: number;
  /** An answer said that the connection closes. Requests after it are not answered (RFC 9112 §9.6). */
  ends: boolean;
};

/**
 * Requests of one connection that may wait for their answers. One read of a connection can bring two thousand small
 * requests, and all of them would run before those of other clients.
 */
export const MAX_PIPELINED = 64;

const pipelines = new WeakMap<Socket, Pipeline>();

/** The pipeline of a request's connection. All requests of one connection share it. */
export function pipelineOf({ socket }: Pick<IncomingMessage, "socket">): Pipeline {
  const known = pipelines.get(socket);
  if (known !== undefined) return known;
  const pipeline = { waiting: 0, ends: false };
  pipelines.set(socket, pipeline);
  return pipeline;
}
