import type { CallToolResult } from "@modelcontextprotocol/server";
import { InvalidInputError, TallystickError } from "../../protocol/errors.ts";
import { HireFailedError } from "../errors.ts";
import { nextStep } from "./hireAnswer.ts";

/** A tool's answer: structured, and the same as text for clients that read only that. */
export function toolResult(output: { [key: string]: unknown }): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
}

/** What went wrong, in words an agent can act on: the code, what happened, what to do next, where the money is. */
export function toolError(error: unknown): CallToolResult {
  if (!(error instanceof TallystickError)) {
    const message = error instanceof Error ? error.message : String(error);
    return failure(`internal: ${message}`);
  }
  const lines = [`${error.code}: ${error.message}`];
  if (error instanceof InvalidInputError && error.issues.length > 1) {
    lines.push(...error.issues.map(({ field, message }) => `- ${field}: ${message}`));
  }
  const failed = error instanceof HireFailedError ? error : undefined;
  if (failed && failed.money !== "none") lines.push(nextStep(failed.money, failed.escrow));
  else if (error.hint !== undefined) lines.push(error.hint);
  if (failed) {
    const where = failed.escrow ? ` Escrow: ${failed.escrow.escrowId} in ${failed.escrow.contract}.` : "";
    lines.push(`Money: ${failed.money}. Hire: ${failed.hireId}.${where}`);
  }
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

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
