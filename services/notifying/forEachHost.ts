import { hostOf } from "tallystick-protocol/net/publicAddress";
import { forEachAtOnce } from "tallystick-sdk/forEachAtOnce";

/** The number of hosts that get messages at the same time. */
const HOSTS_AT_ONCE = 16;

/**
 * Sends messages, one at a time to each host and at most `most` to each. The rest waits for the next call.
 * After a failure a host gets nothing more until the next call.
 *
 * @param send returns whether it succeeded
 */
export async function forEachHost<Message extends { url: string }>(
  messages: readonly Message[],
  most: number,
  send: (message: Message) => Promise<boolean>,
): Promise<void> {
  const hosts = Map.groupBy(messages, ({ url }) => hostOf(new URL(url)));
  await forEachAtOnce(hosts.values(), { atOnce: HOSTS_AT_ONCE }, async (host) => {
    for (const message of host.slice(0, most)) if (!(await send(message))) break;
  });
}
