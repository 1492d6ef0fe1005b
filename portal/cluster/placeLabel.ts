/** A rectangle in pixels. */
export type Box = { left: number; top: number; width: number; height: number };

/** A wallet as a circle, and the size of its label. All in pixels. */
export type Labelled = { x: number; y: number; radius: number; width: number; height: number };

/** The space between a wallet and its label, and around a label. */
const [BESIDE, AROUND] = [4, 2];

/**
 * Finds a place for a wallet's label: on the outer side of the wallet, on its other side, below it, or above
 * it. The label lies inside the drawing and overlaps no label that was placed before.
 *
 * @param taken the labels that were placed before
 * @returns null if there is no such place
 */
export function placeLabel(
  { x, y, radius, width, height }: Labelled,
  area: { width: number; height: number },
  taken: readonly Box[],
): Box | null {
  const most = area.width - width - AROUND;
  if (most < AROUND || height + 2 * AROUND > area.height) return null;
  const middle = y - height / 2;
  const [left, right] = [x - radius - BESIDE - width, x + radius + BESIDE];
  const centre = Math.min(Math.max(x - width / 2, AROUND), most);
  const sides = x < 0.45 * area.width ? [left, right] : [right, left];
  const places = [
    ...sides.map((side) => [side, middle] as const),
    [centre, y + radius + BESIDE] as const,
    [centre, y - radius - BESIDE - height] as const,
  ];
  for (const [left, top] of places) {
    const box = { left, top, width, height };
    const isInside = left >= AROUND && left <= most && top >= AROUND && top + height <= area.height - AROUND;
    if (isInside && !taken.some((it) => overlap(it, box))) return box;
  }
  return null;
}

/** Whether two labels overlap, or nearly do. */
function overlap(a: Box, b: Box): boolean {
  return (
    a.left < b.left + b.width + AROUND &&
    b.left < a.left + a.width + AROUND &&
    a.top < b.top + b.height + AROUND &&
    b.top < a.top + a.height + AROUND
  );
}
