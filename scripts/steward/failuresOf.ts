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
 * A node reads a number of hires for each page, and perhaps none of them failed. So a page may be empty although others
 * follow. A bad node could name a next page forever.
 */
const MAX_PAGES = 1_000;

/**
 * The failed hires of an agent, the latest first.
 *
 * @param id the agent's address or alias
 * @param options.most no further page is read when there are so many
 * @returns `is_unfinished`: older hires were not looked at, after {@link MAX_PAGES} pages
 * @throws ServiceError, also `unreadable_answer`; InvalidInputError naming `id`
 */
export async function failuresOf(
  url: string,
  id: string,
  { days, most }: { days: number; most: number },
): Promise<Failures & { is_unfinished: boolean }> {
  const agent = await agentNamed(url, id);
  const part = `failures?days=${days}&limit=${PAGE}`;
  const ask = async (more = ""): Promise<Failures> =>
    (await askSteward(failuresForm, { baseUrl: url, id: agent, part: `${part}${more}` })).read;
  let page = await ask();
  const told = { ...page, failures: [...page.failures] };
  for (let pages = 1; page.next_cursor !== null && told.failures.length < most; pages++) {
    if (pages === MAX_PAGES) return { ...told, is_unfinished: true };
    const cursor: string = page.next_cursor;
    page = await ask(`&cursor=${encodeURIComponent(cursor)}`);
    told.failures.push(...page.failures);
    // If a node names the same page again, there is no next page.
    if (page.next_cursor === cursor) page.next_cursor = null;
    told.next_cursor = page.next_cursor;
  }
  return { ...told, is_unfinished: false };
}
