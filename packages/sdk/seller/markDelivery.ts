import type { Hex } from "tallystick-protocol/hex";
import { ChainError, RelayRefusedError } from "../errors.ts";
import type { EscrowRelay } from "../escrow/escrowRelay.ts";
import { pause } from "../pause.ts";

/**
 * The shortest, the first and the longest pause between two attempts, in milliseconds. Each pause is twice as long as the
 * one before, and at most half of the time that is left.
 */
const LEAST_PAUSE_MS = 250;
const FIRST_PAUSE_MS = 1_000;
const MOST_PAUSE_MS = 60_000;

/** How long a mark is tried again and again at most, in milliseconds: a day. */
const TRIED_MS = 86_400_000;

/** A refusal with one of these codes stays the same, unless its details say that it is temporary. */
const FINAL = new Set(["call_refused", "relay_refused"]);

export type MarkOutcome = "over" | "refused" | "due";

export type DeliveryMark = {
  relay: Pick<EscrowRelay, "state">;
  escrowId: Hex;
  /** Unix seconds. From then on the contract takes no mark. */
  deadline: bigint;
  /** Whether it was certainly never sent before. */
  isFirst: boolean;
  /** Sends the mark. It may be sent again: the contract marks a delivery once. */
  send: () => Promise<unknown>;
  /** The chain's clock, in milliseconds since 1970. */
  now: () => number;
  log: (sentence: string, details: { error: string }) => void;
};

/**
 * Marks a delivery. The result is delivered even if this fails: the promise resolves after the first attempt. If the chain
 * or the relay could not be reached, more attempts follow, until the delivery is marked, the escrow is settled, or the
 * deadline has come.
 *
 * @returns `over` if nothing is left to do, `refused` if the contract or the relay refused the mark for good, and `due` if
 * a process that ends must have the delivery marked at its next start
 */
export async function markDelivery(mark: DeliveryMark): Promise<MarkOutcome> {
  const until = Math.min(Number(mark.deadline) * 1_000, mark.now() + TRIED_MS);
  if (!mark.isFirst && mark.now() >= until) return "over";
  const outcome = await attempt(mark, mark.isFirst ? mark.send : () => sendUnlessMarked(mark));
  if (outcome === "due") void markLater(mark, until);
  return outcome;
}

async function markLater(mark: DeliveryMark, until: number): Promise<void> {
  for (let longestMs = FIRST_PAUSE_MS; ; longestMs = Math.min(2 * longestMs, MOST_PAUSE_MS)) {
    const pauseMs = Math.min(longestMs, (until - mark.now()) / 2);
    if (pauseMs < LEAST_PAUSE_MS) return;
    await pause(pauseMs, { mayEnd: true });
    if ((await attempt(mark, () => sendUnlessMarked(mark))) !== "due") return;
  }
}

async function sendUnlessMarked({ relay, escrowId, send }: DeliveryMark): Promise<void> {
  const { status, delivered } = await relay.state(escrowId);
  // A node of the RPC that does not know the newest deposits says `none`.
  if (!delivered && (status === "held" || status === "none")) await send();
}

async function attempt({ log }: DeliveryMark, work: () => Promise<unknown>): Promise<MarkOutcome> {
  try {
    await work();
    return "over";
  } catch (error) {
    log("Delivery could not be marked.", { error: String(error) });
    return isFinal(error) ? "refused" : "due";
  }
}

function isFinal(error: unknown): boolean {
  if (error instanceof RelayRefusedError) return error.secondsToWait === undefined;
  if (!(error instanceof ChainError) || !FINAL.has(error.code)) return false;
  return Object(error.details).is_temporary !== true;
}
