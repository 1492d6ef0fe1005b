import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { type Log, parseEventLogs } from "viem";

/**
 * The anchors among the logs of a receipt. This function has its own file, so that programs that use no chain do
 * not load the code for it.
 */
export function anchorsIn(logs: Log[]) {
  return parseEventLogs({ abi: anchoredLedgerAbi, eventName: "Anchored", logs });
}
