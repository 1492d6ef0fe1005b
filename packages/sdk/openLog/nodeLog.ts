import { LogReader } from "tallystick-derive/logReader";
import { TallystickError } from "tallystick-protocol/errors";
import { followLog, readLogPage } from "./followLog.ts";
import { printable } from "./printable.ts";

/**
 * The most lines that are read by default. There must be a limit, because the node itself says how long its log
 * is.
 */
export const MAX_LINES = 20_000_000;

/** A store for the lines that were read before, such as a file. */
export type LogKeep = {
  /** Its name for messages, such as a file name. */
  name: string;
  isEmpty: boolean;
  /** The stored lines. Each text consists of whole lines. */
  texts: () => AsyncIterable<string>;
  append: (lines: readonly string[]) => Promise<void>;
};

/** The progress: lines from the store, lines from the node, and the number of the last line that the node names. */
export type LogProgress = { kept: number; fetched: number; last: number };

export type NodeLogOptions = {
  /** Reading continues after the stored lines, and new lines are stored. */
  keep?: LogKeep | undefined;
  most?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called for every tick. */
  onTick?: ((tick: { block: number; line: number }) => void) | undefined;
  /** Called after every page. */
  onProgress?: ((progress: LogProgress) => void) | undefined;
};

/**
 * Reads a node's event log, many whole lines at a time. Each line is checked before it is stored or returned:
 * it must be an event at an allowed place.
 *
 * @throws TallystickError naming the line that is wrong; `other_log` when the stored lines are not from the log of
 * this node
 */
export async function* nodeLog(url: string, options: NodeLogOptions = {}): AsyncGenerator<string> {
  const { keep, most = MAX_LINES, signal, onTick, onProgress } = options;
  const reader = new LogReader();
  let lastLine = "";
  const check = (line: string) => {
    const event = reader.read(line);
    lastLine = line;
    if (event?.kind === "tick") onTick?.({ block: event.block, line: reader.line });
  };
  if (keep?.isEmpty === false) {
    for await (const text of keep.texts()) {
      for (const line of text.split("\n")) check(line);
      yield text;
    }
    await expectSameLog(url, { name: keep.name, line: reader.line, text: lastLine, signal });
  }
  const before = reader.line;
  for await (const { lines, last } of followLog(url, { after: before, most, signal })) {
    for (const line of lines) check(line);
    await keep?.append(lines);
    yield lines.join("\n");
    onProgress?.({ kept: before, fetched: reader.line - before, last });
  }
}

async function expectSameLog(
  url: string,
  at: { name: string; line: number; text: string; signal: AbortSignal | undefined },
): Promise<void> {
  const { name, line, text, signal } = at;
  const { lines, last } = await readLogPage(url, { after: line - 1, limit: 1, signal });
  if (lines[0] === text) return;
  const has = lines[0] === undefined ? `ends with line ${last}` : `has there ${printable(lines[0], 200)}`;
  throw new TallystickError({
    code: "other_log",
    message: `Line ${line} of ${name} is not in the log of ${url}, which ${has}.`,
    hint: "The stored lines come from another node, or were made with other parameters. Store this log in another file.",
  });
}
