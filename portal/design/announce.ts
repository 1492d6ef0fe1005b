/** In milliseconds. If changes follow each other faster than this, only the last one is announced. */
const WAIT_MS = 200;

let show: (text: string) => void = () => {};
let next = "";
let timer: ReturnType<typeof setTimeout> | undefined;

/** Lets screen readers say a text when they are done with what they say now. */
export function announce(text: string): void {
  next = text;
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    show(next);
  }, WAIT_MS);
}

/** Sets the function that shows announced texts to screen readers. */
export function onAnnounced(shower: (text: string) => void): void {
  show = shower;
}
