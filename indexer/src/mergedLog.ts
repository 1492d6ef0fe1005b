import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { positionKey } from "./positionKey.ts";
import { transferOfPayment } from "./transferOfPayment.ts";

/** A row of the table `event_log`. */
export type LoggedLine = { position: string; json: string };

/**
 * The event log in order, each event as JSON text. A transfer that became a payment is stored only as the payment.
 *
 * @param logged the other events, by position
 * @param payments by block and log
 */
export async function* mergedLog(
  logged: AsyncIterator<LoggedLine>,
  payments: AsyncIterable<Row<"payment">>,
  token: Address,
): AsyncGenerator<string> {
  let next = await logged.next();
  for await (const payment of payments) {
    const transfer = transferOfPayment(payment, token);
    const position = positionKey(transfer);
    for (; !next.done && next.value.position < position; next = await logged.next()) yield next.value.json;
    yield JSON.stringify(transfer);
  }
  for (; !next.done; next = await logged.next()) yield next.value.json;
}
