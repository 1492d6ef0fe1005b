import { TallystickError } from "tallystick-protocol/errors";
import { askNode, badAnswer } from "./askNode.ts";

/** The most lines of one request. */
export const PAGE = 5_000;

/** A node ends a page early only if its lines are long. Such a page has more bytes than this. */
const MIN_CUT_BYTES = 1 << 20;

/** Lines of a node's log, and the number of the last line that the node says it has. */
export type LogPage = { lines: string[]; last: number };

/**
 * Reads the lines after line `after`. Checks what the page says about itself: its first line, its number of
 * lines, and whether more lines follow.
 *
 * @throws TallystickError `bad_answer` naming the page and what is wrong with it, and those of {@link askNode}
 */
export async function readLogPage(
  url: string,
  { after, limit = PAGE, signal }: { after: number; limit?: number; signal?: AbortSignal | undefined },
): Promise<LogPage> {
  const path = `/v1/events?after=${after}&limit=${limit}`;
  const { text, headers } = await askNode(url, path, signal);
  const said = headers.get("tallystick-lines") ?? "";
  const found = /^first=(\d{1,15}), next=(\d{1,15}), last=(\d{1,15})$/.exec(said);
  if (found === null) throw badAnswer(url, path, "does not say which lines it has (tallystick-lines)");
  const [first, next, last] = found.slice(1).map(Number) as [number, number, number];
  if (text !== "" && !text.endsWith("\n"))
    throw badAnswer(url, path, "is cut off: its last line does not end");
  const lines = text === "" ? [] : text.slice(0, -1).split("\n");
  if (first !== after + 1)
    throw badAnswer(url, path, `begins with line ${first}, where line ${after + 1} was asked for`);
  if (lines.length > limit) throw badAnswer(url, path, `has ${lines.length} lines, more than were asked for`);
  if (next !== first + lines.length)
    throw badAnswer(
      url,
      path,
      `says that it has lines ${first} to ${next - 1}, but it has ${lines.length} lines`,
    );
  if (last < next - 1)
    throw badAnswer(url, path, `says that line ${last} is the last, and has line ${next - 1}`);
  const empty = lines.findIndex((line) => line.trim() === "");
  if (empty >= 0) throw badAnswer(url, path, `has no event in line ${first + empty}`);
  if (next <= last && lines.length < limit && text.length < MIN_CUT_BYTES)
    throw badAnswer(
      url,
      path,
      `ends with line ${next - 1}, though line ${last} is the last and ${limit} were asked for`,
    );
  return { lines, last };
}

/**
 * Reads a node's log page by page, from the line after `after` to its end. A page may come from a cache, so
 * its number of the last line may be old. Reading ends with a page that reaches its own last line.
 *
 * @param options.most the most lines of a log; a longer log is refused, because a hostile node's log may
 * never end
 * @throws TallystickError `log_too_long`, and those of {@link readLogPage}
 */
export async function* followLog(
  url: string,
  { after, most, signal }: { after: number; most: number; signal?: AbortSignal | undefined },
): AsyncGenerator<LogPage> {
  for (let at = after; ; ) {
    const page = await readLogPage(url, { after: at, signal });
    const { lines, last } = page;
    if (last > most) throw tooLong(url, last, most);
    if (lines.length > 0) yield page;
    at += lines.length;
    if (at >= last) return;
  }
}

function tooLong(url: string, last: number, most: number): TallystickError {
  return new TallystickError({
    code: "log_too_long",
    message: `${url} says that its log has ${last} lines; no more than ${most} are read.`,
    hint: "If you trust the node, allow more (--max-lines).",
  });
}
