import { atomicSchema } from "tallystick-protocol/amount";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import * as z from "zod";
import { ChainError } from "../errors.ts";
import { pause } from "../pause.ts";
import { readServiceAnswer } from "../readServiceAnswer.ts";
import { readText } from "../readText.ts";
import type { Fetch } from "../requestService.ts";
import type { EscrowRelay } from "./escrowRelay.ts";
import { escrowStatuses } from "./readEscrowState.ts";

export type HttpRelayParameters = {
  /** The URL of a keeper, or of a `custom_escrow` endpoint. */
  url: string;
  fetch?: Fetch;
  /**
   * How long to wait for the keeper's answer, in milliseconds. After the answer to a release or a refund, the relay
   * waits up to this time again, until the escrow is settled. Default 60,000.
   */
  waitMs?: number;
};

/** The largest answer of a keeper that is read, in bytes. */
const MAX_ANSWER_BYTES = 65_536;

/** The longest pause between two looks at an escrow, in milliseconds. */
const MAX_PAUSE_MS = 2_000;

/** How long to wait when a keeper sends 429 without a time, in milliseconds. */
const PAUSE_MS = 1_000;

/** The shortest pause before the keeper is asked again, even if it names a shorter pause. */
const MIN_PAUSE_MS = 200;

type Answer = { [key: string]: unknown };

const outcomeForm = z.looseObject({ escrow_id: hash32Schema, status: z.string().max(64) });
const stateForm = z.object({
  status: z.enum(escrowStatuses),
  delivered: z.boolean().default(false),
  amount: atomicSchema,
});

/** A relay that sends signed instructions to a remote keeper by HTTP. The keeper pays the gas. */
export function httpRelay({
  url,
  fetch = globalThis.fetch,
  waitMs = 60_000,
}: HttpRelayParameters): EscrowRelay {
  const ask = askKeeper(url.replace(/\/$/, ""), fetch);

  async function send(path: string, hire: Hire, rest: object): Promise<Answer> {
    const { status, answer } = await ask(path, performance.now() + waitMs, {
      hire: toHireJson(hire),
      ...rest,
    });
    if (status === 200 || status === 202) return answer;
    const message = typeof answer.detail === "string" ? answer.detail : `${path} answered ${status}`;
    if (status >= 500) throw unreachable(message);
    throw new ChainError({
      code: answer.code === "call_refused" ? "call_refused" : "relay_refused",
      message,
      reason: typeof answer.reason === "string" ? answer.reason : undefined,
      hint: "Nothing was sent.",
      // The keeper may accept the same instruction later.
      ...(status === 429 && { details: { is_temporary: true } }),
    });
  }

  const txOf = (answer: Answer): Hex => {
    if (isHex(answer.tx_hash, 32)) return answer.tx_hash;
    throw unreachable("The keeper has taken the instruction, but does not say in which transaction it went.");
  };

  /** Waits until an escrow has the wanted status, and returns the transaction. */
  async function settled(answer: Answer, wanted: string): Promise<Hex> {
    let state = read(outcomeForm, answer);
    // A node of the keeper's RPC that does not know the newest deposits says `none`.
    const isOpen = (): boolean => state.status === "held" || state.status === "none";
    const until = performance.now() + waitMs;
    // The pauses grow, since a keeper counts requests.
    for (let pauseMs = 250; isOpen(); pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      if (performance.now() + pauseMs >= until) break;
      await pause(pauseMs);
      const { status, answer: next } = await ask(`/escrows/${state.escrow_id}`, until);
      // Any other status says nothing of the escrow.
      if (status === 200) state = read(outcomeForm, next);
    }
    if (state.status === wanted) return txOf(state);
    throw new ChainError({
      code: isOpen() ? "chain_unreachable" : "call_refused",
      message: `The escrow is ${state.status}, not ${wanted}.`,
      hint: "Read the state again.",
    });
  }

  return {
    deposit: async (hire, { validAfter, validBefore, signature }) =>
      txOf(
        await send("/deposit", hire, {
          valid_after: String(validAfter),
          valid_before: String(validBefore),
          signature,
        }),
      ),
    markDelivered: async (hire, resultHash, signature) =>
      txOf(await send("/delivered", hire, { result_hash: resultHash, signature })),
    release: async (hire, signature) => settled(await send("/release", hire, { signature }), "released"),
    refund: async (hire, signer, signature) =>
      settled(await send("/refund", hire, { signer, signature }), "refunded"),
    state: async (id) => {
      const { status, answer } = await ask(`/escrows/${id}`, performance.now() + waitMs);
      if (status !== 200) throw unreachable(`/escrows/${id} answered ${status}`);
      const { amount, ...state } = read(stateForm, answer);
      return { ...state, amount: BigInt(amount) };
    },
  };
}

/**
 * Reads a keeper's answer, which says where the money is. If the answer does not fit `form`, it does not show where the
 * money is.
 *
 * @throws ChainError `chain_unreachable`
 */
function read<Form extends z.ZodType>(form: Form, answer: Answer): z.output<Form> {
  try {
    return readServiceAnswer(form, answer, { what: "The keeper's answer" });
  } catch (cause) {
    throw unreachable(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Asks a keeper. After each 429 it pauses and asks again, if the pause ends before `until` (`performance.now()`). */
function askKeeper(base: string, fetch: Fetch) {
  return async (path: string, until: number, body?: object): Promise<{ status: number; answer: Answer }> => {
    try {
      const post = body && {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      };
      for (;;) {
        const signal = AbortSignal.timeout(Math.max(1, Math.ceil(until - performance.now())));
        const response = await fetch(`${base}${path}`, { ...post, signal });
        const text = await readText(response, MAX_ANSWER_BYTES, signal);
        const pauseMs = response.status === 429 ? pauseOf(response) : undefined;
        if (pauseMs === undefined || performance.now() + pauseMs >= until)
          return { status: response.status, answer: Object(readForeignJson(text)) };
        await pause(pauseMs);
      }
    } catch (cause) {
      throw unreachable(`${base}${path}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
  };
}

/** How long the keeper asks to wait (RFC 9110 §10.2.3; only seconds are read). */
function pauseOf({ headers }: Response): number {
  const text = headers.get("retry-after");
  const pauseMs = text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) * 1_000 : PAUSE_MS;
  // A keeper is a stranger. If it always says "at once", it must not keep this process busy.
  return Math.max(MIN_PAUSE_MS, pauseMs);
}

function unreachable(message: string, cause?: unknown): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message,
    hint: "If this was an instruction, it is not known whether the keeper sent it. Read the state again.",
    cause,
  });
}
