import type { Hire } from "../../protocol/escrow/hire.ts";
import { toHireJson } from "../../protocol/escrow/hireJson.ts";
import { type Hex, isHex } from "../../protocol/hex.ts";
import { readForeignJson } from "../../protocol/json/foreignJson.ts";
import { ChainError } from "../errors.ts";
import { readText } from "../readText.ts";
import type { Fetch } from "../requestService.ts";
import type { EscrowState } from "./escrowCalls.ts";
import type { EscrowRelay } from "./escrowRelay.ts";

export type HttpRelayParameters = {
  /** Of a keeper, or of a `custom_escrow` endpoint. */
  url: string;
  fetch?: Fetch;
  /** How long an instruction may take to be carried out, in milliseconds. Default 60,000. */
  waitMs?: number;
};

/** Largest answer of a keeper that is read, in bytes. */
const MAX_ANSWER_BYTES = 65_536;

type Answer = { [key: string]: unknown };

/** A relay that is a keeper somewhere else: it gets signed instructions by HTTP and pays the gas. */
export function httpRelay({
  url,
  fetch = globalThis.fetch,
  waitMs = 60_000,
}: HttpRelayParameters): EscrowRelay {
  const base = url.replace(/\/$/, "");

  async function ask(path: string, body?: object): Promise<{ status: number; answer: Answer }> {
    try {
      const post = body && {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      };
      const signal = AbortSignal.timeout(waitMs);
      const response = await fetch(`${base}${path}`, { ...post, signal });
      const text = await readText(response, MAX_ANSWER_BYTES, signal);
      return { status: response.status, answer: Object(readForeignJson(text)) };
    } catch (cause) {
      throw unreachable(`${base}${path}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
  }

  async function send(path: string, hire: Hire, rest: object): Promise<Answer> {
    const { status, answer } = await ask(path, { hire: toHireJson(hire), ...rest });
    if (status === 200 || status === 202) return answer;
    const message = typeof answer.detail === "string" ? answer.detail : `${path} answered ${status}`;
    if (status >= 500) throw unreachable(message);
    throw new ChainError({
      code: answer.code === "call_refused" ? "call_refused" : "relay_refused",
      message,
      reason: typeof answer.reason === "string" ? answer.reason : undefined,
      hint: "Nothing was sent.",
    });
  }

  const txOf = (answer: Answer): Hex => {
    if (isHex(answer.tx_hash, 32)) return answer.tx_hash;
    throw unreachable("The keeper has taken the instruction, but does not say in which transaction it went.");
  };

  /** Waits for an escrow to come to this end. */
  async function settled(answer: Answer, wanted: string): Promise<Hex> {
    let state = answer;
    for (const until = Date.now() + waitMs; state.status === "held" && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      state = (await ask(`/escrows/${state.escrow_id}`)).answer;
    }
    if (state.status === wanted) return txOf(state);
    throw new ChainError({
      code: state.status === "held" ? "chain_unreachable" : "call_refused",
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
      const { status, answer } = await ask(`/escrows/${id}`);
      if (status !== 200) throw unreachable(`/escrows/${id} answered ${status}`);
      return {
        status: answer.status as EscrowState["status"],
        delivered: answer.delivered === true,
        amount: BigInt(String(answer.amount)),
      };
    },
  };
}

function unreachable(message: string, cause?: unknown): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message,
    hint: "Nobody knows whether it was sent: read the state again.",
    cause,
  });
}
