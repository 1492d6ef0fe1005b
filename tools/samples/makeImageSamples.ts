import { seededRandom } from "tallystick-runtime/seededRandom";
import { Canvas, type Colour, circle, hex, line, mix, polygon, rectangle, wedge } from "./canvas.ts";
import { blank, cut, flipBit, noise, stopped } from "./damage.ts";
import { enlarge, mirror } from "./enlarge.ts";
import { renderScene } from "./scenes.ts";

const [WIDTH, HEIGHT] = [160, 112];
const PHOTOS = ["lake", "dunes", "sea", "hills", "balls"];

/**
 * The files of the image capabilities: rendered scenes, drawings, enlargements, and wrong pictures that a seller may
 * send.
 */
export function makeImageSamples(): { [file: string]: Uint8Array } {
  return { ...photographs(), ...illustrations(), ...enlargements() };
}

function photographs(): { [file: string]: Uint8Array } {
  const files: { [file: string]: Uint8Array } = {};
  for (const name of PHOTOS) files[`photo-${name}.png`] = renderScene(name, WIDTH, HEIGHT).png();
  const lake = files["photo-lake.png"] as Uint8Array;
  files["photo-cut.png"] = cut(lake, 0.5);
  files["photo-flipped.png"] = flipBit(lake, 0.7);
  files["photo-black.png"] = blank(WIDTH, HEIGHT, "#000000");
  files["photo-grey.png"] = blank(WIDTH, HEIGHT, "#808080");
  files["photo-noise.png"] = noise(WIDTH, HEIGHT, 3);
  files["photo-stopped.png"] = stopped(renderScene("sea", WIDTH, HEIGHT), 0.45, "#000000");
  files["photo-small.png"] = renderScene("hills", WIDTH / 2, HEIGHT / 2).png();
  const tone = (x: number, y: number): Colour =>
    mix(mix(hex("#20305a"), hex("#e7b27a"), y / HEIGHT), hex("#7f3b5c"), x / WIDTH / 2);
  files["photo-gradient.png"] = new Canvas(WIDTH, HEIGHT, tone).png();
  return files;
}

function illustrations(): { [file: string]: Uint8Array } {
  const files: { [file: string]: Uint8Array } = {};
  for (const [name, draw] of Object.entries(DRAWINGS)) files[`drawing-${name}.png`] = draw().png();
  files["drawing-cut.png"] = cut(files["drawing-house.png"] as Uint8Array, 0.7);
  files["drawing-white.png"] = blank(128, 128, "#ffffff");
  files["drawing-noise.png"] = noise(64, 64, 5);
  files["drawing-stopped.png"] = stopped(house(), 0.3, "#ffffff");
  const tone = (_x: number, y: number): Colour => mix(hex("#ffffff"), hex("#3b6ea5"), y / 128);
  files["drawing-gradient.png"] = new Canvas(128, 128, tone).png();
  files["drawing-speck.png"] = new Canvas(128, 128, hex("#fff8e7"))
    .paint(circle(64, 64, 4), hex("#c0392b"))
    .paint(circle(66, 63, 2), hex("#27323f"))
    .png();
  return files;
}

function enlargements(): { [file: string]: Uint8Array } {
  const files: { [file: string]: Uint8Array } = {};
  for (const name of ["balls", "hills", "sea"]) {
    const small = renderScene(name, 48, 32);
    files[`small-${name}.png`] = small.png();
    files[`large2-${name}.png`] = enlarge(small, 2).png();
    if (name !== "hills") files[`large4-${name}.png`] = enlarge(small, 4).png();
  }
  const large = enlarge(renderScene("balls", 48, 32), 2);
  files["large2-mirrored.png"] = mirror(large).png();
  files["large2-stopped.png"] = stopped(large, 0.5, "#000000");
  files["large2-cut.png"] = cut(large.png(), 0.6);
  files["large2-flipped.png"] = flipBit(large.png(), 0.4);
  files["large2-white.png"] = blank(96, 64, "#ffffff");
  files["large2-noise.png"] = noise(96, 64, 11);
  return files;
}

const DRAWINGS = { house, cat, robot, badge, fish };

