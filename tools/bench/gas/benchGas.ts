import Table from "cli-table3";
import { FIAT_TOKEN, type Goal, goals, LIKE_FIAT_TOKEN } from "./goals.ts";
import { BATCH, derivedFigures, type GasFigures } from "./measureEscrow.ts";
import { anchorFigure, GROWTHS, OLD_SIZES } from "./measureLedger.ts";
import { drift, measureFiatToken, measureGas, readSnapshot, writeSnapshot } from "./snapshot.ts";

/** Measures and prints. Returns the exit code, which is 0 when every goal is met. */
export async function benchGas({ json, update }: { json: boolean; update: boolean }): Promise<number> {
  const own = await measureGas();
  if (update) await writeSnapshot(own);
  const source = process.env.FIAT_TOKEN_SOURCE;
  const figures = source ? { ...own, ...(await measureFiatToken(source)) } : own;
  const met = goals(figures);
  if (json) console.log(JSON.stringify({ figures, derived: derivedFigures(figures), goals: met }, null, 2));
  else print(figures, met, drift(await readSnapshot(), own), source);
  return met.some(({ actual, limit }) => actual > limit) ? 1 : 0;
}

function print(figures: GasFigures, met: Goal[], drifted: string[], source: string | undefined): void {
  const verbs = table(["verb", "gas"]);
  const anchors = new Set(OLD_SIZES.flatMap((size) => GROWTHS.map((growth) => anchorFigure(size, growth))));
  for (const [name, gas] of Object.entries(figures)) if (!anchors.has(name)) verbs.push([name, grouped(gas)]);
  console.log(verbs.toString());

  const derived = derivedFigures(figures);
  const hires = table(["hires", "gas"]);
  hires.push(
    ["one hire: depositWithAuthorization + release by the buyer", grouped(derived.perHire)],
    [`each of ${BATCH} releases in a batch`, grouped(derived.perBatchedRelease)],
    [`one more release in a batch of ${BATCH}`, grouped(derived.marginalRelease)],
    [`one more timeoutRefund in a batch of ${BATCH}`, grouped(derived.marginalTimeout)],
  );
  console.log(hires.toString());

  const entries = table([
    "entries before",
    ...GROWTHS.map((growth) => `gas per entry, ${grouped(growth)} a batch`),
  ]);
  for (const size of OLD_SIZES) {
    const row = GROWTHS.map((growth) =>
      ((figures[anchorFigure(size, growth)] ?? Number.NaN) / growth).toFixed(1),
    );
    entries.push([grouped(size), ...row]);
  }
  console.log(entries.toString());

  const limits = table(["goal", "is", "at most"]);
  for (const { name, actual, limit } of met) limits.push([name, grouped(actual), grouped(limit)]);
  console.log(limits.toString());
  console.log(
    source
      ? `FiatToken 2.2 was compiled from ${source}; ours costs ${likeness(figures)} of it.`
      : "“like FiatToken” is a token of ours that was measured to cost the same as Circle's within 2 %. Set FIAT_TOKEN_SOURCE to measure with Circle's token.",
  );
  for (const line of drifted) console.log(`drifted from the snapshot: ${line}`);
}

/** The ratio of our token's gas to Circle's, over all figures: from the lowest to the highest. */
function likeness(figures: GasFigures): string {
  const shares = Object.keys(figures)
    .filter((name) => name.startsWith(`${FIAT_TOKEN}: `))
    .map((name) => (figures[name.replace(FIAT_TOKEN, LIKE_FIAT_TOKEN)] ?? Number.NaN) / (figures[name] ?? 1));
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  return `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))}`;
}

function table(head: string[]) {
  return new Table({ head, style: { head: [], border: [] } });
}

/** 1234567.8 → "1,234,567.80"; whole numbers without decimals. */
function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(value) ? 0 : 2 });
}
