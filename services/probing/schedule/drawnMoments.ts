import { createHash, createHmac } from "node:crypto";
import type { Hex } from "tallystick-protocol/hex";
import { SLOT_SECONDS, SLOTS_PER_DAY } from "./slots.ts";

/** The last seconds of a slot in which no look begins: an answer may take ten, and others may be before it. */
const QUIET_SECONDS = 15;

/** When what is done. Nobody without the prober's key can say, and the prober cannot choose (STEWARD, T013). */
export type DrawnMoments = {
  /** In which second of a slot a host is looked at: 0 to 284. */
  secondOf: (slot: number, host: string) => number;
  /** From which slot of a day on something is done that is done once a day: 0 to 287. */
  slotOfDay: (day: number, what: string) => number;
  /** A number that orders hosts, the same for a day. */
  orderOf: (day: number, what: string) => number;
};

/** Draws moments from the prober's key. */
export function drawnMoments(privateKey: Hex): DrawnMoments {
  // Not the key itself: what is drawn from it is seen by every host.
  const secret = createHash("sha256").update(`tallystick prober moments ${privateKey}`).digest();
  const draw = (what: string): number => createHmac("sha256", secret).update(what).digest().readUInt32BE(0);
  return {
    secondOf: (slot, host) => draw(`look ${slot} ${host}`) % (SLOT_SECONDS - QUIET_SECONDS),
    slotOfDay: (day, what) => draw(`day ${day} ${what}`) % SLOTS_PER_DAY,
    orderOf: (day, what) => draw(`order ${day} ${what}`),
  };
}
