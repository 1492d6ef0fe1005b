import { connect } from "node:net";
import type { LookedUp } from "./lookUp.ts";

/** The time limit of a connection, in milliseconds. */
const CONNECT_MS = 5_000;

/**
 * Whether the prober can connect to at least one of these well-known places. Nothing is sent. The places are names, so
 * a failing resolver is noticed too.
 *
 * @param places `host:port`
 */
export async function testUplink(
  places: readonly string[],
  lookUp: (hostname: string) => Promise<LookedUp>,
): Promise<boolean> {
  const tried = places.map(async (place) => {
    const [, host = "", port] = /^\[?(.*?)\]?:(\d+)$/.exec(place) ?? [];
    const found = await lookUp(host);
    const [address] = "addresses" in found ? found.addresses : [];
    if (address === undefined) throw new Error(`${host} has no address`);
    await open(address, Number(port));
  });
  return await Promise.any(tried).then(
    () => true,
    () => false,
  );
}

function open(address: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: address, port, timeout: CONNECT_MS });
  socket.once("connect", () => resolve());
  socket.once("timeout", () => reject(new Error("late")));
  socket.on("error", reject);
  return promise.finally(() => socket.destroy());
}
