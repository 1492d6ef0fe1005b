import { abortable } from "./deadline.ts";

/**
 * Reads an answer's body, no more of it than `maxBytes` and for no longer than the signal allows.
 *
 * @throws Error when it is larger; the signal's reason
 */
export async function readText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let size = 0; ; ) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return text + decoder.decode();
      size += value.byteLength;
      if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}
