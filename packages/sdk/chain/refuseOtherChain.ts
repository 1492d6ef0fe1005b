import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";

/** How long a hire waits for the number of the chain, in milliseconds. */
const CHAIN_MS = 2_000;

/** The errors that do not go away when the client is asked again. */
const LASTING: ReadonlySet<string> = new Set(["wrong_chain", "wrong_token"]);

/**
 * Refuses a hire if the client is of another chain, because the hire's money would never be found, or if the escrow holds
 * another token. A client that does not answer in time stops no hire.
 *
 * @param requireChain what `chainCheck` made, perhaps with `tokenCheck`; undefined if no chain is read
 * @throws ChainError `wrong_chain`, `wrong_token`
 */
export async function refuseOtherChain(requireChain: (() => Promise<void>) | undefined): Promise<void> {
  const asked = requireChain?.().catch((error: unknown) => {
    if (error instanceof ChainError && LASTING.has(error.code)) throw error;
  });
  await within(Promise.resolve(asked), CHAIN_MS);
}
