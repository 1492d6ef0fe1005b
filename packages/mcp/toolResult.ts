import type { CallToolResult } from "@modelcontextprotocol/server";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import {
  ChainError,
  HireFailedError,
  NoSellerError,
  SellerRefusedError,
  SellerSchemaError,
} from "tallystick-sdk/errors";
import { ServiceError } from "tallystick-sdk/requestService";
import { nextStep } from "./hireAnswer.ts";
import { plainCode, quoteStranger } from "./strangersText.ts";

/** A tool's answer: structured, and the same as text for clients that read only text. */
export function toolResult(output: { [key: string]: unknown }): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
}

/**
 * An error in words that an agent can act on: the code, what happened, what to do next, and where the money
 * is.
 */
export function toolError(error: unknown): CallToolResult {
  if (!(error instanceof TallystickError)) {
    // The message may quote a stranger's text.
    const message = error instanceof Error ? error.message : String(error);
    return failure(`internal: Something failed in this server.\n${quoteStranger(message)}`);
  }
  // The message comes from a node, which is a stranger.
  if (error instanceof ServiceError && error.status !== 0) {
    const words = { code: error.code, message: error.message, hint: error.hint };
    return failure(`${plainCode(error.code)}: The node answered ${error.status}.\n${quoteStranger(words)}`);
  }
  // The faults quote the schema that the seller published.
  if (error instanceof SellerSchemaError) {
    const faults = error.issues.slice(0, 20).map(({ field, message }) => `${field}: ${message}`);
    return failure(`${error.code}: The params do not fit the seller's schema.\n${quoteStranger(faults)}`);
  }
  // An RPC and a keeper are strangers too.
  if (mayQuoteChain(error)) {
    const words = [`${error.code}: The chain could not be asked, or it refused this.`];
    if (error.hint !== undefined) words.push(oneLine(error.hint));
    return failure([...words, quoteStranger(error.message)].join("\n"));
  }
  const lines = [`${error.code}: ${oneLine(error.message)}`];
  if (error instanceof InvalidInputError && error.issues.length > 1) {
    lines.push(
      ...error.issues.slice(0, 20).map(({ field, message }) => `- ${oneLine(`${field}: ${message}`)}`),
    );
  }
  const failed = error instanceof HireFailedError ? error : undefined;
  if (failed && failed.money !== "none") lines.push(nextStep(failed.money, failed.escrow));
  else if (error.hint !== undefined) lines.push(oneLine(error.hint));
  if (failed) {
    const where = failed.escrow ? ` Escrow: ${failed.escrow.escrowId} in ${failed.escrow.contract}.` : "";
    lines.push(`Money: ${failed.money}. Hire: ${failed.hireId}.${where}`);
  }
  const words = wordsOf(error);
  if (words !== undefined) lines.push(quoteStranger(words));
  return failure(lines.join("\n"));
}

/** The codes of a chain's errors whose messages are only our own words. */
const OWN_WORDS: ReadonlySet<string> = new Set(["wrong_chain", "wrong_token"]);

/** Whether the message may have words of an RPC or of a keeper. */
function mayQuoteChain(error: TallystickError): boolean {
  if (OWN_WORDS.has(error.code)) return false;
  return error instanceof ChainError || error.code === "chain_unavailable";
}

/** What strangers wrote about the failure, or chose as the names of their payment modes. */
function wordsOf(error: TallystickError): unknown {
  if (error instanceof HireFailedError || error instanceof SellerRefusedError) return error.words;
  if (!(error instanceof NoSellerError) || error.paymentModes.length === 0) return undefined;
  return { payment_modes: error.paymentModes };
}

/** Runs a tool's work. An error becomes an answer and never ends the session. */
export async function answering(work: () => Promise<{ [key: string]: unknown }>): Promise<CallToolResult> {
  try {
    return toolResult(await work());
  } catch (error) {
    return toolError(error);
  }
}

/** A message on one line, with a limited length. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 500);
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
