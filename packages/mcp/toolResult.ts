import type { CallToolResult } from "@modelcontextprotocol/server";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { HireFailedError, SellerRefusedError } from "tallystick-sdk/errors";
import { ServiceError } from "tallystick-sdk/requestService";
import { nextStep } from "./hireAnswer.ts";
import { quoteStranger } from "./strangersText.ts";

/** A tool's answer: structured, and the same as text for clients that read only that. */
export function toolResult(output: { [key: string]: unknown }): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
}

/** What went wrong, in words an agent can act on: the code, what happened, what to do next, where the money is. */
export function toolError(error: unknown): CallToolResult {
  if (!(error instanceof TallystickError)) {
    // A stranger who made the text that could not be handled may have written this message.
    const message = error instanceof Error ? error.message : String(error);
    return failure(`internal: Something failed in this server.\n${quoteStranger(message)}`);
  }
  // A node is asked over the network: what it says is its own.
  if (error instanceof ServiceError && error.status !== 0) {
    const words = { code: error.code, message: error.message, hint: error.hint };
    return failure(`${plainCode(error.code)}: The node answered ${error.status}.\n${quoteStranger(words)}`);
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
  const words = failed?.words ?? (error instanceof SellerRefusedError ? error.words : undefined);
  if (words) lines.push(quoteStranger(words));
  return failure(lines.join("\n"));
}

/** Runs a tool's work; whatever it throws becomes an answer, never the end of the session. */
export async function answering(work: () => Promise<{ [key: string]: unknown }>): Promise<CallToolResult> {
  try {
    return toolResult(await work());
  } catch (error) {
    return toolError(error);
  }
}

/** A message on one line, of a length that nobody's text can outgrow. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 500);
}

/** A code that a node gave, when it has the form of one. */
function plainCode(code: string): string {
  return /^[a-z0-9_]{1,64}$/.test(code) ? code : "refused";
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
