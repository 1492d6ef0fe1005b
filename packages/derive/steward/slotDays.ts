/** The number of stored UTC days: 90 days up to today, for the longest window of the sums, and one spare day. */
export const KEPT_DAYS = 91;

/** Slots of five minutes in a day. */
export const SLOTS_PER_DAY = 288;

/**
 * The slots of one UTC day. `data`: how many have data. `down`: how many count as downtime. `raw`: in how many the
 * agent was found down. `denied`: in how many of these the agent claims that it was up.
 */
export type SlotDay = { day: number; data: number; down: number; raw: number; denied: number };

/** The numbers from 0 to 288 as two digits of base 36. A day has 288 slots, so no count is larger. */
const DIGITS = Array.from({ length: SLOTS_PER_DAY + 1 }, (_, n) => n.toString(36).padStart(2, "0"));
const CELL = 8;
const NO_SLOT = "0".repeat(CELL);

/**
 * Parses days in ascending order. The text is the first day's number, a colon, and eight characters for each day: two
 * for each count, in the order of {@link SlotDay}. An agent's days are read and written every hour, and this form
 * takes a tenth of the time of a text with separators.
 */
export function parseSlotDays(text: string): SlotDay[] {
  if (text === "") return [];
  const start = text.indexOf(":") + 1;
  const first = Number(text.slice(0, start - 1));
  const days: SlotDay[] = [];
  for (let at = start; at < text.length; at += CELL) {
    const data = countAt(text, at);
    if (data === 0) continue;
    const day = first + (at - start) / CELL;
    days.push({
      day,
      data,
      down: countAt(text, at + 2),
      raw: countAt(text, at + 4),
      denied: countAt(text, at + 6),
    });
  }
  return days;
}

function countAt(text: string, at: number): number {
  return digitAt(text, at) * 36 + digitAt(text, at + 1);
}

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}

export function formatSlotDays(days: readonly SlotDay[]): string {
  const first = days[0]?.day;
  if (first === undefined) return "";
  let text = `${first}:`;
  let next = first;
  for (const { day, data, down, raw, denied } of days) {
    for (; next < day; next++) text += NO_SLOT;
    text += `${DIGITS[data]}${DIGITS[down]}${DIGITS[raw]}${DIGITS[denied]}`;
    next++;
  }
  return text;
}

/**
 * The sums over N-day windows: today and the N − 1 UTC days before. Each day is added only once, because a longer
 * window begins with the sum of the shorter one.
 *
 * @param windows the numbers of days, the shortest first
 */
export function sumSlots(
  days: readonly SlotDay[],
  today: number,
  windows: readonly number[],
): Omit<SlotDay, "day">[] {
  const sum = { data: 0, down: 0, raw: 0, denied: 0 };
  let at = days.length - 1;
  return windows.map((window) => {
    for (; at >= 0; at--) {
      const it = days[at] as SlotDay;
      if (it.day > today) continue;
      if (it.day <= today - window) break;
      sum.data += it.data;
      sum.down += it.down;
      sum.raw += it.raw;
      sum.denied += it.denied;
    }
    return { ...sum };
  });
}

/** Finds the counts of a day. Adds the day, with counts of 0, if `days` does not have the day. */
function dayOf(days: SlotDay[], day: number): SlotDay {
  let at = days.length;
  while (at > 0 && (days[at - 1] as SlotDay).day > day) at--;
  const known = days[at - 1];
  if (known?.day === day) return known;
  const made = { day, data: 0, down: 0, raw: 0, denied: 0 };
  days.splice(at, 0, made);
  return made;
}

/**
 * An unfinished run of slots in which an agent was found down. `length`: the number of these slots. `first`: the UTC
 * day of each of these slots, while there are only one or two. From the third slot on it is empty.
 */
export type Run = { length: number; first: number[] };

export function parseRun(text: string): Run {
  const [length = 0, ...first] = text === "" ? [] : text.split(" ").map(Number);
  return { length, first };
}

export function formatRun({ length, first }: Run): string {
  return length === 0 ? "" : [length, ...first].join(" ");
}

/**
 * A run of at least this many slots counts as downtime, from its first slot on. One or two slots may be a false alarm
 * (STEWARD, T006).
 */
const DOWNTIME_RUN = 3;

/**
 * Adds the twelve slots of an hour, in order. A run may continue over several hours. A slot without data
 * neither ends nor lengthens a run.
 *
 * @param slots which slots have data, which are down, and which of these the agent denies; the first slot is
 * the lowest bit
 */
export function takeHour(
  days: SlotDay[],
  run: Run,
  hour: number,
  { data, down, denied }: { data: number; down: number; denied: number },
): void {
  const today = Math.floor(hour / 24);
  for (let slot = 0; slot < 12; slot++) {
    const bit = 1 << slot;
    if ((data & bit) === 0) continue;
    const here = dayOf(days, today);
    here.data++;
    if ((down & bit) === 0) {
      run.length = 0;
      run.first = [];
      continue;
    }
    here.raw++;
    if ((denied & bit) !== 0) here.denied++;
    run.length++;
    if (run.length < DOWNTIME_RUN) {
      run.first.push(today);
      continue;
    }
    here.down++;
    if (run.length > DOWNTIME_RUN) continue;
    for (const day of run.first) dayOf(days, day).down++;
    run.first = [];
  }
  // Drops days that are too old. The loop can add such a day: a run may have long gaps without data, so its first slots
  // can be months before its third.
  const newest = days.at(-1)?.day ?? today;
  while (days[0] !== undefined && days[0].day <= newest - KEPT_DAYS) days.shift();
}
