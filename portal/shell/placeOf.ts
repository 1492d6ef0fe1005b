import { isCapability } from "tallystick-protocol/capability";
import { linkTo } from "../router/route.ts";

/**
 * The page for a text in the search field, such as an address or a capability; undefined if the text is
 * neither.
 */
export function placeOf(text: string): string | undefined {
  const word = text.trim().toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(word)) return linkTo.agent(word);
  return isCapability(word) ? linkTo.market({ capability: word }) : undefined;
}
