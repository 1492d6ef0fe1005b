import { Resolver } from "node:dns/promises";

/** How long one name server may take, in milliseconds, and how often it is asked. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * The addresses of a name, by DNS alone: no file of this host, no search domain, and none of the few threads that the
 * file system needs as well, which slow names of strangers would hold.
 *
 * @returns none when there are none, or no name server answers
 */
export async function resolveHost(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}
