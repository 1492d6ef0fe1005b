import { createHash } from "node:crypto";

/** Of what is final, a page that more follows stays as it is; one that more may be added to is old after seconds. */
export const FOREVER = "public, max-age=31536000, immutable";
export const FOR_NOW = "public, max-age=5";

/** The page with a tag of its bytes; without the bytes for a client that has them. */
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
