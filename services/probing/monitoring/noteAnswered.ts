import { hostOf } from "tallystick-protocol/net/publicAddress";
import { registeredNameOf } from "tallystick-runtime/http/registeredNameOf";

/** The most registered names that are remembered. Those that answered least recently are forgotten. */
const MAX_ANSWERED = 20_000;

/**
 * Remembers the registered name of an endpoint that gave figures in the right form. Any other answer says nothing about the
 * agents there: anybody may name a stranger's site, which answers 404.
 */
export function noteAnswered(answered: Set<string>, endpoint: string): void {
  const name = registeredNameOf(hostOf(new URL(endpoint)));
  answered.delete(name);
  answered.add(name);
  for (const oldest of answered) {
    if (answered.size <= MAX_ANSWERED) break;
    answered.delete(oldest);
  }
}
