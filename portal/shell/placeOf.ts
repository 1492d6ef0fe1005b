import { isCapability } from "tallystick-protocol/capability";
import { linkTo } from "../router/route.ts";

/** Where a reader means to go who types an address or a capability; undefined when it is neither. */
export function placeOf(text: string): string | undefined {
  const word = text.trim().toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(word)) return linkTo.agent(word);
  return isCapability(word) ? linkTo.market({ capability: word }) : undefined;
}
