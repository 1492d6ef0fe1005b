import { type FacilitatorClient, FacilitatorResponseError, FacilitatorTimeoutError } from "@x402/core/server";
import { shownReason } from "tallystick-sdk/x402/shownReason";
import { logWarning } from "../../ponderProcess.ts";

/**
 * A facilitator of which clients may see everything: x402 passes answers and errors on. A refusal has a reason in x402's
 * form. Whatever else the facilitator says is only in the log, because it may hold an address with a key.
 */
export function discreetly({ verify, settle, getSupported }: FacilitatorClient): FacilitatorClient {
  return {
    verify: async (...asked) => {
      const { invalidMessage, ...answer } = await unlessItFails("verify the payment", () => verify(...asked));
      if (answer.isValid) return answer;
      return { ...answer, invalidReason: told(answer.invalidReason, invalidMessage, "invalid_payment") };
    },
    settle: async (...asked) => {
      const { errorMessage, ...answer } = await unlessItFails("settle the payment", () => settle(...asked));
      if (answer.success) return answer;
      return { ...answer, errorReason: told(answer.errorReason, errorMessage, "settlement_failed") };
    },
    getSupported: () => unlessItFails("say what it supports", getSupported),
  };
}

function told(reason: string | undefined, message: string | undefined, otherwise: string): string {
  const shown = shownReason(reason, otherwise);
  if (shown !== reason || message !== undefined)
    logWarning({ msg: "The facilitator refuses a payment", reason, cause: message });
  return shown;
}

async function unlessItFails<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    logWarning({ msg: `The facilitator did not ${what}`, cause: String(error) });
    if (error instanceof FacilitatorTimeoutError) throw error;
    // x402 answers 502 to an error of this class, and 402 to others.
    const Failure = error instanceof FacilitatorResponseError ? FacilitatorResponseError : Error;
    throw new Failure(`The facilitator did not ${what}.`);
  }
}
