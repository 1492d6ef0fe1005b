import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { type Log, parseEventLogs } from "viem";

/**
 * The anchors among the logs of a receipt. It has its own file, so that programs without a chain do not load code
 * that reads one.
 */
export function anchorsIn(logs: Log[]) {
  return parseEventLogs({ abi: anchoredLedgerAbi, eventName: "Anchored", logs });
}