function house(): Canvas {
  const canvas = new Canvas(128, 128, hex("#bfe3f5"));
  canvas.paint(circle(100, 26, 12), hex("#ffd34d")).paint(rectangle(0, 92, 128, 128), hex("#7cb342"));
  canvas.paint(rectangle(34, 58, 92, 104), hex("#f2e0c2"));
  canvas.paint(polygon([63, 26], [102, 60], [24, 60]), hex("#c0392b"));
  canvas.paint(rectangle(56, 78, 70, 104), hex("#6d4c41")).paint(circle(67, 92, 1.5), hex("#ffd34d"));
  for (const left of [40, 76]) {
    canvas.paint(rectangle(left, 66, left + 11, 77), hex("#5dade2"));
    canvas.paint(line(left + 5.5, 66, left + 5.5, 77, 1), hex("#ffffff"));
  }
  for (const [x, y] of [
    [14, 88],
    [112, 86],
  ] as const) {
    canvas
      .paint(rectangle(x - 2, y - 4, x + 2, y + 14), hex("#6d4c41"))
      .paint(circle(x, y - 12, 11), hex("#388e3c"));
  }
  return canvas;
}

function cat(): Canvas {
  const canvas = new Canvas(128, 128, hex("#fdf1dc"));
  const fur = hex("#e08e3c");
  canvas.paint(polygon([30, 20], [58, 44], [30, 62]), fur).paint(polygon([98, 20], [98, 62], [70, 44]), fur);
  canvas.paint(circle(64, 70, 40), fur);
  for (const x of [48, 80])
    canvas.paint(circle(x, 62, 8), hex("#ffffff")).paint(circle(x, 63, 4), hex("#222222"));
  canvas.paint(polygon([58, 76], [70, 76], [64, 83]), hex("#b5523b"));
  for (const y of [-4, 2, 8]) {
    canvas.paint(line(20, 80 + y, 48, 82 + y / 2, 1.4), hex("#4e342e"));
    canvas.paint(line(80, 82 + y / 2, 108, 80 + y, 1.4), hex("#4e342e"));
  }
  return canvas;
}

function robot(): Canvas {
  const canvas = new Canvas(128, 128, hex("#20283a"));
  canvas.paint(line(64, 14, 64, 32, 3), hex("#9aa7bd")).paint(circle(64, 13, 5), hex("#ff5252"));
  canvas.paint(rectangle(36, 30, 92, 70), hex("#9aa7bd")).paint(rectangle(30, 76, 98, 116), hex("#6f7d96"));
  for (const x of [50, 78])
    canvas.paint(circle(x, 48, 8), hex("#0ff0c8")).paint(circle(x, 48, 3), hex("#10303a"));
  for (let x = 46; x <= 82; x += 6) canvas.paint(rectangle(x - 2, 60, x + 2, 65), hex("#20283a"));
  canvas.paint(rectangle(44, 84, 84, 100), hex("#10303a")).write("OK 7", 54, 90, hex("#0ff0c8"));
  return canvas
    .paint(line(24, 80, 14, 106, 6), hex("#9aa7bd"))
    .paint(line(104, 80, 114, 106, 6), hex("#9aa7bd"));
}

function badge(): Canvas {
  const canvas = new Canvas(128, 128, hex("#ffffff"));
  canvas.paint(circle(64, 64, 56), hex("#14532d")).paint(circle(64, 64, 51), hex("#f0fdf4"));
  canvas.paint(polygon([44, 40], [78, 92], [14, 92]), hex("#166534"));
  canvas.paint(polygon([82, 50], [112, 92], [54, 92]), hex("#22803f"));
  canvas
    .paint(polygon([44, 40], [53, 54], [35, 54]), hex("#ffffff"))
    .paint(circle(86, 34, 9), hex("#f59e0b"));
  return canvas.write("ALPINE CLUB", 43, 100, hex("#14532d"));
}

function fish(): Canvas {
  const canvas = new Canvas(128, 96, (_x, y) => mix(hex("#8fd3f4"), hex("#1b6ca8"), y / 96));
  canvas.paint(polygon([26, 30], [50, 48], [26, 66]), hex("#ff7043"));
  canvas.paint(wedge(76, 48, 34, 0, 1), hex("#ff8a50"));
  for (const x of [62, 78]) canvas.paint(rectangle(x, 18, x + 6, 78), hex("#fff3e0"));
  canvas.paint(circle(94, 40, 6), hex("#ffffff")).paint(circle(95, 40, 3), hex("#1a1a1a"));
  const random = seededRandom(4);
  for (let bubble = 0; bubble < 7; bubble++) {
    canvas.paint(circle(112 + random() * 12, 10 + random() * 60, 1.5 + random() * 2), hex("#e1f5fe"));
  }
  return canvas;
}
