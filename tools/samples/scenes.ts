import { Canvas, type Colour, hex, mix } from "./canvas.ts";

/** A scene: the colour at a point of the picture. Both coordinates are from 0 to 1. */
type Scene = (u: number, v: number) => Colour;

function scramble(x: number, y: number, seed: number): number {
  let mixed = Math.imul(x, 374_761_393) ^ Math.imul(y, 668_265_263) ^ Math.imul(seed, 1_442_695_041);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 1_274_126_177);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/** Smooth noise from 0 to 1. */
function smooth(x: number, y: number, seed: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const ease = (t: number): number => t * t * (3 - 2 * t);
  const [s, t] = [ease(x - left), ease(y - top)];
  const row = (at: number): number => scramble(left, at, seed) * (1 - s) + scramble(left + 1, at, seed) * s;
  return row(top) * (1 - t) + row(top + 1) * t;
}

/** Noise of several scales: clouds, ridges, waves. */
function cloudy(x: number, y: number, seed: number, octaves = 5): number {
  let [total, weight, scale] = [0, 0, 1];
  for (let octave = 0; octave < octaves; octave++, scale *= 2) {
    total += smooth(x * scale, y * scale, seed + octave) / scale;
    weight += 1 / scale;
  }
  return total / weight;
}

function ridge(u: number, base: number, height: number, roughness: number, seed: number): number {
  return base - height * cloudy(u * roughness, seed * 7.3, seed);
}

const lakeSky = (u: number, v: number): Colour =>
  mix(
    mix(hex("#26365e"), hex("#f4a26b"), v * 1.7),
    hex("#ffd9b0"),
    Math.max(0, cloudy(u * 4, v * 14, 31) - 0.52) * 2.4,
  );

function lake(u: number, v: number): Colour {
  const shore = 0.6;
  if (v > shore) {
    const depth = (v - shore) / (1 - shore);
    const ripple = (cloudy(u * 14, 30 * depth + 4 / (depth + 0.05), 44) - 0.5) * 0.07 * (0.3 + depth);
    const mirrored = shore - (v - shore) * 0.95 + ripple;
    return mix(lake(u + ripple * 0.4, Math.max(0, Math.min(shore - 0.002, mirrored))), hex("#18233c"), 0.3);
  }
  const layers: [number, number, number, number, string][] = [
    [0.5, 0.32, 3, 5, "#6d6a8f"],
    [0.57, 0.24, 5, 9, "#3f4668"],
    [0.62, 0.14, 9, 13, "#1e2a3a"],
  ];
  let seen = lakeSky(u, v);
  for (const [base, height, roughness, seed, colour] of layers) {
    if (v > ridge(u, base, height, roughness, seed)) {
      seen = mix(hex(colour), hex("#9b8aa0"), 0.35 * cloudy(u * 30, v * 40, seed + 2));
    }
  }
  return seen;
}

function dunes(u: number, v: number): Colour {
  const sky = mix(hex("#4f8fcf"), hex("#dcebf5"), v * 2.2);
  let seen = sky;
  for (let layer = 0; layer < 4; layer++) {
    const crest = (x: number): number =>
      0.36 + layer * 0.15 - 0.16 * smooth(x * (2.2 + layer * 0.6), layer * 3.1, 71 + layer);
    if (v < crest(u)) continue;
    const slope = (crest(u + 0.01) - crest(u - 0.01)) * 40;
    const ripples = Math.sin((v - crest(u)) * 190 + u * 60 + 8 * cloudy(u * 8, v * 8, 80)) * 0.05;
    const light = Math.min(1, Math.max(0, 0.55 + 0.42 * Math.tanh(slope) + ripples));
    seen = mix(mix(hex("#6b3f24"), hex("#f0c078"), light), sky, 0.32 - layer * 0.1);
  }
  return seen;
}

function sea(u: number, v: number): Colour {
  const [sunX, horizon] = [0.62, 0.52];
  if (v < horizon) {
    const sky = mix(hex("#31457c"), hex("#ff9d5c"), (v / horizon) ** 1.4);
    const glow = Math.exp(-((u - sunX) ** 2 * 22 + (v - horizon + 0.09) ** 2 * 60));
    const disc = Math.hypot((u - sunX) * 1.43, v - horizon + 0.09) < 0.045 ? 1 : 0;
    const cloud = Math.max(0, cloudy(u * 5, v * 16, 12) - 0.5) * 2;
    return mix(mix(mix(sky, hex("#ffe6a8"), glow), hex("#5a4668"), cloud * 0.8), hex("#fff6d8"), disc);
  }
  const depth = (v - horizon) / (1 - horizon);
  const wave = cloudy(u * 9 + depth * 3, 2.2 / (depth + 0.06) + depth * 8, 23, 6);
  const path = Math.exp(-(((u - sunX) / (0.05 + 0.16 * depth)) ** 2));
  const sparkle = wave > 0.52 ? path * (0.6 + 0.4 * wave) : path * 0.12;
  return mix(
    mix(hex("#23395f"), hex("#0c1a33"), depth * 0.8 + (0.5 - wave) * 0.6),
    hex("#ffcf8a"),
    sparkle * 0.9,
  );
}

