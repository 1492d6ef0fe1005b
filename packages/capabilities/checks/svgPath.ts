/** How many numbers each command takes; flags of arcs are written `f`. */
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

const SEPARATOR = /[\s,]*/y;
const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/iy;
const FLAG = /[01]/y;
const COMMAND = /[a-z]/iy;

/** Whether a text is path data by the grammar of SVG 2 §9.3.9: it begins with a move, and every command has its numbers. */
export function isPathData(data: string): boolean {
  return walkPath(data, () => undefined);
}

/** The points of a path, with its control points. Everything that the path draws lies between them. */
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
    else if (name === "a") [x, y] = [baseX + (numbers[5] ?? 0), baseY + (numbers[6] ?? 0)];
    else {
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
      // Further pairs after a move are lines. Their points are read in the same way.
      visit(command, numbers);
    }
  }
  return true;
}
