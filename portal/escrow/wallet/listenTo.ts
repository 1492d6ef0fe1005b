import type { Provider } from "./provider.ts";

/**
 * Listens to an event of a wallet. Not every wallet has events, and some break when they are asked for one. Then the page reads
 * the wallet before each step all the same.
 *
 * @returns a function that stops it
 */
export function listenTo(
  provider: Provider,
  event: "accountsChanged" | "chainChanged",
  listener: (value: unknown) => void,
): () => void {
  const tried = (act: () => void) => {
    try {
      act();
    } catch {
      // A wallet without this event.
    }
  };
  tried(() => provider.on?.(event, listener));
  return () => tried(() => provider.removeListener?.(event, listener));
}
