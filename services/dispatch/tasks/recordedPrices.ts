import { z } from "zod";
import type { Prices } from "../models/modelTable.ts";
import { formatPrice, readDollars } from "../models/money.ts";

const price = z.string().regex(/^\d{1,30}\.\d{2,12}$/);

/** The prices of a model as the ledger has them, in dollars for a million tokens. */
export const recordedPricesSchema = z.object({
  input: price,
  cached_input: price,
  output: price,
  reasoning: price,
});

export type RecordedPrices = z.output<typeof recordedPricesSchema>;

/** The prices of one token, in the form of the ledger. */
export function recordPrices({ input, cachedInput, output, reasoning }: Prices): RecordedPrices {
  return {
    input: formatPrice(input),
    cached_input: formatPrice(cachedInput),
    output: formatPrice(output),
    reasoning: formatPrice(reasoning),
  };
}

/** The prices of one token, from the form of the ledger. Undefined if a price is not a whole number of picodollars. */
export function readPrices(given: RecordedPrices): Prices | undefined {
  const input = tokenPrice(given.input);
  const cachedInput = tokenPrice(given.cached_input);
  const output = tokenPrice(given.output);
  const reasoning = tokenPrice(given.reasoning);
  if (input === undefined || cachedInput === undefined || output === undefined || reasoning === undefined)
    return undefined;
  return { input, cachedInput, output, reasoning };
}

function tokenPrice(text: string): bigint | undefined {
  const million = readDollars(text);
  return million === undefined || million % 1_000_000n !== 0n ? undefined : million / 1_000_000n;
}
