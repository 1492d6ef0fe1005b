import type { Address } from "tallystick-protocol/address";
import { isHex } from "tallystick-protocol/hex";

/**
 * One observation of a prober, which is one line of a file. `at` is unix milliseconds.
 *
 * - `ask`: the prober asks the host. This line is written before anything is sent, so that the host is not asked twice
 *   in a slot.
 * - `up`: the host answered well. `milliseconds` is how long the answer took.
 * - `down`: the host did not answer, or answered something else.
 * - `ours`: the prober's own connection failed, so there is no data.
 * - `served`: the host's payment terms pay the agent. This is written once a day.
 * - `unserved`: the prober asked for an agent, and the host does not serve it.
 * - `robots`: whether the host's robots.txt asks the prober to stay away; undefined if the file could not be read.
 */
export type Observation = { slot: number; at: number; host: string } & (
  | { what: "ask" }
  | { what: "up"; milliseconds: number }
  | { what: "down"; why: string }
  | { what: "ours" }
  | { what: "served"; agent: Address }
  | { what: "unserved"; agent: Address }
  | { what: "robots"; optedOut: boolean | undefined }
);

/** Formats an observation as a line of a file. Its fields are separated by spaces and contain none. */
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

/** Reads a line; undefined if it is not valid, for example because a crash cut it off. */
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
