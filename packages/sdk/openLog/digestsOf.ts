import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import * as z from "zod";
import { askNode, badAnswer } from "./askNode.ts";

const count = z.int().min(0);
const tick = z.object({
  block: count,
  time: count,
  digest: z.string().regex(/^0x[0-9a-f]{64}$/),
  line: count,
});
const page = z.object({ digests: z.array(tick).max(5_000), next: count.nullable() });

/** The digest at a tick, and the number of the tick's line in the event log. */
export type TickDigest = z.infer<typeof tick>;

/**
 * The digests at the ticks in blocks [from, to], in order. A node gives only ticks that no reorganization can undo.
 *
 * @throws TallystickError `bad_answer`, and those of askNode
 */
export async function* digestsOf(
  url: string,
  { from = 0, to, signal }: { from?: number; to?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<TickDigest> {
  let last = { block: from - 1, line: 0 };
  for (let at: number | null = from; at !== null; ) {
    const path = `/v1/digests?from=${at}${to === undefined ? "" : `&to=${to}`}&limit=5000`;
    const { text } = await askNode(url, path, signal);
    const read = page.safeParse(tryForeignJson(text));
    if (!read.success) {
      const [issue] = read.error.issues;
      throw badAnswer(url, path, `is malformed at ${issue?.path.join(".") || "its root"}: ${issue?.message}`);
    }
    const { digests, next }: z.infer<typeof page> = read.data;
    for (const it of digests) {
      if (it.block <= last.block || it.line <= last.line || (to !== undefined && it.block > to))
        throw badAnswer(
          url,
          path,
          `gives the tick of block ${it.block} out of order or outside of the range`,
        );
      last = it;
      yield it;
    }
    if (next !== null && (next <= last.block || digests.length === 0))
      throw badAnswer(url, path, `goes on with block ${next}, which is not after the page's last block`);
    at = next;
  }
}
