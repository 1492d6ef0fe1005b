/** Hashes in a full tile, and entries in a full bundle (C2SP tlog-tiles). */
export const TILE_WIDTH = 256;

/** One tile of hashes at a level, or one bundle of entries. If the tile or bundle is partial, `width` is below 256. */
export type Tile = { level: number | "entries"; index: number; width: number };

/**
 * Reads the part after `tile/` of a C2SP tlog-tiles path: `<L>/<N>[.p/<W>]` or `entries/<N>[.p/<W>]`, where N
 * is written in groups of three digits. Every group except the last begins with `x`: 1234067 is
 * `x001/x234/067`.
 *
 * @returns undefined for any other text, also for another spelling of such a path
 */
export function parseTilePath(path: string): Tile | undefined {
  const match = /^(entries|0|[1-9][0-9]?)\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/.exec(path);
  if (!match) return undefined;
  const [, first = "", groups = "", partial] = match;
  const index = Number(groups.replaceAll(/[x/]/g, ""));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  const level = first === "entries" ? "entries" : Number(first);
  const isTile =
    Number.isSafeInteger(index) &&
    formatTileIndex(index) === groups &&
    (partial === undefined || width < TILE_WIDTH) &&
    (level === "entries" || level <= 63);
  return isTile ? { level, index, width } : undefined;
}

/** Writes the part of a tile's path after `tile/`. */
export function formatTilePath({ level, index, width }: Tile): string {
  return `${level}/${formatTileIndex(index)}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

/** A tile's number in the form that its path has. */
export function formatTileIndex(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.{3}/g) as string[];
  return groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}`)).join("/");
}
