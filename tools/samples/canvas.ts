import { encode } from "fast-png";

/** Red, green and blue, each from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number];

/** A shape: positive inside, negative outside, in pixels from its edge. */
export type Shape = (x: number, y: number) => number;

/** `"#3366cc"` as a colour. */
export function hex(text: string): Colour {
  const at = (from: number): number => Number.parseInt(text.slice(from, from + 2), 16) / 255;
  return [at(1), at(3), at(5)];
}

export function mix(a: Colour, b: Colour, share: number): Colour {
  const part = Math.min(1, Math.max(0, share));
  return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part];
}

export const circle =
  (centreX: number, centreY: number, radius: number): Shape =>
  (x, y) =>
    radius - Math.hypot(x - centreX, y - centreY);

export const rectangle =
  (left: number, top: number, right: number, bottom: number): Shape =>
  (x, y) =>
    Math.min(x - left, right - x, y - top, bottom - y);

export const line =
  (x1: number, y1: number, x2: number, y2: number, width: number): Shape =>
  (x, y) => {
    const [dx, dy] = [x2 - x1, y2 - y1];
    const along = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    return width / 2 - Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
  };

/** A convex polygon. Its corners are in clockwise order on the screen. */
export const polygon =
  (...corners: [number, number][]): Shape =>
  (x, y) => {
    let inside = Number.POSITIVE_INFINITY;
    for (const [at, [x1, y1]] of corners.entries()) {
      const [x2, y2] = corners[(at + 1) % corners.length] as [number, number];
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      inside = Math.min(inside, ((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) / length);
    }
    return inside;
  };

/** Part of a disc. Angles are shares of a full turn, clockwise from the top. */
export const wedge =
  (centreX: number, centreY: number, radius: number, from: number, to: number): Shape =>
  (x, y) => {
    const turn = (Math.atan2(x - centreX, centreY - y) / (2 * Math.PI) + 1) % 1;
    const away = Math.hypot(x - centreX, y - centreY);
    return turn >= from && turn < to ? radius - away : -1;
  };

/** Letters and digits of three by five dots. Each row is an octal digit. */
const FONT: { [sign: string]: string } = {
  "0": "75557",
  "1": "26227",
  "2": "71747",
  "3": "71717",
  "4": "55711",
  "5": "74717",
  "6": "74757",
  "7": "71122",
  "8": "75757",
  "9": "75717",
  A: "25755",
  B: "65656",
  C: "34443",
  D: "65556",
  E: "74647",
  F: "74644",
  G: "34553",
  H: "55755",
  I: "72227",
  J: "11152",
  K: "55655",
  L: "44447",
  M: "57755",
  N: "65555",
  O: "25552",
  P: "65644",
  Q: "25563",
  R: "65655",
  S: "34216",
  T: "72222",
  U: "55557",
  V: "55552",
  W: "55775",
  X: "55255",
  Y: "55222",
  Z: "71247",
  ".": "00002",
  "-": "00700",
  "%": "51245",
  "(": "24442",
  ")": "21112",
};

/** A picture on which shapes are painted with soft edges. */
export class Canvas {
  readonly width: number;
  readonly height: number;
  readonly pixels: Float64Array;

  constructor(width: number, height: number, ground: Colour | ((x: number, y: number) => Colour)) {
    this.width = width;
    this.height = height;
    this.pixels = new Float64Array(width * height * 3);
    const colourAt = typeof ground === "function" ? ground : () => ground;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) this.pixels.set(colourAt(x, y), (y * width + x) * 3);
    }
  }

  paint(shape: Shape, colour: Colour | ((x: number, y: number) => Colour)): this {
    const colourAt = typeof colour === "function" ? colour : () => colour;
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const cover = Math.min(1, Math.max(0, shape(x + 0.5, y + 0.5) + 0.5));
        if (cover === 0) continue;
        const at = (y * this.width + x) * 3;
        const under = [this.pixels[at], this.pixels[at + 1], this.pixels[at + 2]] as unknown as Colour;
        this.pixels.set(mix(under, colourAt(x, y), cover), at);
      }
    }
    return this;
  }

  write(text: string, left: number, top: number, colour: Colour): this {
    for (const [at, sign] of [...text.toUpperCase()].entries()) {
      for (const [row, dots] of [...(FONT[sign] ?? "00000")].entries()) {
        for (let column = 0; column < 3; column++) {
          if (!((Number(dots) >> (2 - column)) & 1)) continue;
          const [x, y] = [left + at * 4 + column, top + row];
          if (x < this.width && y < this.height) this.pixels.set(colour, (y * this.width + x) * 3);
        }
      }
    }
    return this;
  }

  /** The picture as bytes, three for each pixel. */
  bytes(): Uint8Array {
    return Uint8Array.from(this.pixels, (value) => Math.round(Math.min(1, Math.max(0, value)) * 255));
  }

  png(): Uint8Array {
    return encodeRgb(this.width, this.height, this.bytes());
  }
}

/** Encodes bytes, three for each pixel, as PNG. */
export function encodeRgb(width: number, height: number, data: Uint8Array): Uint8Array {
  return encode({ width, height, data, channels: 3, depth: 8 }, { zlib: { level: 9 } });
}
