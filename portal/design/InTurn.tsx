import { type ComponentChildren, toChildArray } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A page that is not in sight has no frames. Then the next part is drawn after this time, in milliseconds. */
const WITHOUT_FRAMES_MS = 250;

/**
 * Draws its children one after the other, each in a frame of its own, so that the page reacts in between and its top is seen
 * first. A child that is drawn stays. Until the last one is drawn, the end of the page is out of sight, so nothing in sight moves.
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
 * Calls a function once the present frame is drawn.
 *
 * @returns a function that stops it
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
