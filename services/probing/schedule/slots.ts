/** The length of a slot, in seconds. In each slot a host is looked at once (STEWARD, T006). */
export const SLOT_SECONDS = 300;

/** Slots of an hour, and of a UTC day. */
export const SLOTS_PER_HOUR = 12;
export const SLOTS_PER_DAY = 288;

/** The slot of a time in unix seconds: its number since 1970. */
export function slotOf(seconds: number): number {
  return Math.floor(seconds / SLOT_SECONDS);
}

/** The hour that a slot is in: unix seconds / 3600. */
export function hourOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_HOUR);
}

/** The last slot of an hour. */
export function lastSlotOf(hour: number): number {
  return (hour + 1) * SLOTS_PER_HOUR - 1;
}

/** The UTC day that a slot is in, since 1970. */
export function dayOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_DAY);
}

/** The bit of a slot among the twelve bits of its hour. The first slot of the hour has the lowest bit. */
export function bitOf(slot: number): number {
  return 1 << (slot % SLOTS_PER_HOUR);
}
