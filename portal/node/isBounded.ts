/**
 * The longest list, and the most levels of a value. Nodes give at most 20,000 edges of a graph, and records have few
 * levels.
 */
const [MAX_LIST, MAX_DEPTH] = [20_000, 64];

/**
 * Whether a page can draw an answer. Without these limits a very long list could freeze the tab, and a value with very
 * many levels could overflow the stack.
 */
export function isBounded(json: unknown): boolean {
  let level: unknown[] = [json];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      if (Array.isArray(value) && value.length > MAX_LIST) return false;
      for (const it of Object.values(value)) next.push(it);
    }
    level = next;
  }
  return true;
}
