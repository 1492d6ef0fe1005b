import { startDeadline } from "../deadline.ts";
import { type Assignment, MAX_LISTED, nameOf } from "./assignment.ts";

/** The least time between two requests for one list, and how long an answer is used, in milliseconds. */
const ASK_EVERY_MS = 5_000;
const COUNTS_MS = 60_000;

/** How long the node may take, in milliseconds. */
const NODE_MS = 10_000;

/**
 * Finds an open assignment in a list of the node. Strangers may ask for any number of invented names. The node is
 * still asked only once in five seconds, by one request at a time.
 *
 * @param load the list
 * @param now milliseconds since 1970
 * @returns `find` gives the assignment of a name, or undefined, and throws what `load` throws; `isCut` says whether
 * the list was full, so that more assignments may be open
 */
export function openAssignments(
  load: (signal: AbortSignal) => Promise<Assignment[]>,
  now: () => number,
): { find: (name: string) => Promise<Assignment | undefined>; isCut: () => boolean } {
  let known = new Map<string, Assignment>();
  let knownAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  let failure: unknown;

  async function ask(): Promise<void> {
    const limit = startDeadline(NODE_MS);
    askedAt = now();
    try {
      const list = await load(limit.signal);
      known = new Map(list.map((one) => [nameOf(one), one]));
      knownAt = now();
      failure = undefined;
    } catch (error) {
      failure = error;
    } finally {
      limit.end();
      asking = undefined;
    }
  }

  const find = async (name: string): Promise<Assignment | undefined> => {
    const found = known.get(name);
    if (found !== undefined && now() - knownAt < COUNTS_MS) return found;
    if (asking === undefined && now() - askedAt >= ASK_EVERY_MS) asking = ask();
    if (asking !== undefined) await asking;
    if (failure !== undefined) throw failure;
    return known.get(name);
  };

  return { find, isCut: () => known.size >= MAX_LISTED };
}
