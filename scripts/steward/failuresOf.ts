import { listForm } from "tallystick-sdk/listForm";
import { z } from "zod";
import { agentNamed, askSteward } from "./askSteward.ts";

const failureForm = z.looseObject({
  hire: z.string(),
  buyer: z.string(),
  capability: z.string().nullable(),
  price_usdc: z.string(),
  time: z.number(),
  evidence: z.string(),
  reason: z.string().nullable(),
  is_excused: z.boolean(),
});
/** The most failures of a page. */
const PAGE = 100;

const failuresForm = z.looseObject({
  agent_id: z.string(),
  since: z.number(),
  failures: listForm(failureForm, PAGE),
  next_cursor: z.string().nullable(),
});

/** A failed hire, as a node tells it. */
export type Failure = z.output<typeof failureForm>;
type Failures = z.output<typeof failuresForm>;

/**
 * The failed hires of an agent, the latest first.
 *
 * @param id the agent's address or alias
 * @param options.most no further page is read when there are so many
 * @throws ServiceError, also `unreadable_answer`; InvalidInputError naming `id`
 */
export async function failuresOf(
  url: string,
  id: string,
  { days, most }: { days: number; most: number },
): Promise<Failures> {
  const agent = await agentNamed(url, id);
  const part = `failures?days=${days}&limit=${PAGE}`;
  const ask = async (more = ""): Promise<Failures> =>
    (await askSteward(failuresForm, { baseUrl: url, id: agent, part: `${part}${more}` })).read;
  let page = await ask();
  const told = { ...page };
  // An empty page is the end, even if it names a next page. A bad node could name one forever.
  while (page.next_cursor !== null && page.failures.length > 0 && told.failures.length < most) {
    page = await ask(`&cursor=${encodeURIComponent(page.next_cursor)}`);
    told.failures = [...told.failures, ...page.failures];
    told.next_cursor = page.failures.length === 0 ? null : page.next_cursor;
  }
  return told;
}
