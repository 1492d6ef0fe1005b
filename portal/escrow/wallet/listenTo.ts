import type { Provider } from "./provider.ts";

/**
 * Listens to an event of a wallet. Not every wallet has events, and some throw an error when a page asks for an event.
 * The page does not depend on events, because it reads the wallet again before each step.
 * @returns a function that stops the listening
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
