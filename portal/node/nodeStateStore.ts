import { useEffect, useState } from "preact/hooks";
import type { NodeState } from "./nodeState.ts";

let state: NodeState = { meta: null, asOf: null, at: 0 };
const listeners = new Set<(state: NodeState) => void>();

/** Stores the state of the node from an answer. Missing parts keep their old values. */
export function noteNodeState(said: Partial<NodeState>): void {
  state = {
    meta: said.meta ?? state.meta,
    asOf: said.asOf ?? state.asOf,
    at: said.at ?? state.at,
  };
  for (const listener of listeners) listener(state);
}

/** The state of the node, as the last answer had it. */
export function useNodeState(): NodeState {
  const [now, setNow] = useState(state);
  useEffect(() => {
    setNow(state);
    listeners.add(setNow);
    return () => void listeners.delete(setNow);
  }, []);
  return now;
}
