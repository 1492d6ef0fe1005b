import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { areEqualTexts, type ComparatorName } from "./textComparators.ts";

/** A comparator for the texts at a path of `data_update`. `*` matches any key, and any place in a list. */
export type ComparatorRule = { path: readonly string[]; comparator: ComparatorName; overlap: number };

/** The result of a comparator for two texts with different characters. `shadow` is the shadow's text. */
export type TextComparison = { path: string; comparator: string; equal: boolean; shadow: string };

/** The most comparisons that are recorded. All further texts are compared character by character. */
const MAX_COMPARISONS = 64;

/**
 * Applies the rules for free text. If a comparator finds that a leaf of the shadow is equal, the proposal's leaf
 * replaces it. So the leaf adds nothing to the divergence: a paraphrase is no divergence (swarm.at §6.3).
 *
 * @returns the shadow to compare, and the results of the comparators, for the ledger
 */
export function compareTexts(
  proposed: PyJson,
  shadow: PyJson,
  rules: readonly ComparatorRule[],
): { shadow: PyJson; comparisons: TextComparison[] } {
  const comparisons: TextComparison[] = [];

  function at(
    a: PyJson | undefined,
    b: PyJson,
    path: readonly string[],
    live: readonly ComparatorRule[],
  ): PyJson {
    if (live.length === 0 || comparisons.length >= MAX_COMPARISONS) return b;
    if (typeof a === "string" && typeof b === "string") {
      const rule = live.find((one) => one.path.length === path.length);
      if (rule === undefined || a === b) return b;
      const { comparator, overlap } = rule;
      const equal = areEqualTexts(a, b, comparator, overlap);
      comparisons.push({ path: path.join("."), comparator, equal, shadow: b });
      return equal ? a : b;
    }
    const below = (key: string) =>
      live.filter((one) => {
        const next = one.path[path.length];
        return next === "*" || next === key;
      });
    if (Array.isArray(a) && Array.isArray(b))
      return b.map((it, index) => at(a[index], it, [...path, String(index)], below(String(index))));
    if (!isObject(a) || !isObject(b)) return b;
    return Object.fromEntries(
      Object.entries(b).map(([key, it]) => [
        key,
        Object.hasOwn(a, key) ? at(a[key], it, [...path, key], below(key)) : it,
      ]),
    );
  }

  return { shadow: at(proposed, shadow, [], rules), comparisons };
}

function isObject(value: PyJson | undefined): value is { [key: string]: PyJson } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
