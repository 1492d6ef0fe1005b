import { costOf, type Model } from "../models/modelTable.ts";

/** Bytes that make up a token, at least: English has four, other languages and code less. */
const BYTES_PER_TOKEN = 3;
/** Tokens of an answer of usual size, by which models are compared and for which there has to be room. */
const USUAL_ANSWER = 1_000;

/**
 * The cheapest model that can hold a task; undefined when none can.
 *
 * @param bytes of the whole prompt
 */
export function cheapestFor(models: readonly Model[], bytes: number): Model | undefined {
  const input = Math.ceil(bytes / BYTES_PER_TOKEN);
  const price = ({ limits, prices }: Model): bigint =>
    costOf({ input, cachedInput: 0, output: Math.min(limits.output, USUAL_ANSWER), reasoning: 0 }, prices);
  return models
    .filter(({ limits }) => input + Math.min(limits.output, USUAL_ANSWER) <= limits.context)
    .reduce<Model | undefined>(
      (best, model) => (best && price(best) <= price(model) ? best : model),
      undefined,
    );
}

/** Who checks the work of a model: the first that can hold the task and is of another family. */
export function shadowsFor(models: readonly Model[], family: string, bytes: number): Model[] {
  return models.filter((model) => model.family !== family && cheapestFor([model], bytes) !== undefined);
}