function hills(u: number, v: number): Colour {
  const cloud = Math.max(0, cloudy(u * 3.2, v * 6, 52, 6) - 0.46) * 4;
  let seen = mix(mix(hex("#3f7ec4"), hex("#b9d8ef"), v * 1.8), hex("#fbfcfd"), Math.min(1, cloud));
  for (const [base, height, roughness, seed, colour] of [
    [0.56, 0.1, 2.4, 61, "#5d8a6a"],
    [0.68, 0.14, 1.8, 62, "#4a7c3a"],
    [0.86, 0.18, 1.5, 63, "#3b6b26"],
  ] as const) {
    const top = ridge(u, base, height, roughness, seed);
    if (v < top) continue;
    const grass = cloudy(u * 60, v * 90, seed + 4, 3);
    const shade = cloudy(u * 4 + 2, v * 6, seed + 8);
    seen = mix(mix(hex(colour), hex("#1d3514"), shade * 0.8), hex("#a8bf5a"), grass * 0.45);
  }
  return seen;
}

type Vector = [number, number, number];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const along = (from: Vector, way: Vector, t: number): Vector => [
  from[0] + way[0] * t,
  from[1] + way[1] * t,
  from[2] + way[2] * t,
];
const unit = (a: Vector): Vector => along([0, 0, 0], a, 1 / Math.sqrt(dot(a, a)));

const SUN = unit([-0.5, 0.8, -0.4]);
const BALLS: { centre: Vector; radius: number; colour: string; mirror: number }[] = [
  { centre: [-1.1, 1, 4.2], radius: 1, colour: "#c0392b", mirror: 0.25 },
  { centre: [1, 0.8, 3.4], radius: 0.8, colour: "#d8dde2", mirror: 0.7 },
  { centre: [0.1, 0.4, 2.5], radius: 0.4, colour: "#2e7d5b", mirror: 0.15 },
];

function hit(from: Vector, way: Vector): { t: number; ball: (typeof BALLS)[number] } | undefined {
  let nearest: { t: number; ball: (typeof BALLS)[number] } | undefined;
  for (const ball of BALLS) {
    const to = along(from, ball.centre, -1);
    const b = dot(to, way);
    const root = b * b - dot(to, to) + ball.radius ** 2;
    const t = -b - Math.sqrt(Math.max(0, root));
    if (root > 0 && t > 1e-3 && t < (nearest?.t ?? Number.POSITIVE_INFINITY)) nearest = { t, ball };
  }
  return nearest;
}

function trace(from: Vector, way: Vector, bounces: number): Colour {
  const found = hit(from, way);
  const floor = way[1] < 0 ? -from[1] / way[1] : Number.POSITIVE_INFINITY;
  if (!found && floor > 60) {
    return mix(hex("#cfe3f2"), hex("#3a6ea5"), Math.max(0, way[1]) * 1.6);
  }
  const isBall = found !== undefined && found.t < floor;
  const point = along(from, way, isBall ? found.t : floor);
  const normal: Vector = isBall ? unit(along(point, found.ball.centre, -1)) : [0, 1, 0];
  const grain = cloudy(point[0] * 5, point[2] * 5, 90, 3) * 0.25;
  const isDark = (Math.floor(point[0]) + Math.floor(point[2])) % 2 === 0;
  const own = isBall
    ? hex(found.ball.colour)
    : mix(hex(isDark ? "#7b5a3c" : "#d9c3a0"), hex("#2b1d12"), grain);
  const lit = hit(along(point, normal, 1e-3), SUN) ? 0 : Math.max(0, dot(normal, SUN));
  let seen = mix([0, 0, 0], own, 0.28 + 0.72 * lit);
  const mirror = isBall ? found.ball.mirror : 0.08;
  if (bounces > 0) {
    const reflected = unit(along(way, normal, -2 * dot(way, normal)));
    seen = mix(seen, trace(along(point, normal, 1e-3), reflected, bounces - 1), mirror);
  }
  const haze = isBall ? 0 : 1 - Math.exp(-floor * 0.03);
  return mix(seen, hex("#cfe3f2"), haze);
}

const balls: Scene = (u, v) => trace([0, 1.1, -1.2], unit([(u - 0.5) * 1.43, (0.5 - v) * 1 - 0.06, 1.1]), 3);

const SCENES: { [name: string]: Scene } = { lake, dunes, sea, hills, balls };

/** Renders a scene as a camera would see it, with four rays for each pixel. */
export function renderScene(name: string, width: number, height: number): Canvas {
  const scene = SCENES[name];
  if (!scene) throw new Error(`There is no scene ${name}`);
  return new Canvas(width, height, (x, y) => {
    let sum: Colour = [0, 0, 0];
    for (const [dx, dy] of [
      [0.25, 0.25],
      [0.75, 0.25],
      [0.25, 0.75],
      [0.75, 0.75],
    ] as const) {
      const ray = scene((x + dx) / width, (y + dy) / height);
      sum = [sum[0] + ray[0] / 4, sum[1] + ray[1] / 4, sum[2] + ray[2] / 4];
    }
    return sum;
  });
}
