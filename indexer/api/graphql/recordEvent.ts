import type { RecordEvent } from "tallystick-derive/events";
import type { Row } from "tallystick-derive/tables";
import { positionKey } from "../../src/positionKey.ts";
import type { QueryContext } from "./context.ts";

/** The event of a record with its signed body; null if the log does not have it. */
export async function recordEvent(
  { block, log, seq }: Pick<Row<"record">, "block" | "log" | "seq">,
  { load, takeRows }: QueryContext,
): Promise<RecordEvent | null> {
  // A body may have 64 KiB.
  takeRows(10);
  const json = await load.event.load(positionKey({ kind: "record", block, log, seq } as RecordEvent));
  return json === null ? null : JSON.parse(json);
}
