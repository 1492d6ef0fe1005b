import { AnswerTooLarge, readBytes as readAll } from "tallystick-sdk/readBytes";

/** The signal of a request also ends the reading of its answer. So the reading needs no signal of its own. */
const NEVER = new AbortController().signal;

/** The bytes of an answer, which may have no end; undefined when there are more than `most`. The rest is not read. */
export async function readBytes(response: Response, most: number): Promise<Uint8Array | undefined> {
  try {
    return await readAll(response, most, NEVER);
  } catch (error) {
    if (error instanceof AnswerTooLarge) return undefined;
    throw error;
  }
}

/** The same as text. */
export async function readText(response: Response, most: number): Promise<string | undefined> {
  const bytes = await readBytes(response, most);
  return bytes && new TextDecoder().decode(bytes);
}
