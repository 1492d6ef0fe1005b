/** Two nodes, by their numbers. */
export type Link = readonly [from: number, to: number];

/** Number of rounds, and how far a node may move in the first round. */
const [ROUNDS, FIRST_STRIDE] = [50, 2.5];

/**
 * The most nodes of one cell that push a node. In a dense cell the other nodes are ignored, which limits the
 * work.
 */
const MAX_PER_CELL = 24;

/** Cosine and sine of the golden angle as constants, because engines compute the last digit differently. */
const [COS, SIN] = [-0.73736887807832, 0.675490294261524];

/** The side of a cell, and three strengths: the push between two nodes, the pull of a link, the pull to the centre. */
const [CELL, PUSH, PULL, CENTRE] = [2, 1.2, 0.12, 0.012];

/**
 * Computes a drawing of a graph: linked nodes are near each other, other nodes are apart. The same graph
 * gives the same drawing everywhere. Nothing is random, and only sums, products, quotients and square roots
 * are used, which every engine rounds in the same way.
 *
 * @returns x and y of each node, one after the other
 */
export function layoutGraph(count: number, links: readonly Link[]): Float64Array {
  const places = spiral(count);
  const moves = new Float64Array(2 * count);
  const degrees = new Float64Array(count);
  for (const [from, to] of links) {
    degrees[from] = (degrees[from] as number) + 1;
    degrees[to] = (degrees[to] as number) + 1;
  }
  for (let round = 0; round < ROUNDS; round++) {
    moves.fill(0);
    pushApart(places, moves);
    pullTogether(places, moves, links, degrees);
    const stride = (FIRST_STRIDE * (ROUNDS - round)) / ROUNDS;
    for (let n = 0; n < 2 * count; n += 2) {
      const [x, y] = [moves[n] as number, moves[n + 1] as number];
      const length = Math.sqrt(x * x + y * y);
      const share = length > stride ? stride / length : 1;
      places[n] = (places[n] as number) * (1 - CENTRE) + x * share;
      places[n + 1] = (places[n + 1] as number) * (1 - CENTRE) + y * share;
    }
  }
  return places;
}

/** The first positions: a spiral around the middle, like the seeds of a sunflower. */
function spiral(count: number): Float64Array {
  const places = new Float64Array(2 * count);
  let [x, y] = [1, 0];
  for (let n = 0; n < count; n++) {
    const radius = Math.sqrt(n + 0.5);
    places[2 * n] = x * radius;
    places[2 * n + 1] = y * radius;
    [x, y] = [x * COS - y * SIN, x * SIN + y * COS];
  }
  return places;
}

function pushApart(places: Float64Array, moves: Float64Array): void {
  const first = new Map<number, number>();
  const next = new Int32Array(places.length / 2).fill(-1);
  const cellOf = (column: number, row: number) => (column + 32_768) * 65_536 + row + 32_768;
  const indexOf = (value: number) => Math.floor(value / CELL);
  for (let n = places.length / 2 - 1; n >= 0; n--) {
    const cell = cellOf(indexOf(places[2 * n] as number), indexOf(places[2 * n + 1] as number));
    next[n] = first.get(cell) ?? -1;
    first.set(cell, n);
  }
  for (let n = 0; n < places.length / 2; n++) {
    const [x, y] = [places[2 * n] as number, places[2 * n + 1] as number];
    const [column, row] = [indexOf(x), indexOf(y)];
    let [moveX, moveY] = [0, 0];
    for (let cell = 0; cell < 9; cell++) {
      let other = first.get(cellOf(column - 1 + (cell % 3), row - 1 + Math.floor(cell / 3))) ?? -1;
      for (let seen = 0; other !== -1 && seen < MAX_PER_CELL; seen++, other = next[other] as number) {
        if (other === n) continue;
        const dx = x - (places[2 * other] as number);
        const dy = y - (places[2 * other + 1] as number);
        const square = dx * dx + dy * dy + 0.01;
        moveX += (PUSH * dx) / square;
        moveY += (PUSH * dy) / square;
      }
    }
    moves[2 * n] = (moves[2 * n] as number) + moveX;
    moves[2 * n + 1] = (moves[2 * n + 1] as number) + moveY;
  }
}

/**
 * Pulls linked nodes together. Each link of a node with many links pulls it only a little, so it stays
 * between its neighbours.
 */
function pullTogether(
  places: Float64Array,
  moves: Float64Array,
  links: readonly Link[],
  degrees: Float64Array,
): void {
  for (const [from, to] of links) {
    const dx = (places[2 * to] as number) - (places[2 * from] as number);
    const dy = (places[2 * to + 1] as number) - (places[2 * from + 1] as number);
    for (const [node, sign] of [
      [from, 1],
      [to, -1],
    ] as const) {
      const pull = (sign * PULL) / Math.sqrt(degrees[node] as number);
      moves[2 * node] = (moves[2 * node] as number) + pull * dx;
      moves[2 * node + 1] = (moves[2 * node + 1] as number) + pull * dy;
    }
  }
}
