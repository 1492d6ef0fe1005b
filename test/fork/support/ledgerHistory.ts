import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { createPublicClient, getAbiItem, type Hex, http } from "viem";

/** A ledger's anchors in the order of the chain. */
export type LedgerHistory = {
  ledgerId: Hex;
  anchors: { seq: bigint; oldSize: bigint; newSize: bigint; root: Hex }[];
  /** Whether the list begins with the ledger's first anchor. */
  whole: boolean;
};

/** The blocks in one request, which public nodes limit, and the number of requests. Together a month of Base. */
const SPAN = 2_000n;
const MAX_REQUESTS = 650;

/**
 * The anchors of the ledger that was anchored last. The search goes back from `until`, up to a limit.
 *
 * @returns undefined when no ledger was anchored in those blocks
 */
export async function readLedgerHistory(
  url: string,
  contract: Address,
  until: bigint,
): Promise<LedgerHistory | undefined> {
  const client = createPublicClient({ transport: http(url) });
  const event = getAbiItem({ abi: anchoredLedgerAbi, name: "Anchored" });
  let found: LedgerHistory | undefined;
  let to = until;
  for (let asked = 0; asked < MAX_REQUESTS && to >= 0n; asked++) {
    const from = to < SPAN ? 0n : to - SPAN + 1n;
    const logs = await client.getLogs({
      address: contract,
      event,
      fromBlock: from,
      toBlock: to,
      strict: true,
    });
    const last = logs.at(-1);
    if (last && found === undefined) found = { ledgerId: last.args.ledgerId, anchors: [], whole: false };
    const own = logs.filter(({ args }) => args.ledgerId === found?.ledgerId);
    found?.anchors.unshift(
      ...own.map(({ args: { seq, oldSize, newSize, root } }) => ({ seq, oldSize, newSize, root })),
    );
    if (found?.anchors[0]?.seq === 1n) return { ...found, whole: true };
    to = from - 1n;
  }
  return found;
}
