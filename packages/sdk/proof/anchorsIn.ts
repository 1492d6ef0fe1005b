import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { type Log, parseEventLogs } from "viem";

/** The anchors among the logs of a receipt. Apart, so that who asks no chain loads nothing that reads one. */
export function anchorsIn(logs: Log[]) {
  return parseEventLogs({ abi: anchoredLedgerAbi, eventName: "Anchored", logs });
}
