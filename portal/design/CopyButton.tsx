import { useState } from "preact/hooks";
import { Icon } from "./Icon.tsx";

/** Copies a text, and says that it did. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    } catch {
      // A browser may refuse to copy. The text is still visible on the page.
    }
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={done ? "Copied" : `Copy ${what}`}>
      <Icon name={done ? "done" : "copy"} size={14} />
    </button>
  );
}
