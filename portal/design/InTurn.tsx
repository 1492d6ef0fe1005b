import { type ComponentChildren, toChildArray } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A browser draws no frames of a hidden page. Then the next part is drawn after this time, in milliseconds. */
const WITHOUT_FRAMES_MS = 250;

/**
 * Draws its children one after the other, each in its own frame. So the page can react between two children, and its
 * top appears first. A drawn child stays. Until the last child is drawn, the end of the page is out of sight. So
 * nothing that the reader sees moves.
 */
export function InTurn({ children }: { children: ComponentChildren }) {
  const parts = toChildArray(children);
  const [count, setCount] = useState(1);
  const isDone = count >= parts.length;
  useEffect(() => (isDone ? undefined : afterFrame(() => setCount(count + 1))), [count, isDone]);
  return (
    <>
      {parts.slice(0, count)}
      {!isDone && <div class="in-turn" aria-hidden="true" />}
    </>
  );
}

/**
 * Calls a function once the next frame is drawn, or after {@link WITHOUT_FRAMES_MS} if the browser draws no frame.
 *
 * @returns a function that cancels the call
 */
function afterFrame(call: () => void): () => void {
  let frame = 0;
  let timer: ReturnType<typeof setTimeout>;
  const stop = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const next = () => {
    stop();
    call();
  };
  frame = requestAnimationFrame(() => {
    clearTimeout(timer);
    timer = setTimeout(next);
  });
  timer = setTimeout(next, WITHOUT_FRAMES_MS);
  return stop;
}
