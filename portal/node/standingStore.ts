import { useEffect, useState } from "preact/hooks";
import type { Standing } from "./nodeStanding.ts";

let standing: Standing = { meta: null, asOf: null, at: 0 };
const listeners = new Set<(standing: Standing) => void>();

/** Keeps what an answer said of the node; what it did not say stays as it was. */
export function noteStanding(said: Partial<Standing>): void {
  standing = {
    meta: said.meta ?? standing.meta,
    asOf: said.asOf ?? standing.asOf,
    at: said.at ?? standing.at,
  };
  for (const listener of listeners) listener(standing);
}

/** Where the node stands, as the last answer said it. */
export function useStanding(): Standing {
  const [now, setNow] = useState(standing);
  useEffect(() => {
    setNow(standing);
    listeners.add(setNow);
    return () => void listeners.delete(setNow);
  }, []);
  return now;
}
