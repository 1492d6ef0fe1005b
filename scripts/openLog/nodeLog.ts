import { LogReader } from "tallystick-derive/logReader";
import { TallystickError } from "tallystick-protocol/errors";
import { readWholeLines } from "../eventLog/readWholeLines.ts";
import { printable } from "./askNode.ts";
import { followLog, readLogPage } from "./followLog.ts";
import { KeptLog } from "./keptLog.ts";

/** Lines that are read at most unless somebody asks for more: a node says how long its log is. */
export const MOST_LINES = 20_000_000;

export type NodeLogOptions = {
  /** A file with the log as far as it was read before: it goes on from there, and is kept there. */
  keep?: string | undefined;
  most?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Told of every tick. */
  onTick?: (tick: { block: number; line: number }) => void;
  /** Told how many lines were read from the file, and from the node. */
  onRead?: (lines: { kept: number; fetched: number }) => void;
};

/**
 * A node's event log, many whole lines at a time. Every line is an event and stands where it may before it is kept or given.
 *
 * @throws TallystickError naming the line that is wrong; `other_log` when the file has not the log of this node
 */
export async function* nodeLog(url: string, options: NodeLogOptions): AsyncGenerator<string> {
  const { keep, most = MOST_LINES, signal, onTick, onRead } = options;
  const reader = new LogReader();
  let lastLine = "";
  const check = (line: string) => {
    const event = reader.read(line);
    lastLine = line;
    if (event?.kind === "tick") onTick?.({ block: event.block, line: reader.line });
  };
  const kept = keep === undefined ? undefined : await KeptLog.open(keep);
  try {
    if (keep !== undefined && kept?.isEmpty === false) {
      for await (const text of readWholeLines(keep)) {
        for (const line of text.split("\n")) check(line);
        yield text;
      }
    }
    const before = reader.line;
    if (before > 0) await expectSameLog(url, { file: keep ?? "", line: before, text: lastLine, signal });
    for await (const lines of followLog(url, { after: before, most, signal })) {
      for (const line of lines) check(line);
      await kept?.append(lines);
      yield lines.join("\n");
      onRead?.({ kept: before, fetched: reader.line - before });
    }
  } finally {
    await kept?.close();
  }
}

async function expectSameLog(
  url: string,
  at: { file: string; line: number; text: string; signal: AbortSignal | undefined },
): Promise<void> {
  const { file, line, text, signal } = at;
  const { lines, last } = await readLogPage(url, { after: line - 1, limit: 1, signal });
  if (lines[0] === text) return;
  const has = lines[0] === undefined ? `ends with line ${last}` : `has there ${printable(lines[0], 200)}`;
  throw new TallystickError({
    code: "other_log",
    message: `Line ${line} of ${file} is not in the log of ${url}, which ${has}.`,
    hint: "The file is of another node, or of other parameters. Keep this log in another file.",
  });
}
