import { toBareHex } from "tallystick-protocol/hex";

/**
 * Characters that are invisible, move other text or hide words. They are control and format characters, line and
 * paragraph separators, private and unassigned characters, variation selectors and fillers. Also `<`, with which the
 * markers of chat templates begin.
 */
const HIDDEN =
  /[<\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|\u115f|\u1160|\u3164|\uffa0|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}]/gu;

/**
 * Writes a stranger's JSON on one line, with every character visible. No line break in it can end its part of a
 * prompt, and it parses to the same JSON.
 *
 * @throws TypeError for a value that JSON cannot hold
 */
export function onOneLine(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  // A character beyond the BMP becomes two escapes, one for each half, as in JSON.
  return text.replace(HIDDEN, (it) => {
    const units = Array.from({ length: it.length }, (_, at) => it.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** A random mark of 128 bits. Work that was delivered before cannot contain it. */
export function freshMark(): string {
  return toBareHex(crypto.getRandomValues(new Uint8Array(16)));
}

/** Puts a line of data between two lines that nobody else can write. */
export function betweenMarks(name: string, line: string, mark: string): string {
  return `BEGIN ${name} ${mark}\n${line}\nEND ${name} ${mark}`;
}

/** A part of a long text, and where it begins. */
export type Excerpt = { from: number; text: string };

/**
 * The parts of a long text that a model sees: its beginning, its end, and pieces at random places between them.
 * A seller that hides bad work in much good work does not know where the judge looks.
 *
 * @param random from 0 to below 1
 */
export function excerptsOf(text: string, most: number, random: () => number): Excerpt[] {
  if (text.length <= most) return [{ from: 0, text }];
  const size = Math.floor(most / 8);
  const starts = [0, text.length - size];
  for (let piece = 0; piece < 6; piece++) starts.push(Math.floor(random() * (text.length - size)));
  const sorted = [...new Set(starts)].sort((a, b) => a - b);
  const excerpts: Excerpt[] = [];
  let end = 0;
  for (const start of sorted) {
    const from = Math.max(start, end);
    const to = Math.min(text.length, start + size);
    if (to > from) excerpts.push({ from, text: text.slice(from, to) });
    end = Math.max(end, to);
  }
  return excerpts;
}
