/** One step of a funding path: a funding transfer. Its receiver is the wallet that has the leg in its row. */
export type Leg = { from: string; block: number; time: number; log: number };

/**
 * The state of a transfer of funding size. `claimable`: a receipt may still show that it paid for a hire. `paid`: a
 * receipt has shown this, so it does not count as funding. `presumed`: it is presumed to be a payment, so it does not
 * count as funding yet.
 */
export type LegKind = "plain" | "claimable" | "paid" | "presumed";

const MARKS = {
  plain: "",
  claimable: "?",
  paid: "!",
  presumed: "~",
} as const satisfies { [kind in LegKind]: string };

const KINDS = new Map<string, LegKind>(Object.entries(MARKS).map(([kind, mark]) => [mark, kind as LegKind]));

/** A line of `wallet.fundings`: `<from> <block> <time> <log>` and a mark for its kind. */
export function formatLeg({ from, block, time, log }: Leg, kind: LegKind): string {
  return `${from} ${block} ${time} ${log}${MARKS[kind]}`;
}

/** The lines of `wallet.fundings`, in the order in which they were written. */
export function parseFundings(fundings: string): (Leg & { kind: LegKind })[] {
  if (fundings === "") return [];
  return fundings.split("\n").map((line) => {
    const [from = "", block, time, log = ""] = line.split(" ");
    const digits = /^[0-9]+/.exec(log)?.[0] ?? "";
    const kind = KINDS.get(log.slice(digits.length));
    if (kind === undefined || digits === "")
      throw new Error(`"${line}" is not a line of a wallet's fundings.`);
    return { from, block: Number(block), time: Number(time), log: Number(digits), kind };
  });
}
