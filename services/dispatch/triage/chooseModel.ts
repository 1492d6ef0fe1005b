import { costOf, type Model } from "../models/modelTable.ts";

/** The assumed bytes of a token. English has about four, other languages and code have fewer. */
const BYTES_PER_TOKEN = 3;
/**
 * The tokens of an answer of usual size. Models are compared by the cost of such an answer, and must have room for it.
 */
const USUAL_ANSWER = 1_000;

/**
 * The cheapest model with room for a task; undefined if there is none.
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

/** The models of other families than `family` that have room for the task, in the order of preference. */
export function shadowsFor(models: readonly Model[], family: string, bytes: number): Model[] {
  return models.filter((model) => model.family !== family && cheapestFor([model], bytes) !== undefined);
}
