import { Notice } from "../design/Notice.tsx";
import { faultOf } from "../node/nodeState.ts";
import { useNodeState } from "../node/nodeStateStore.ts";

/** Warns on every page when the node is stuck or behind. */
export function NodeFault() {
  const fault = faultOf(useNodeState(), Date.now() / 1_000);
  if (fault === null) return null;
  return (
    <Notice kind="warn" title={fault.title} isLive>
      {fault.text}
    </Notice>
  );
}
