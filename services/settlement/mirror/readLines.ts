import { TILE_WIDTH } from "tallystick-protocol/merkle/tilePath";
import { bundleLines, type LogSource, readLogTile } from "../staticLog/logSource.ts";

/** Lines of entries, and the bytes of the bundles that were read for them. */
export type LinesRead = { lines: string[]; bytesRead: number };

/**
 * The lines of the entries [from, to) of a log of `size` entries, out of its bundles. They end early after `mostBytes`.
 *
 * @throws UnreadableLogError
 */
export async function readLines(
  log: LogSource,
  { from, to, size, mostBytes }: { from: number; to: number; size: number; mostBytes: number },
): Promise<LinesRead> {
  const lines: string[] = [];
  let bytesRead = 0;
  for (let at = from, bytes = 0; at < to && bytes < mostBytes; ) {
    const index = Math.floor(at / TILE_WIDTH);
    const start = index * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, size - start);
    const bundle = await readLogTile(log, { level: "entries", index, width });
    bytesRead += bundle.length;
    const texts = [...bundleLines(bundle, start, Math.min(to - start, width))].map(({ text }) => text);
    for (const text of texts.slice(at - start)) {
      if (bytes >= mostBytes) break;
      lines.push(text);
      bytes += text.length + 1;
    }
    at = start + TILE_WIDTH;
  }
  return { lines, bytesRead };
}
