/**
 * The figures behind a reputation. They come from a node, which is a stranger. So {@link restsOn} copies no other text
 * of the node: a count that is no number is shown as 0, and a sum that has another form is shown as unknown.
 */
type Figures = { hires: number; independent_buyers: number; kept_usdc: string };

/**
 * What a success rate rests on, in one line: "11 hires; 2 independent buyers; 0.40 USDC stayed". The last figure is the
 * sum that independent families of buyers paid and did not get back.
 */
export function restsOn({ hires, independent_buyers: buyers, kept_usdc: kept }: Figures): string {
  const stayed = /^[0-9]{1,20}[.][0-9]{2,6}$/.test(kept) ? kept : "an unknown sum of";
  return `${count(hires, "hire")}; ${count(buyers, "independent buyer")}; ${stayed} USDC stayed`;
}

function count(n: unknown, what: string): string {
  const value = typeof n === "number" && Number.isFinite(n) ? n : 0;
  return `${value} ${what}${value === 1 ? "" : "s"}`;
}
