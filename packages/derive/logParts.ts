import type { DeriveEvent } from "./events.ts";
import type { LogReader } from "./logReader.ts";

/**
 * A part ends after `MOST_LINES` lines. It ends earlier once its lines have `MOST_CHARACTERS` characters together.
 */
const MOST_LINES = 256;
const MOST_CHARACTERS = 1 << 18;

/** Some lines of a log that are read before the first of them is applied. */
export type LogPart = {
  /** The number of its first line. */
  first: number;
  /** The event of each line; undefined for an empty line. */
  events: (DeriveEvent | undefined)[];
  /** The length of its lines, in characters. */
  size: number;
  /** Why nothing can be read after these lines. Undefined if more follows, or if the log ends here. */
  failure: unknown;
};

/**
 * Reads a log in parts. An error of reading comes as the `failure` of the last part, so the lines before it are
 * applied first. One of these lines may contradict the others, and only the first fault of a log is reported.
 *
 * @param texts the log, each text one or more whole lines
 */
export async function* readParts(texts: AsyncIterable<string>, reader: LogReader): AsyncGenerator<LogPart> {
  let part = startOf(reader);
  try {
    for await (const text of texts) {
      for (const line of text.split("\n")) {
        part.events.push(reader.read(line));
        part.size += line.length;
        if (part.events.length < MOST_LINES && part.size < MOST_CHARACTERS) continue;
        yield part;
        part = startOf(reader);
      }
    }
    reader.finish();
  } catch (failure) {
    part.failure = failure;
  }
  yield part;
}

function startOf(reader: LogReader): LogPart {
  return { first: reader.line + 1, events: [], size: 0, failure: undefined };
}
