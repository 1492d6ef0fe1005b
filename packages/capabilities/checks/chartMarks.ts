import type { Picture } from "./decodePicture.ts";

/** A patch of one colour (or of a soft gradient) that is neither a line nor a letter. It is measured in samples. */
export type Patch = { left: number; right: number; top: number; bottom: number; area: number };

/**
 * One colour in each column: its highest and its middle sample, counted from the top; -1 if there is none. In the
 * traces of lying bars each row is a column, and the right side is the top.
 */
export type Trace = { tops: number[]; middles: number[] };

/** The marks that are drawn on a chart, found on a grid of at most 400,000 samples. */
export type ChartMarks = {
  width: number;
  height: number;
  patches: Patch[];
  /** The traces of the frequent colours. */
  traces: Trace[];
  /** The same for lying bars. */
  lyingTraces: () => Trace[];
  /** Whether a sample belongs to a patch. */
  isPatch: (x: number, y: number) => boolean;
  /** Whether a sample has another colour than the ground. */
  isInk: (x: number, y: number) => boolean;
  /**
   * The marks that are found if the ground has the colour of the margin, and the commonest colour is another one.
   * Thick bars of nearly equal values cover more than the ground.
   */
  onMargin?: ChartMarks;
};

const SAMPLES = 400_000;
/** The largest difference of neighbouring samples in one patch, for each channel. */
const SOFT = 14;
const MAX_TRACES = 12;

/** Reads the marks of a chart. Every sample is looked at a fixed number of times. */
export function readChartMarks(picture: Picture): ChartMarks {
  const step = Math.max(1, Math.ceil(Math.sqrt((picture.width * picture.height) / SAMPLES)));
  const width = Math.floor(picture.width / step);
  const height = Math.floor(picture.height / step);
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = picture.rgbAt(x * step, y * step);
      colours[y * width + x] = colour;
      const rough = roughly(colour);
      counts.set(rough, (counts.get(rough) ?? 0) + 1);
    }
  }
  const ranked = [...counts].sort(([a, x], [b, y]) => y - x || a - b).map(([colour]) => colour);
  const onGround = (ground: number): ChartMarks => {
    const owner = new Int32Array(width * height);
    const patches = findPatches(colours, width, height, ground, owner);
    return {
      width,
      height,
      patches,
      traces,
      lyingTraces: () =>
        frequent.map((colour) => traceOf(height, width, (x, y) => has(colour, width - 1 - y, x))),
      isPatch: (x, y) => (owner[y * width + x] ?? 0) > 0,
      isInk: (x, y) => roughly(colours[y * width + x] ?? 0) !== ground,
    };
  };
  const frequent = ranked.slice(1, 1 + MAX_TRACES);
  const has = (colour: number, x: number, y: number): boolean =>
    roughly(colours[y * width + x] as number) === colour;
  const traces = frequent.map((colour) => traceOf(width, height, (x, y) => has(colour, x, y)));
  const [commonest, ofMargin] = [ranked[0] ?? 0, marginOf(colours, width, height)];
  const marks = onGround(commonest);
  return ofMargin === commonest ? marks : { ...marks, onMargin: onGround(ofMargin) };
}

/** The commonest colour near the edges. A frame around the picture is thinner. */
function marginOf(colours: Uint32Array, width: number, height: number): number {
  const counts = new Map<number, number>();
  const [wide, high] = [Math.ceil(0.04 * width), Math.ceil(0.04 * height)];
  for (let at = 0; at < colours.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width)];
    if (x >= wide && x < width - wide && y >= high && y < height - high) continue;
    const colour = roughly(colours[at] as number);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts].sort(([a, x], [b, y]) => y - x || a - b)[0]?.[0] ?? 0;
}

function findPatches(
  colours: Uint32Array,
  width: number,
  height: number,
  ground: number,
  owner: Int32Array,
): Patch[] {
  const isSolid = (at: number): boolean => {
    const [x, y] = [at % width, Math.floor(at / width)];
    if (x === 0 || y === 0 || x === width - 1 || y === height - 1) return false;
    const colour = colours[at] as number;
    if (roughly(colour) === ground) return false;
    return [at - 1, at + 1, at - width, at + width].every((next) => isSoft(colour, colours[next] as number));
  };
  const patches: Patch[] = [];
  const open: number[] = [];
  for (let start = 0; start < colours.length; start++) {
    if (owner[start] !== 0 || !isSolid(start)) continue;
    const patch: Patch = { left: width, right: 0, top: height, bottom: 0, area: 0 };
    const name = patches.length + 1;
    owner[start] = name;
    open.push(start);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const [x, y] = [at % width, Math.floor(at / width)];
      patch.area++;
      patch.left = Math.min(patch.left, x);
      patch.right = Math.max(patch.right, x);
      patch.top = Math.min(patch.top, y);
      patch.bottom = Math.max(patch.bottom, y);
      for (const next of [at - 1, at + 1, at - width, at + width]) {
        if (owner[next] !== 0 || !isSolid(next)) continue;
        if (!isSoft(colours[at] as number, colours[next] as number)) continue;
        owner[next] = name;
        open.push(next);
      }
    }
    patches.push(patch);
  }
  return patches;
}

function traceOf(width: number, height: number, has: (x: number, y: number) => boolean): Trace {
  const [tops, middles]: [number[], number[]] = [[], []];
  for (let x = 0; x < width; x++) {
    let [top, sum, count] = [-1, 0, 0];
    for (let y = 0; y < height; y++) {
      if (!has(x, y)) continue;
      if (top < 0) top = y;
      sum += y;
      count++;
    }
    tops.push(top);
    middles.push(count === 0 ? -1 : sum / count);
  }
  return { tops, middles };
}

/**
 * Reduces a colour to three bits per channel, so that soft edges and compression do not give every sample a
 * new colour.
 */
function roughly(rgb: number): number {
  return ((rgb >> 15) & 0x1c0) | ((rgb >> 10) & 0x38) | ((rgb >> 5) & 7);
}

function isSoft(a: number, b: number): boolean {
  for (const shift of [16, 8, 0]) {
    if (Math.abs(((a >> shift) & 255) - ((b >> shift) & 255)) > SOFT) return false;
  }
  return true;
}
