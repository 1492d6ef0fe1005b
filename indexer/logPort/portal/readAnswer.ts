import type { Address } from "tallystick-protocol/address";
import { checkLogs } from "../checkLogs.ts";
import { BadAnswerError } from "../errors.ts";
import type { BlockAt, BlockRange, LogQuery, TokenLog } from "../logPort.ts";
import { parseBlock } from "./parseBlock.ts";
import { type BodyEnd, LineTooLongError, readLines } from "./readLines.ts";

/** How far a range has been read: the next block to read, and the last block that was read. */
export type Progress = { next: number; last: BlockAt | null };

export type AnswerLimits = { maxLineBytes: number; maxAnswerBytes: number };

/**
 * Reads one answer of a portal line by line. Updates `progress` after each block, so a broken answer loses
 * nothing.
 *
 * @param add receives the logs of a block; returns false when no more are wanted
 * @returns how the answer ended
 * @throws BadAnswerError also when the first block is missing, or blocks are out of order
 */
export async function readAnswer(
  body: AsyncIterable<Uint8Array>,
  { source, token, query, range }: { source: string; token: Address; query: LogQuery; range: BlockRange },
  progress: Progress,
  add: (logs: TokenLog[]) => boolean,
  { maxLineBytes, maxAnswerBytes }: AnswerLimits,
): Promise<BodyEnd["kind"]> {
  const first = progress.next;
  const lines = readLines(body, maxLineBytes, maxAnswerBytes);

  const take = (line: string): boolean => {
    const { block, hash, logs } = parseBlock(line, source, token, query.kind);
    const { next } = progress;
    // A stream always begins with the first block of its range, even if this block has no logs.
    const least =
      next === first && block !== first ? `must be ${first}` : `must be from ${next} to ${range.to}`;
    if (block < next || block > range.to || (next === first && block !== first)) {
      throw new BadAnswerError(source, "header.number", `${least}, not ${block}`);
    }
    const isWanted = add(checkLogs(logs, { source, query, range: { from: block, to: block } }));
    progress.next = block + 1;
    progress.last = { block, hash };
    return isWanted;
  };

  try {
    for (;;) {
      const { done, value } = await lines.next();
      if (!done) {
        if (!take(value)) return "full";
        continue;
      }
      if (value.kind !== "whole" || value.rest === "") return value.kind;
      // A proxy may cut a body in the middle of a line and still end it as if it were complete.
      if (!isJson(value.rest)) return "cut";
      take(value.rest);
      return "whole";
    }
  } catch (error) {
    if (!(error instanceof LineTooLongError)) throw error;
    throw new BadAnswerError(source, "line", `must be of ${maxLineBytes} bytes at most`);
  } finally {
    await lines.return({ kind: "full" });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
