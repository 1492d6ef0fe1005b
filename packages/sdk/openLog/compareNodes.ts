import { TallystickError } from "tallystick-protocol/errors";
import { digestsOf, type TickDigest } from "./digestsOf.ts";
import { readLogPage } from "./followLog.ts";

/**
 * A node's digest at a tick; null if it has none. `agreed` is the line of the last tick at which all nodes
 * agree; 0 for none.
 */
export type NodeTick = { url: string; tick: TickDigest | null; agreed: number };

/** A line that differs between two nodes; null if a node does not have it. */
export type LineDifference = { line: number; texts: [url: string, text: string | null][] };

export type NodeComparison = {
  /** How many ticks are the same at all nodes, and the block of the last one. */
  ticks: number;
  block: number | null;
  /** The first tick that differs; null if none does. */
  difference: { block: number; nodes: NodeTick[]; line: LineDifference | null } | null;
};

/**
 * Compares the digests of nodes, tick by tick, over the ticks that all of them have. No tick is skipped, because
 * a difference may disappear again when its time window is over. At the first tick that differs, the lines of the
 * logs are compared.
 *
 * @throws TallystickError `nothing_in_common`, and those of askNode
 */
export async function compareNodes(urls: string[], signal?: AbortSignal): Promise<NodeComparison> {
  const begin = (url: string, from = 0) => ({
    url,
    ticks: digestsOf(url, { from, signal }),
    at: null as TickDigest | null,
  });
  const advance = (node: ReturnType<typeof begin>) =>
    node.ticks.next().then(({ value }) => {
      node.at = value ?? null;
    });
  let nodes = urls.map((url) => begin(url));
  await Promise.all(nodes.map(advance));
  const without = nodes.find(({ at }) => at === null);
  if (without !== undefined) throw nothingInCommon(`: ${without.url} has no final tick yet`);
  const first = Math.max(...nodes.map(({ at }) => at?.block ?? 0));
  // A node that begins later has no earlier ticks, so the earlier ticks of the other nodes are not read.
  nodes = nodes.map((node) => (node.at?.block === first ? node : begin(node.url, first)));
  await Promise.all(nodes.filter(({ at }) => at === null).map(advance));
  const agreed = new Map(urls.map((url) => [url, 0]));
  let ticks = 0;
  let block: number | null = null;
  while (nodes.every(({ at }) => at !== null)) {
    const digests = new Set(nodes.map(({ at }) => `${at?.block} ${at?.time} ${at?.digest}`));
    if (digests.size > 1) return { ticks, block, difference: await difference(nodes, agreed, signal) };
    block = nodes[0]?.at?.block ?? null;
    ticks++;
    for (const { url, at } of nodes) agreed.set(url, at?.line ?? 0);
    await Promise.all(nodes.map(advance));
  }
  if (ticks === 0) throw nothingInCommon("");
  return { ticks, block, difference: null };
}

function nothingInCommon(why: string): TallystickError {
  return new TallystickError({
    code: "nothing_in_common",
    message: `There is no tick that all of these nodes have${why}.`,
    hint: "Only final ticks count. Wait until all have read the same blocks, or look at their parameters (tickBlocks).",
  });
}

async function difference(
  nodes: { url: string; at: TickDigest | null }[],
  agreedLines: Map<string, number>,
  signal?: AbortSignal,
): Promise<NodeComparison["difference"]> {
  const block = Math.min(...nodes.map(({ at }) => at?.block ?? Number.POSITIVE_INFINITY));
  const found = nodes.map(({ url, at }) => ({
    url,
    tick: at?.block === block ? at : null,
    agreed: agreedLines.get(url) ?? 0,
  }));
  const [one] = found;
  const other = found.find(
    ({ tick }) => tick?.digest !== one?.tick?.digest || tick?.time !== one?.tick?.time,
  );
  if (one === undefined || other === undefined) return { block, nodes: found, line: null };
  const lineOf = ({ tick, agreed }: NodeTick) => tick?.line ?? agreed + 1;
  const end = Math.max(lineOf(one), lineOf(other));
  const begin = Math.min(one.agreed, other.agreed);
  // Compares the parameters first, then the lines since the last common tick, then all earlier lines, because
  // some have their effect late.
  const line =
    (await firstDifferentLine(one.url, other.url, 0, 1, signal)) ??
    (one.agreed === other.agreed ? await firstDifferentLine(one.url, other.url, begin, end, signal) : null) ??
    (await firstDifferentLine(one.url, other.url, 1, end, signal));
  return { block, nodes: found, line };
}

/** The first line after `after` and up to `end` that differs between two nodes. */
async function firstDifferentLine(
  one: string,
  other: string,
  after: number,
  end: number,
  signal?: AbortSignal,
): Promise<LineDifference | null> {
  for (let at = after; at < end; ) {
    const limit = Math.min(5_000, end - at);
    const [a, b] = await Promise.all(
      [one, other].map((url) => readLogPage(url, { after: at, limit, signal })),
    );
    const most = Math.min(a?.lines.length ?? 0, b?.lines.length ?? 0);
    for (let n = 0; n < Math.max(most, 1); n++) {
      const [mine, theirs] = [a?.lines[n] ?? null, b?.lines[n] ?? null];
      if (mine !== theirs)
        return {
          line: at + n + 1,
          texts: [
            [one, mine],
            [other, theirs],
          ],
        };
    }
    if (most === 0) return null;
    at += most;
  }
  return null;
}
