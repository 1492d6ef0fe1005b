import { Resolver } from "node:dns/promises";

/** How long one name server may take, in milliseconds, and how often it is asked. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Resolves a name by DNS only: without this host's hosts file and without search domains. It does not use
 * Node's few worker threads, which the file system needs and which strangers' slow names would block.
 *
 * @returns an empty list when the name has no address, or no name server answers
 */
export async function resolveHost(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}
