import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { PROBLEM_MEDIA_TYPE, problem } from "tallystick-protocol/problem";
import type { ClientBudget } from "./clientBudgets.ts";
import type { Pipeline } from "./pipelineOf.ts";

/** This many refusals are sent immediately. Each later refusal is delayed, until the client asks less. */
export const PROMPT_REFUSALS = 16;

const SMALL_BYTES = 64 * 1024;

/** A request with its answer, its client's budget, and its connection. */
export type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  budget: ClientBudget;
  pipeline: Pipeline;
};

/**
 * Refuses a request with 429. Behind a proxy, a client that keeps asking gets its refusals a second later. Without
 * a proxy the connection closes, and the client's next connection waits (see `limitSockets`).
 */
export function refuseRequest(
  { request, response, budget, pipeline }: Exchange,
  { isProxied, seconds, why }: { isProxied: boolean; seconds: number; why: string },
): void {
  // Many clients share a proxy's connection, so it stays open, unless a large body is still to come.
  const isKept = isProxied && isSmall(request);
  // If the connection closes, later requests on it get no answer, and the client needs a new connection for them.
  if (!isKept) pipeline.ends = true;
  const answer = () => answerRefusal(response, { seconds, why, isKept });
  if (isProxied) refuseInTime(budget, response, answer);
  else {
    budget.refuse();
    answer();
  }
}

/**
 * Answers a refusal. The first {@link PROMPT_REFUSALS} are answered immediately, the next refusals after a
 * second or more (`holdMs`). Only a limited number of a client's refusals wait at the same time.
 *
 * @param connection when it closes, the answer is no longer needed
 */
export function refuseInTime(budget: ClientBudget, connection: EventEmitter, answer: () => void): void {
  const held = budget.refuse() > PROMPT_REFUSALS ? budget.holdBack() : undefined;
  if (held === undefined) {
    answer();
    return;
  }
  const timer = setTimeout(() => {
    held.release();
    answer();
  }, held.ms);
  connection.once("close", () => {
    clearTimeout(timer);
    held.release();
  });
}

/** The body of every 429. */
export function tooManyRequests(why: string, seconds: number): string {
  return JSON.stringify(problem(429, "rate_limited", `This address ${why}; try again in ${seconds} s.`));
}

/** Whether reading the rest of a request is cheaper than a new connection. */
function isSmall(request: IncomingMessage): boolean {
  return (announcedBytes(request) ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES;
}

/** The length of a request's body as its headers announce it; undefined if it comes in chunks. */
export function announcedBytes({ headers }: IncomingMessage): number | undefined {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined;
}

function answerRefusal(
  response: ServerResponse,
  { seconds, why, isKept }: { seconds: number; why: string; isKept: boolean },
): void {
  const body = tooManyRequests(why, seconds);
  response.writeHead(429, {
    "content-type": PROBLEM_MEDIA_TYPE,
    "content-length": Buffer.byteLength(body),
    "retry-after": String(seconds),
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "retry-after",
    ...(!isKept && { connection: "close" }),
  });
  response.end(body);
}
