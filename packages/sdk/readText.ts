import { readBytes } from "./readBytes.ts";

/** Reads an answer's body as UTF-8, in the limits of {@link readBytes}. */
export async function readText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  return new TextDecoder().decode(await readBytes(response, maxBytes, signal));
}
