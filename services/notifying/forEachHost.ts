import { hostOf } from "tallystick-protocol/net/publicAddress";
import { forEachAtOnce } from "tallystick-sdk/forEachAtOnce";

/**
 * Sends messages to `atOnce` hosts at the same time. Each host gets one message at a time, and at most `most` messages
 * in one call. After a failure a host gets nothing more until the next call.
 *
 * @param limits.isOver when it says true, no further message begins
 * @param send returns whether it succeeded
 */
export async function forEachHost<Message extends { url: string }>(
  messages: readonly Message[],
  { most, atOnce, isOver = () => false }: { most: number; atOnce: number; isOver?: () => boolean },
  send: (message: Message) => Promise<boolean>,
): Promise<void> {
  const hosts = Map.groupBy(messages, ({ url }) => hostOf(new URL(url)));
  await forEachAtOnce(hosts.values(), { atOnce }, async (host) => {
    for (const message of host.slice(0, most)) if (isOver() || !(await send(message))) break;
  });
}
