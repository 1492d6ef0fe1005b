import { expect } from "chai";
import type { Picture } from "tallystick-capabilities/checks/decodePicture";
import { measurePicture, type PictureMeasures } from "tallystick-capabilities/checks/measurePicture";
import { seededRandom } from "tallystick-runtime/seededRandom";

const PALETTE = [
  0xffffff, 0xf4f4f4, 0x3366cc, 0x3a6fcf, 0xff0000, 0x00aa00, 0x000000, 0x101010, 0x808080, 0x0000ff,
  0xffff00,
];

/** A ground with boxes and specks of other colours. */
function randomPicture(random: () => number, width: number, height: number): Picture {
  const whole = (below: number) => Math.floor(random() * below);
  const colour = () => PALETTE[whole(PALETTE.length)] as number;
  const pixels: number[] = new Array(width * height).fill(colour());
  for (let box = whole(7); box > 0; box--) {
    const [left, top, filled] = [whole(width), whole(height), colour()];
    const [right, bottom] = [left + 1 + whole(width), top + 1 + whole(height)];
    for (let y = top; y < Math.min(bottom, height); y++)
      for (let x = left; x < Math.min(right, width); x++) pixels[y * width + x] = filled;
  }
  for (let speck = whole(width); speck > 0; speck--) pixels[whole(pixels.length)] = colour();
  return { width, height, rgbAt: (x, y) => pixels[y * width + x] as number };
}

/** The same measures, from lists of samples. */
function plainMeasures({ width, height, rgbAt }: Picture): PictureMeasures {
  const step = Math.max(1, Math.ceil(Math.sqrt((width * height) / 65_536)));
  const reach = Math.max(1, Math.round(Math.min(width, height) / 112));
  const every = (from: number, to: number) => {
    const all: number[] = [];
    for (let at = from; at < to; at += step) all.push(at);
    return all;
  };
  const light = (x: number, y: number) => {
    const rgb = rgbAt(x, y);
    return 0.299 * (rgb >> 16) + 0.587 * ((rgb >> 8) & 255) + 0.114 * (rgb & 255);
  };
  const colour = (x: number, y: number) => rgbAt(x, y).toString(16).padStart(6, "0").replace(/(.)./g, "$1");
  const [xs, ys] = [every(0, width), every(0, height)];
  const samples = ys.flatMap((y) => xs.map((x): [number, number] => [x, y]));
  const mean = (list: number[]) =>
    list.length === 0 ? 0 : list.reduce((sum, one) => sum + one, 0) / list.length;
  const lights = samples.map(([x, y]) => light(x, y));
  const middle = mean(lights);
  const contrast = Math.sqrt(mean(lights.map((one) => (one - middle) ** 2)));
  const groups = Object.entries(Object.groupBy(samples, ([x, y]) => colour(x, y)))
    .map(([name, own = []]) => ({ name, share: own.length / samples.length }))
    .sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1));
  const pairs = samples.filter(([x]) => x + reach < width);
  const steps = pairs.map(([x, y]) => Math.abs(light(x, y) - light(x + 1, y)));
  const isUniform = ys.map((y) => xs.every((x) => rgbAt(x, y) === rgbAt(0, y)));
  const runs = isUniform.map((_, at) => [...isUniform.slice(at), false].indexOf(false));
  const ink = samples.filter(([x, y]) => colour(x, y) !== groups[0]?.name);
  const extent = (list: number[]) => (list.length === 0 ? 0 : Math.max(...list) - Math.min(...list) + step);
  const rows = every(Math.floor(height * 0.15), height * 0.85);
  const columns = every(Math.floor(width * 0.3) + step, width * 0.85);
  const patterns = rows.map((y) => columns.filter((x) => colour(x, y) !== colour(x - step, y)).join());
  return {
    contrast,
    colours: groups.length,
    commonest: groups[0]?.share ?? 0,
    commonestEight: groups.slice(0, 8).reduce((sum, { share }) => sum + share, 0),
    roughness: contrast < 1e-9 ? 0 : mean(steps) / contrast,
    edges: mean(pairs.map(([x, y]) => Number(Math.abs(light(x, y) - light(x + reach, y)) > 12))),
    emptyBand: Math.max(...runs) / ys.length,
    inkWidth: Math.min(1, extent(ink.map(([x]) => x)) / width),
    inkHeight: Math.min(1, extent(ink.map(([, y]) => y)) / height),
    rowPatterns: new Set(patterns).size,
  };
}

describe("the measures of any picture", () => {
  const hold = (picture: Picture) => {
    const [found, plain] = [measurePicture(picture), plainMeasures(picture)];
    for (const name of Object.keys(plain) as (keyof PictureMeasures)[])
      expect(found[name], `${name} of ${picture.width} × ${picture.height}`).to.be.closeTo(plain[name], 1e-6);
  };

  it("are those of a plain reading, for small pictures", () => {
    const random = seededRandom(20_261_129);
    for (let run = 0; run < 60; run++)
      hold(randomPicture(random, 1 + Math.floor(random() * 30), 1 + Math.floor(random() * 30)));
  });

  it("find ink in the first row and in the first column alone", () => {
    const ink = (isInk: (x: number, y: number) => boolean) => {
      const { inkWidth, inkHeight } = measurePicture({
        ...{ width: 10, height: 8 },
        rgbAt: (x, y) => (isInk(x, y) ? 0 : 0xffffff),
      });
      return [inkWidth, inkHeight];
    };
    expect(ink((_, y) => y === 0)).to.deep.equal([1, 1 / 8]);
    expect(ink((x) => x === 0)).to.deep.equal([1 / 10, 1]);
    expect(ink((x, y) => x === 0 && y === 0)).to.deep.equal([1 / 10, 1 / 8]);
    expect(ink((x, y) => x === 9 && y === 7)).to.deep.equal([1 / 10, 1 / 8]);
  });

  it("are taken from every pixel of 65,536, and from every second of a few more", () => {
    const random = seededRandom(20_261_130);
    hold(randomPicture(random, 256, 256));
    hold(randomPicture(random, 257, 256));
    hold(randomPicture(random, 300, 150));
  });
});
