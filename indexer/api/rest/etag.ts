import type { MiddlewareHandler } from "hono";
import type { Database } from "../database.ts";
import { stateName } from "../rows/checkpoint.ts";

/**
 * Answers `304 Not Modified`, without further reads, if the client already has the answer of this block. The
 * tag is read before the answer, so an answer may be newer than its tag but never older.
 *
 * @param version the version of the code that makes the answers. Another version has other tags
 */
export function etagByBlock(db: Database, version: string): MiddlewareHandler {
  return async (context, next) => {
    const tag = `W/"${version}-${await stateName(db)}"`;
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
