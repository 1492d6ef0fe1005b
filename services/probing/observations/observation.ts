import type { Address } from "tallystick-protocol/address";
import { isHex } from "tallystick-protocol/hex";

/** One line of what a prober saw. `at` is unix milliseconds. */
export type Observation = { slot: number; at: number; host: string } & (
  | /** It is about to be looked at: written before anything is sent, so that nobody looks twice. */
  { what: "ask" }
  | { what: "up"; milliseconds: number }
  | { what: "down"; why: string } /** The prober's own uplink failed: no data. */
  | { what: "ours" }
  | { what: "served"; agent: Address } /** Asked for an agent that it did not serve. */
  | { what: "unserved"; agent: Address }
  | { what: "robots"; optedOut: boolean | undefined }
);

/** A line, as it stands in a file: fields by spaces, none of which has one. */
export function writeObservation(it: Observation): string {
  const detail = detailOf(it);
  return `${it.slot} ${it.at} ${it.what} ${it.host}${detail === "" ? "" : ` ${detail}`}\n`;
}

function detailOf(it: Observation): string {
  switch (it.what) {
    case "up":
      return String(it.milliseconds);
    case "down":
      return it.why;
    case "served":
    case "unserved":
      return it.agent;
    case "robots":
      return it.optedOut === undefined ? "unknown" : it.optedOut ? "out" : "in";
    default:
      return "";
  }
}

/** Reads a line; undefined when it is none, such as one that a crash cut off. */
export function readObservation(line: string): Observation | undefined {
  const [slotText = "", atText = "", what, host, detail = ""] = line.split(" ");
  const [slot, at] = [Number(slotText), Number(atText)];
  if (!/^\d+$/.test(slotText) || !/^\d+$/.test(atText) || !host) return undefined;
  const about = { slot, at, host };
  switch (what) {
    case "ask":
    case "ours":
      return { ...about, what };
    case "up":
      return /^\d+$/.test(detail) ? { ...about, what, milliseconds: Number(detail) } : undefined;
    case "down":
      return detail === "" ? undefined : { ...about, what, why: detail };
    case "served":
    case "unserved":
      return isHex(detail, 20) ? { ...about, what, agent: detail as Address } : undefined;
    case "robots":
      if (!["in", "out", "unknown"].includes(detail)) return undefined;
      return { ...about, what, optedOut: detail === "unknown" ? undefined : detail === "out" };
    default:
      return undefined;
  }
}
