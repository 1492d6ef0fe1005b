/**
 * Makes waits of exactly this length last a minute, until the returned function is called. It is for limits of the code
 * under test that even its good path exceeds on a busy machine.
 */
export function lengthenWaits(ms: number): () => void {
  const real = globalThis.setTimeout;
  const begin = (run: () => void, wait?: number, ...rest: never[]) =>
    real(run, wait === ms ? 60_000 : wait, ...rest);
  globalThis.setTimeout = Object.assign(begin, real) as typeof real;
  return () => {
    globalThis.setTimeout = real;
  };
}
