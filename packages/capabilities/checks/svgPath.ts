/** The arguments of each command: `n` is a number, `f` is a flag of an arc. */
const ARGUMENTS: { [command: string]: string } = {
  m: "nn",
  z: "",
  l: "nn",
  h: "n",
  v: "n",
  c: "nnnnnn",
  s: "nnnn",
  q: "nnnn",
  t: "nn",
  a: "nnnffnn",
};

/** What a move is from its second pair of numbers on. */
const LINES: { readonly [move: string]: string } = { m: "l", M: "L" };

const SEPARATOR = /[\s,]*/y;
const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/iy;
const FLAG = /[01]/y;
const COMMAND = /[a-z]/iy;

/**
 * Whether a text is path data by the grammar of SVG 2 §9.3.9: it begins with a move, and every command has its numbers.
 */
export function isPathData(data: string): boolean {
  return walkPath(data, () => undefined);
}

/**
 * The points of a path, with its control points and with corners around its arcs. Everything that the path draws
 * lies between these points, except for parts of smooth curves (`s`, `t`).
 */
export function pathPoints(data: string): [x: number, y: number][] {
  const points: [number, number][] = [];
  let [x, y, startX, startY] = [0, 0, 0, 0];
  walkPath(data, (command, numbers) => {
    const isRelative = command >= "a";
    const name = command.toLowerCase();
    const [baseX, baseY] = isRelative ? [x, y] : [0, 0];
    if (name === "z") [x, y] = [startX, startY];
    else if (name === "h") x = baseX + (numbers[0] ?? 0);
    else if (name === "v") y = baseY + (numbers[0] ?? 0);
    else if (name === "a") {
      const [endX, endY] = [baseX + (numbers[5] ?? 0), baseY + (numbers[6] ?? 0)];
      points.push(...aroundArc([x, y], numbers, [endX, endY]));
      [x, y] = [endX, endY];
    } else {
      for (let at = 0; at + 1 < numbers.length; at += 2) {
        points.push([baseX + (numbers[at] as number), baseY + (numbers[at + 1] as number)]);
      }
      [x, y] = points.at(-1) ?? [x, y];
    }
    if (name === "m") [startX, startY] = [x, y];
    points.push([x, y]);
  });
  return points;
}

/**
 * Corners of a box around the whole ellipse of an arc (SVG 2, B.2.4). An arc reaches far beyond its ends: a pie
 * chart of one slice has both ends at nearly the same point.
 *
 * @param arc the seven numbers of the command: rx, ry, rotation, large arc, sweep, and the end
 */
function aroundArc(
  [fromX, fromY]: [number, number],
  arc: readonly number[],
  [toX, toY]: [number, number],
): [x: number, y: number][] {
  const [rx, ry] = [Math.abs(arc[0] ?? 0), Math.abs(arc[1] ?? 0)];
  if (rx === 0 || ry === 0) return [];
  const angle = ((arc[2] ?? 0) * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [halfX, halfY] = [(fromX - toX) / 2, (fromY - toY) / 2];
  // The same vector in a plane in which the ellipse is a circle of radius 1.
  const [u, v] = [(cos * halfX + sin * halfY) / rx, (cos * halfY - sin * halfX) / ry];
  const distance = u * u + v * v;
  if (distance === 0) return [];
  // Radii that are too small for the ends grow until they fit.
  const scale = Math.sqrt(Math.max(1, distance));
  const side = arc[3] === arc[4] ? -1 : 1;
  const factor = side * Math.sqrt(Math.max(0, 1 / distance - 1));
  const [offX, offY] = [factor * v * rx, -factor * u * ry];
  const centreX = cos * offX - sin * offY + (fromX + toX) / 2;
  const centreY = sin * offX + cos * offY + (fromY + toY) / 2;
  const reach = Math.max(rx, ry) * scale;
  return [
    [centreX - reach, centreY - reach],
    [centreX + reach, centreY - reach],
    [centreX - reach, centreY + reach],
    [centreX + reach, centreY + reach],
  ];
}

/** Reads path data command by command and stops at the first error. Returns whether there was none. */
function walkPath(data: string, visit: (command: string, numbers: number[]) => void): boolean {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(data)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  take(SEPARATOR);
  for (let isFirst = true; at < data.length; isFirst = false) {
    const command = take(COMMAND);
    const wanted = command === undefined ? undefined : ARGUMENTS[command.toLowerCase()];
    if (command === undefined || wanted === undefined) return false;
    if (isFirst && command.toLowerCase() !== "m") return false;
    take(SEPARATOR);
    if (wanted === "") visit(command, []);
    for (let round = 0; wanted !== "" && (round === 0 || /[-+.\d]/.test(data[at] ?? "")); round++) {
      const numbers: number[] = [];
      for (const kind of wanted) {
        const number = take(kind === "n" ? NUMBER : FLAG);
        if (number === undefined) return false;
        numbers.push(Number(number));
        take(SEPARATOR);
      }
      // Further pairs after a move are lines.
      visit(round === 0 ? command : (LINES[command] ?? command), numbers);
    }
  }
  return true;
}
