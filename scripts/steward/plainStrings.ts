import { plainText } from "tallystick-runtime/plainText";

/**
 * A copy of an answer in which no text can control the terminal. Any node may have written the answer, and a file
 * with it may come from any agent. So no text in it can be trusted.
 */
export function plainStrings<Answer>(answer: Answer): Answer {
  return plain(answer) as Answer;
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [plainText(name), plain(one)]));
}
