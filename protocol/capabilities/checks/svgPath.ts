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
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(data)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  take(SEPARATOR);
  for (let isFirst = true; at < data.length; isFirst = false) {
    const command = take(COMMAND)?.toLowerCase();
    const wanted = command === undefined ? undefined : ARGUMENTS[command];
    if (wanted === undefined || (isFirst && command !== "m")) return false;
    take(SEPARATOR);
    for (let round = 0; wanted !== "" && (round === 0 || /[-+.\d]/.test(data[at] ?? "")); round++) {
      for (const kind of wanted) {
        if (take(kind === "n" ? NUMBER : FLAG) === undefined) return false;
        take(SEPARATOR);
      }
    }
  }
  return true;
}
