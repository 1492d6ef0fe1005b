import { queryError } from "./errors.ts";

/** The arguments of every Relay connection. */
export type PageArgs = {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  /** The direction of the whole list; without it the list's own direction. */
  orderDirection?: "asc" | "desc" | null | undefined;
};

/** A page to read: forward from a cursor, or backward. */
export type PageRequest = { backward: boolean; size: number; cursor: string | null };

export const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

/**
 * Reads the arguments of a connection.
 *
 * @throws GraphQLError `PAGE_TOO_LARGE`, `INVALID_ARGUMENT`
 */
export function readPageArgs({ first, after, last, before }: PageArgs): PageRequest {
  const backward = (last ?? null) !== null || ((before ?? null) !== null && (first ?? null) === null);
  if (backward && ((first ?? null) !== null || (after ?? null) !== null)) {
    throw queryError("INVALID_ARGUMENT", "Use first and after, or last and before, not both.");
  }
  if (!backward && (before ?? null) !== null) {
    throw queryError("INVALID_ARGUMENT", "before goes with last, not with first.");
  }
  const name = backward ? "last" : "first";
  const size = (backward ? last : first) ?? DEFAULT_PAGE;
  if (size < 0) throw queryError("INVALID_ARGUMENT", `${name} must not be negative.`);
  if (size > MAX_PAGE) {
    throw queryError(
      "PAGE_TOO_LARGE",
      `${name} must be at most ${MAX_PAGE}; continue with the cursor of the last edge.`,
    );
  }
  return { backward, size, cursor: (backward ? before : after) ?? null };
}
