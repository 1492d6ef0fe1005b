import { createHash } from "node:crypto";

/**
 * The cache policy of a complete page of final data, which never changes. A page that may still grow, or that another
 * version of this software computes in another way, is fresh only for seconds.
 */
export const FOREVER = "public, max-age=31536000, immutable";
export const FOR_NOW = "public, max-age=5";

/** Answers with a page and a tag of its bytes. A client that already has these bytes gets only the tag. */
export function finalPage(
  known: string | undefined,
  body: string,
  headers: { [name: string]: string },
): Response {
  const hash = createHash("sha256").update(body).digest("hex");
  const etag = `"${hash}"`;
  const isKnown = known?.split(",").some((it) => it.includes(hash) || it.trim() === "*");
  if (isKnown) {
    const { "content-type": _, ...rest } = headers;
    return new Response(null, { status: 304, headers: { ...rest, etag } });
  }
  return new Response(body, { headers: { ...headers, etag } });
}
