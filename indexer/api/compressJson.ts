import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { MiddlewareHandler } from "hono";

/** About one network packet. Compressing less than this saves nothing. */
const MIN_BYTES = 1_400;
const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?jsonl?\b/;

const compressed = promisify(gzip);

/**
 * Compresses JSON answers with gzip for clients that accept it. Answers have a limited size, so each is
 * compressed as a whole, on another thread. Streams of events and other formats are not changed.
 */
export function compressJson(): MiddlewareHandler {
  return async (context, next) => {
    await next();
    const { res } = context;
    const type = res.headers.get("content-type") ?? "";
    if (res.body === null || !JSON_TYPE.test(type) || res.headers.has("content-encoding")) return;
    res.headers.append("vary", "Accept-Encoding");
    if (context.req.method === "HEAD" || !takesGzip(context.req.header("accept-encoding"))) return;
    const plain = new Uint8Array(await res.arrayBuffer());
    const isWorthIt = plain.length >= MIN_BYTES;
    const headers = new Headers(res.headers);
    headers.delete("content-length");
    if (isWorthIt) {
      headers.set("content-encoding", "gzip");
      // A strong ETag names exact bytes, and the compressed bytes are different (RFC 9110 §8.8.3.3).
      const tag = headers.get("etag");
      if (tag?.startsWith('"')) headers.set("etag", `${tag.slice(0, -1)}-gzip"`);
    }
    const body = isWorthIt ? await compressed(plain, { level: 4 }) : plain;
    context.res = undefined;
    context.res = new Response(body, { status: res.status, headers });
  };
}

/**
 * Whether `Accept-Encoding` allows gzip: it names `gzip` or `*`, and not with weight 0 (RFC 9110 §12.5.3).
 */
function takesGzip(accepted = ""): boolean {
  return accepted.split(",").some((it) => {
    const [coding = "", ...parameters] = it.split(";").map((part) => part.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    return (coding === "gzip" || coding === "*") && !refused;
  });
}
