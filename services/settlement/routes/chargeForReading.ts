import type { IncomingMessage } from "node:http";
import { admittedOf } from "tallystick-runtime/http/limitClients";

/** So many bytes that are read from a ledger cost one point. */
const BYTES_PER_POINT = 64 * 1024;

/**
 * Charges a client for what was read to answer it. A tile or a bundle is read whole, and may have 17 MB, for HEAD, for a
 * single short line, and for a client that has gone.
 *
 * @param env the bindings of Hono's Node server
 */
export function chargeForReading(env: unknown, bytes: number): void {
  const { incoming } = Object(env) as { incoming?: IncomingMessage };
  admittedOf(incoming)?.budget.charge(Math.floor(bytes / BYTES_PER_POINT));
}
