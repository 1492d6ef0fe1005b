/** The size of a part of a drawing with all its references followed. */
export type Drawn = { shapes: number; paths: number };

/** Counting stops here. No real drawing has so many shapes. */
export const MAX_DRAWN = 1_000_000;

/** A reference to an element by its id, and how often it is drawn there. */
export type SvgReference = { id: string; times: number };

type Part = { own: Drawn; inside: number[]; references: SvgReference[]; drawn?: Drawn | "under way" };

/**
 * Counts what an SVG document draws. A `use` draws its target again, and the target may contain more `use` elements.
 * So a few lines can draw more shapes than fit into memory. It counts without expanding anything and without
 * recursion, so chains and circles of references are safe.
 */
export function svgReferences() {
  const parts: Part[] = [];
  const byId = new Map<string, number>();
  const open: number[] = [];

  /** The numbers of the parts that must be counted before this one. */
  const needs = ({ inside, references }: Part): number[] => [
    ...inside,
    ...references.flatMap(({ id }) => byId.get(id) ?? []),
  ];

  function count(start: number): Drawn {
    const path: [part: Part, left: Iterator<number>][] = [];
    const enter = (at: number): void => {
      const part = parts[at] as Part;
      if (part.drawn !== undefined) return;
      part.drawn = "under way";
      path.push([part, needs(part).values()]);
    };
    enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const [part, left] = top;
      const next = left.next();
      if (next.done !== true) {
        enter(next.value);
        continue;
      }
      const sum = { ...part.own };
      for (const at of part.inside) add(sum, parts[at], 1);
      for (const { id, times } of part.references) add(sum, parts[byId.get(id) ?? -1], times);
      part.drawn = sum;
      path.pop();
    }
    return parts[start]?.drawn as Drawn;
  }

  return {
    /** Begins an element. If two elements have the same id, a reference means the first. */
    open: (own: Drawn, id: string | undefined, references: SvgReference[]): number => {
      const at = parts.push({ own, inside: [], references }) - 1;
      if (id !== undefined && !byId.has(id)) byId.set(id, at);
      const outer = open.at(-1);
      if (outer !== undefined) parts[outer]?.inside.push(at);
      open.push(at);
      return at;
    },
    close: (): void => {
      open.pop();
    },
    /**
     * What an element draws. To be called after the end of the document. A circle of references is an error in SVG, and
     * browsers cut it at different places. So everything that leads to a circle counts as `MAX_DRAWN`.
     */
    drawn: (at: number): Drawn => count(at),
  };
}

function add(sum: Drawn, part: Part | undefined, times: number): void {
  if (part?.drawn === undefined) return;
  // A part that is still under way needs itself.
  const drawn = part.drawn === "under way" ? { shapes: MAX_DRAWN, paths: MAX_DRAWN } : part.drawn;
  sum.shapes = Math.min(MAX_DRAWN, sum.shapes + times * drawn.shapes);
  sum.paths = Math.min(MAX_DRAWN, sum.paths + times * drawn.paths);
}

/**
 * The references in the attributes of an element. A marker is drawn at every point of a line.
 *
 * @param drawsHref whether the element draws what its `href` names; a link does not
 */
export function referencesIn(attributes: { [name: string]: string }, drawsHref = true): SvgReference[] {
  const found: SvgReference[] = [];
  let points: number | undefined;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "href" && drawsHref && value.trim().startsWith("#"))
      found.push({ id: value.trim().slice(1), times: 1 });
    if (name === "href" || name === "style" || !value.includes("url(")) continue;
    const isMarker = /^marker(?:-(?:start|mid|end))?$/.test(name);
    // The points are counted once, because an element may have any number of attributes.
    if (isMarker) points ??= pointsOf(attributes);
    const times = isMarker ? (points ?? 1) : 1;
    for (const [, id = ""] of value.matchAll(/url\(\s{0,9}['"]?#([^'")\s]{1,200})/g))
      found.push({ id, times });
  }
  return found;
}

/** About how many points a line has. */
function pointsOf({ d = "", points = "" }: { [name: string]: string }): number {
  const letters = d.match(/[a-z]/gi)?.length ?? 0;
  const numbers = `${d} ${points}`.match(/\d[\d.]*/g)?.length ?? 0;
  return Math.max(2, letters, Math.ceil(numbers / 2));
}
