import { placeOf } from "tallystick-derive/place";
import { parseParams } from "tallystick-protocol/records/params";
import type { DerivedLog } from "../../../scripts/audits/derivedLog.ts";
import type { EventLog } from "../../derive/eventLog.ts";

/** The parts of a log with which a draw is computed again. */
export async function derivedParts(
  log: EventLog,
): Promise<Pick<DerivedLog, "store" | "ticks" | "refunds" | "history">> {
  const { store } = await log.derive();
  const ticks: DerivedLog["ticks"] = [];
  const refunds: DerivedLog["refunds"] = new Map();
  const history: DerivedLog["history"] = [];
  for (const it of log.events) {
    if (it.kind === "tick") ticks.push({ block: it.block, time: it.time, hash: it.hash });
    if (it.kind === "escrow.refunded") refunds.set(it.escrowId, it.block);
    if (it.kind === "params") history.push({ from: placeOf(it), params: it.params });
    if (it.kind !== "record" || it.type !== "params") continue;
    if (store.get("record", `${it.ledger}/${it.seq}`)?.status !== "valid") continue;
    history.push({ from: placeOf(it), params: parseParams(it.body) });
  }
  return { store, ticks, refunds, history };
}
