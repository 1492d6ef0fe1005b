/** One leg of a funding path: a funding transfer into some wallet. */
export type Leg = { from: string; block: number; time: number; log: number };

/**
 * What a funding transfer is: `claimable` while a receipt may still show that it paid for a hire, `paid` once one has, so
 * that it funds nobody any more.
 */
export type LegKind = "plain" | "claimable" | "paid";

const MARKS = { plain: "", claimable: "?", paid: "!" } as const satisfies { [kind in LegKind]: string };

/** A line of `wallet.fundings`: `<from> <block> <time> <log>` and a mark for its kind. */
export function formatLeg({ from, block, time, log }: Leg, kind: LegKind): string {
  return `${from} ${block} ${time} ${log}${MARKS[kind]}`;
}

/** The funding transfers of a wallet, in the order in which they were found to be some. */
export function parseFundings(fundings: string): (Leg & { kind: LegKind })[] {
  if (fundings === "") return [];
  return fundings.split("\n").map((line) => {
    const [from = "", block, time, log = ""] = line.split(" ");
    const kind = log.endsWith("?") ? "claimable" : log.endsWith("!") ? "paid" : "plain";
    return { from, block: Number(block), time: Number(time), log: Number.parseInt(log, 10), kind };
  });
}
