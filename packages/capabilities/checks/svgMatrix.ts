/** An affine transform (SVG 2 §8.5), `[a b c d e f]`. */
export type Matrix = readonly [number, number, number, number, number, number];
export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

export function multiply(m: Matrix, n: Matrix): Matrix {
  return [
    m[0] * n[0] + m[2] * n[1],
    m[1] * n[0] + m[3] * n[1],
    m[0] * n[2] + m[2] * n[3],
    m[1] * n[2] + m[3] * n[3],
    m[0] * n[4] + m[2] * n[5] + m[4],
    m[1] * n[4] + m[3] * n[5] + m[5],
  ];
}

export function apply(m: Matrix, x: number, y: number): [number, number] {
  return [m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]];
}

const STEP = /([a-z]{4,9})\s{0,9}\(([^()]{0,400})\)[\s,]{0,9}/iy;

/** Reads a `transform` attribute; undefined if it has a form that this reader does not know. */
export function readTransform(text: string): Matrix | undefined {
  const whole = text.trim();
  let matrix: Matrix = IDENTITY;
  STEP.lastIndex = 0;
  while (STEP.lastIndex < whole.length) {
    const match = STEP.exec(whole);
    if (!match) return undefined;
    const next = STEP.lastIndex;
    const one = stepOf(
      (match[1] as string).toLowerCase(),
      (match[2] as string)
        .trim()
        .split(/[\s,]+/)
        .map(Number.parseFloat),
    );
    if (!one) return undefined;
    matrix = multiply(matrix, one);
    STEP.lastIndex = next;
  }
  return matrix;
}

function stepOf(name: string, [a = 0, b, c, d = 0, e = 0, f = 0]: number[]): Matrix | undefined {
  const angle = (a * Math.PI) / 180;
  switch (name) {
    case "translate":
      return [1, 0, 0, 1, a, b ?? 0];
    case "scale":
      return [a, 0, 0, b ?? a, 0, 0];
    case "rotate": {
      const turned: Matrix = [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0];
      const [x, y] = [b ?? 0, c ?? 0];
      return multiply(multiply([1, 0, 0, 1, x, y], turned), [1, 0, 0, 1, -x, -y]);
    }
    case "skewx":
      return [1, 0, Math.tan(angle), 1, 0, 0];
    case "skewy":
      return [1, Math.tan(angle), 0, 1, 0, 0];
    case "matrix":
      return [a, b ?? 0, c ?? 0, d, e, f];
    default:
      return undefined;
  }
}
