import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";

/** How long a hire waits for the number of the chain, in milliseconds. */
const CHAIN_MS = 2_000;

/**
 * Refuses a hire if the client is of another chain, because the hire's money would never be found. A client that does not
 * answer in time stops no hire.
 *
 * @param requireChain what `chainCheck` made; undefined if no chain is read
 * @throws ChainError `wrong_chain`
 */
export async function refuseOtherChain(requireChain: (() => Promise<void>) | undefined): Promise<void> {
  const asked = requireChain?.().catch((error: unknown) => {
    if (error instanceof ChainError && error.code === "wrong_chain") throw error;
  });
  await within(Promise.resolve(asked), CHAIN_MS);
}
