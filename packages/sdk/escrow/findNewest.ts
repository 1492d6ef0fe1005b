/** How many requests one search may need. */
const MAX_REQUESTS = 25;

/** How much smaller the range gets after a refusal. */
const DIVISOR = 10n;

/**
 * Searches blocks from the newest back, in as few requests as the RPC allows. An RPC does not say how many blocks it
 * accepts in one request, and some accept only ten.
 *
 * @param look searches a range of blocks, both included
 * @param of.head the newest block
 * @param of.blocks how many blocks before it are searched
 * @throws the last error of `look` if not all blocks could be searched
 */
export async function findNewest<Found>(
  look: (from: bigint, to: bigint) => Promise<Found | undefined>,
  { head, blocks }: { head: bigint; blocks: bigint },
): Promise<Found | undefined> {
  const first = head > blocks ? head - blocks : 0n;
  let range = blocks + 1n;
  let refusal: unknown;
  for (let to = head, requests = 1; to >= first; requests++) {
    if (requests > MAX_REQUESTS) throw refusal;
    const from = to - first >= range ? to - range + 1n : first;
    try {
      const found = await look(from, to);
      if (found !== undefined) return found;
      to = from - 1n;
    } catch (error) {
      if (range === 1n) throw error;
      refusal = error;
      range = range > DIVISOR ? range / DIVISOR : 1n;
    }
  }
  return undefined;
}
