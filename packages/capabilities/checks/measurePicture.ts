import type { Picture } from "./decodePicture.ts";

/** The measures for checks on images, taken on a grid of at most about 65,536 pixels. */
export type PictureMeasures = {
  /** Standard deviation of the lightness, 0 (one tone) to 127.5. */
  contrast: number;
  /** The number of colours, out of 4,096. */
  colours: number;
  /** Share of the most common of these colours. */
  commonest: number;
  /** Share of the eight most common colours. */
  commonestEight: number;
  /**
   * The mean difference of neighbouring pixels, divided by the contrast. Noise has more than 1, real pictures
   * have much less.
   */
  roughness: number;
  /** Share of pixels that differ visibly from the pixel to their right, at 1/112 of the shorter side. */
  edges: number;
  /** The longest run of rows in a single colour, as a share of the height. */
  emptyBand: number;
  /** The box around everything except the most common colour, as shares of the width and the height. */
  inkWidth: number;
  inkHeight: number;
  /** The number of different patterns among the middle rows. A ruled sheet has one or two. */
  rowPatterns: number;
};

const GRID = 65_536;

/** Measures a picture. The same picture gives the same figures everywhere: whole numbers until the last division. */
export function measurePicture(picture: Picture): PictureMeasures {
  const { width, height } = picture;
  const step = Math.max(1, Math.ceil(Math.sqrt((width * height) / GRID)));
  const reach = Math.max(1, Math.round(Math.min(width, height) / 112));
  const counts = new Map<number, number>();
  let [samples, sum, squares, pairs, differences, edges] = [0, 0, 0, 0, 0, 0];
  let [band, longestBand, rows] = [0, 0, 0];
  for (let y = 0; y < height; y += step) {
    const first = picture.rgbAt(0, y);
    let isUniform = true;
    for (let x = 0; x < width; x += step) {
      const rgb = picture.rgbAt(x, y);
      const light = lightness(rgb);
      samples++;
      sum += light;
      squares += light * light;
      const colour = quantized(rgb);
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
      if (rgb !== first) isUniform = false;
      if (x + reach < width) {
        pairs++;
        differences += Math.abs(light - lightness(picture.rgbAt(x + 1, y)));
        if (Math.abs(light - lightness(picture.rgbAt(x + reach, y))) > 12) edges++;
      }
    }
    rows++;
    band = isUniform ? band + 1 : 0;
    longestBand = Math.max(longestBand, band);
  }
  const ranked = [...counts].sort(([a, x], [b, y]) => y - x || a - b);
  const contrast = Math.sqrt(Math.max(0, squares / samples - (sum / samples) ** 2));
  return {
    contrast,
    colours: counts.size,
    commonest: (ranked[0]?.[1] ?? 0) / samples,
    commonestEight: ranked.slice(0, 8).reduce((total, [, count]) => total + count, 0) / samples,
    roughness: contrast === 0 ? 0 : differences / Math.max(1, pairs) / contrast,
    edges: edges / Math.max(1, pairs),
    emptyBand: longestBand / rows,
    ...inkBox(picture, step, ranked[0]?.[0] ?? 0),
    rowPatterns: countRowPatterns(picture, step),
  };
}

function inkBox(picture: Picture, step: number, ground: number): { inkWidth: number; inkHeight: number } {
  const { width, height } = picture;
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0; y < height; y += step) {
    for (let x = 0; x < width; x += step) {
      if (quantized(picture.rgbAt(x, y)) === ground) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  if (right < 0) return { inkWidth: 0, inkHeight: 0 };
  return {
    inkWidth: Math.min(1, (right - left + step) / width),
    inkHeight: Math.min(1, (bottom - top + step) / height),
  };
}

/**
 * Counts the different patterns of rows. A pattern is the list of the columns at which the colour changes. So lines
 * from edge to edge make no pattern, even if they are smoothed.
 */
function countRowPatterns({ width, height, rgbAt }: Picture, step: number): number {
  const patterns = new Set<string>();
  for (let y = Math.floor(height * 0.15); y < height * 0.85; y += step) {
    let pattern = "";
    for (let x = Math.floor(width * 0.3) + step; x < width * 0.85; x += step) {
      if (quantized(rgbAt(x, y)) !== quantized(rgbAt(x - step, y))) pattern += `${x} `;
    }
    patterns.add(pattern);
  }
  return patterns.size;
}

/** Rec. 601 luma, 0 to 255. */
function lightness(rgb: number): number {
  return (299 * (rgb >> 16) + 587 * ((rgb >> 8) & 255) + 114 * (rgb & 255)) / 1000;
}

/** Four bits of each channel. */
function quantized(rgb: number): number {
  return ((rgb >> 12) & 0xf00) | ((rgb >> 8) & 0xf0) | ((rgb >> 4) & 0xf);
}
