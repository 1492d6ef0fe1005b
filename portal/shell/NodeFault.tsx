import { Notice } from "../design/Notice.tsx";
import { faultOf } from "../node/nodeStanding.ts";
import { useStanding } from "../node/standingStore.ts";

/** Says on every page when the node does not go on. */
export function NodeFault() {
  const fault = faultOf(useStanding(), Date.now() / 1_000);
  if (fault === null) return null;
  return (
    <Notice kind="warn" title={fault.title} isLive>
      {fault.text}
    </Notice>
  );
}
