import type { MiddlewareHandler } from "hono";
import type { Database } from "../database.ts";
import { latestCheckpoint } from "../rows/checkpoint.ts";

/**
 * Answers `304 Not Modified` without reading anything else when the client already has what this block gives. The tag is
 * read before the answer is: an answer may be newer than its tag, never older.
 *
 * @param version of the code that makes the answers; another version is another answer
 */
export function etagByBlock(db: Database, version: string): MiddlewareHandler {
  return async (context, next) => {
    const tag = `W/"${version}-${await latestCheckpoint(db)}"`;
    const known = context.req.header("if-none-match");
    if (known !== undefined && matches(known, tag)) {
      return new Response(null, { status: 304, headers: { etag: tag, "cache-control": "no-cache" } });
    }
    await next();
    if (context.res.status === 200) {
      context.res.headers.set("etag", tag);
      context.res.headers.set("cache-control", "no-cache");
    }
    return undefined;
  };
}

/** `If-None-Match` compares weakly: a list of tags, or `*` (RFC 9110 §13.1.2). */
function matches(known: string, tag: string): boolean {
  const opaque = tag.slice(2);
  return known.split(",").some((it) => it.trim() === "*" || it.trim().replace(/^W\//, "") === opaque);
}
