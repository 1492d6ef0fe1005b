import { hostOf } from "tallystick-protocol/net/publicAddress";

/** Hosts that are spoken to at once. */
const HOSTS_AT_ONCE = 16;

/**
 * Works through messages, one at a time for a host and at most `most` of each; the rest waits. After a failure a host is
 * left alone until the next time.
 *
 * @param send returns whether it succeeded
 */
export async function forEachHost<Message extends { url: string }>(
  messages: readonly Message[],
  most: number,
  send: (message: Message) => Promise<boolean>,
): Promise<void> {
  const hosts = [...Map.groupBy(messages, ({ url }) => hostOf(new URL(url))).values()];
  const work = async (): Promise<void> => {
    for (let host = hosts.shift(); host !== undefined; host = hosts.shift()) {
      for (const message of host.slice(0, most)) if (!(await send(message))) break;
    }
  };
  await Promise.all(Array.from({ length: HOSTS_AT_ONCE }, work));
}
