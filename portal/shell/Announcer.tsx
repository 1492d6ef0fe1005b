import { useEffect, useState } from "preact/hooks";
import { onAnnounced } from "../design/announce.ts";

/**
 * The element whose text screen readers say. It exists from the beginning, because screen readers do not say the first
 * text of an element that has just appeared.
 */
export function Announcer() {
  const [said, setSaid] = useState({ text: "", count: 0 });
  useEffect(() => onAnnounced((text) => setSaid(({ count }) => ({ text, count: count + 1 }))), []);
  // The same text again is a new element, so it is said again.
  return (
    <p class="visually-hidden" role="status">
      <span key={said.count}>{said.text}</span>
    </p>
  );
}
