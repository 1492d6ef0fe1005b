import { createHash, createHmac } from "node:crypto";
import type { Hex } from "tallystick-protocol/hex";
import { SLOT_SECONDS, SLOTS_PER_DAY } from "./slots.ts";

/**
 * The seconds at the end of a slot in which no look begins. An answer may take ten seconds, and other requests may
 * come first.
 */
const QUIET_SECONDS = 15;

/**
 * The moments of all work. Nobody without the prober's key can predict them, and the prober cannot choose
 * them (STEWARD, T013).
 */
export type DrawnMoments = {
  /** The second of a slot in which a host is looked at: 0 to 284. */
  secondOf: (slot: number, host: string) => number;
  /** The slot of a day in which daily work becomes due: 0 to 287. */
  slotOfDay: (day: number, what: string) => number;
  /** A number to sort hosts by. It is the same for the whole day. */
  orderOf: (day: number, what: string) => number;
};

/** Draws moments from the prober's key. */
export function drawnMoments(privateKey: Hex): DrawnMoments {
  // The moments come from a hash of the key and not from the key itself, because every host can see them.
  const secret = createHash("sha256").update(`tallystick prober moments ${privateKey}`).digest();
  const draw = (what: string): number => createHmac("sha256", secret).update(what).digest().readUInt32BE(0);
  return {
    secondOf: (slot, host) => draw(`look ${slot} ${host}`) % (SLOT_SECONDS - QUIET_SECONDS),
    slotOfDay: (day, what) => draw(`day ${day} ${what}`) % SLOTS_PER_DAY,
    orderOf: (day, what) => draw(`order ${day} ${what}`),
  };
}
