import { useState } from "preact/hooks";
import { announce } from "./announce.ts";
import { plainText } from "./format.ts";
import { Icon } from "./Icon.tsx";

/** The most characters that are copied. The queries of the pages are shorter. */
const MAX_COPIED = 20_000;

type State = "idle" | "done" | "failed";

/** Copies a text, and says whether it did. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<State>("idle");
  const show = (state: State, said: string) => {
    setState(state);
    announce(said);
    setTimeout(() => setState("idle"), 1_500);
  };
  const copy = async () => {
    try {
      // The reader may paste the text into a terminal. There a line break runs the text before it.
      await navigator.clipboard.writeText(plainText(text, MAX_COPIED));
      show("done", "Copied.");
    } catch {
      // A browser may refuse to copy. It offers no clipboard to a page without TLS.
      show("failed", "Your browser does not let this page copy.");
    }
  };
  return (
    <button type="button" class={`copy ${state}`} onClick={copy} aria-label={`Copy ${what}`}>
      <Icon name={({ idle: "copy", done: "done", failed: "cross" } as const)[state]} size={14} />
    </button>
  );
}
