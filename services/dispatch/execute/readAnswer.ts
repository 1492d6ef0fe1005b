import { utf8ToBytes } from "@noble/hashes/utils.js";
import { validateJson } from "tallystick-capabilities/validateJson";
import { ForeignJsonError, readForeignJson } from "tallystick-protocol/json/foreignJson";

/**
 * The largest answer that is settled, in bytes of JSON. A request to settlement has at most 64 KiB, and the proposal,
 * the shadow and the records share it.
 */
export const MAX_ANSWER_BYTES = 12_288;
const LIMITS = { maxLength: 65_536, maxDepth: 24, maxValues: 4_096 };

/** A model's answer in the form that was asked for, or what is wrong with it. */
export type Answer = { answer: unknown; confidence: number } | { fault: string };

/**
 * Reads a model's answer. It is text from a stranger: size, depth and number of values are limited before it is used.
 *
 * @param schema of the whole answer
 */
export function readAnswer(text: string, schema: { readonly [keyword: string]: unknown }): Answer {
  let value: unknown;
  try {
    value = readForeignJson(withoutFence(text), LIMITS);
  } catch (error) {
    if (error instanceof ForeignJsonError) return { fault: error.code };
    throw error;
  }
  const [issue] = validateJson(schema, value, "output");
  if (issue) return { fault: `not_the_schema: ${issue.field} ${issue.message}`.slice(0, 200) };
  const { answer, confidence } = value as { answer: unknown; confidence: number };
  if (hasLoneSurrogate(value)) return { fault: "not_the_schema: half a character" };
  return utf8ToBytes(JSON.stringify(answer)).length > MAX_ANSWER_BYTES
    ? { fault: "answer_too_large" }
    : { answer, confidence };
}

/** Models often put JSON between the marks of a code block. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("```") || !trimmed.endsWith("```") || trimmed.length < 7) return trimmed;
  return trimmed.slice(trimmed.startsWith("```json") ? 7 : 3, -3).trim();
}

/** Half of a surrogate pair has no UTF-8, so its hash would be that of another text. JSON writes it as an escape. */
function hasLoneSurrogate(value: unknown): boolean {
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(value));
}
