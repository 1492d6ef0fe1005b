import type { ServerContext } from "@modelcontextprotocol/server";
import type { HireStage } from "tallystick-sdk/buyer/hiring";

const STAGES: { [stage in HireStage]: [order: number, words: string] } = {
  searching: [1, "Looking for a seller"],
  asking: [2, "Asking a seller for its terms"],
  working: [3, "Paid or signed for: the seller works"],
  verifying: [4, "Verifying the result"],
  settling: [5, "Settling the payment"],
};

/** Describes a stage for people. */
export function stageInWords(stage: HireStage): string {
  return STAGES[stage][1];
}

/** Sends the stages of a hire to a client that asked for progress. A client that is gone is not an error. */
export function progressTo({ mcpReq }: ServerContext): (stage: HireStage) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let last = 0;
  return (stage) => {
    const [order, message] = STAGES[stage];
    // Progress must only grow, although a second seller begins again at an earlier stage.
    last = Math.max(last + 0.01, order);
    void mcpReq
      .notify({
        method: "notifications/progress",
        params: { progressToken, progress: last, total: 5.99, message },
      })
      .catch(() => {});
  };
}
