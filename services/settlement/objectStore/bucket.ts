import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { TallystickError } from "tallystick-protocol/errors";
import { readBytes } from "tallystick-runtime/http/readBytes";

/** How to reach a bucket. `url`: of the bucket and the prefix below it, in path style: `https://host/bucket/prefix`. */
export type BucketConfig = { url: string; region: string; accessKeyId: string; secretAccessKey: string };

/** The condition of a write: no object has this name, or the object is still the one that was read. */
export type PutCondition = { absent: true } | { etag: string };

/** A part of an S3-compatible object store. It never writes without a condition. */
export type Bucket = {
  /** The address of the bucket and prefix, for messages. */
  where: string;
  /**
   * Reads an object; undefined when there is none. `bytes` is undefined if it is longer than `most` bytes.
   *
   * @throws TallystickError `bucket_unavailable`
   */
  get: (
    name: string,
    most: number,
    signal?: AbortSignal,
  ) => Promise<{ bytes: Buffer | undefined; etag: string } | undefined>;
  /**
   * Writes an object if the condition holds. If it does not hold, the object may still be ours, because the
   * answer to an earlier attempt may have been lost.
   *
   * @returns false when the condition did not hold
   * @throws TallystickError `bucket_unavailable`
   */
  put: (name: string, bytes: Uint8Array, parameters: PutParameters) => Promise<boolean>;
};

export type PutParameters = {
  condition: PutCondition;
  contentType: string;
  cacheControl: string;
  signal?: AbortSignal | undefined;
};

/** How long one request may take until its last byte, in milliseconds, and the number of attempts. */
const TIMEOUT_MS = 60_000;
const ATTEMPTS = 5;

/** Longest answer to a write, in bytes. */
const MAX_ANSWER_BYTES = 64 << 10;

/** The name of the object for the test whether the store honours conditions. */
const PROBE = ".tallystick-conditions";

export type OpenBucketParameters = {
  config: BucketConfig;
  /** Pause before the second attempt in milliseconds. It doubles before each further attempt. Default 500. */
  pauseMs?: number;
  timeoutMs?: number;
};

/**
 * Opens a bucket, after a test that the store honours conditions. It must refuse a second write of one name
 * with `If-None-Match: *`, and a write with a wrong `If-Match`. Some stores answer 200 and overwrite.
 *
 * @throws TallystickError `bucket_unsafe`, `bucket_unavailable`
 */
export async function openBucket(parameters: OpenBucketParameters): Promise<Bucket> {
  const bucket = reachBucket(parameters);
  const { where } = bucket;
  const put = (text: string, condition: PutCondition) =>
    bucket.put(PROBE, Buffer.from(text), { condition, contentType: "text/plain", cacheControl: "no-cache" });
  await put("first\n", { absent: true });
  const first = await bucket.get(PROBE, MAX_ANSWER_BYTES);
  if (first?.bytes === undefined) throw unsafe(where, "an object that was written cannot be read");
  if (await put("second\n", { absent: true }))
    throw unsafe(where, "it accepted a second write of one name with If-None-Match: *");
  if (await put("third\n", { etag: `"${"0".repeat(32)}"` }))
    throw unsafe(where, "it accepted a write with a wrong If-Match");
  const last = await bucket.get(PROBE, MAX_ANSWER_BYTES);
  if (last?.bytes === undefined || !last.bytes.equals(first.bytes) || last.etag !== first.etag)
    throw unsafe(where, "it refused a write and changed the object anyway");
  if (first.etag === "") throw unsafe(where, "it sends no ETag");
  return bucket;
}

function reachBucket({ config, pauseMs = 500, timeoutMs = TIMEOUT_MS }: OpenBucketParameters): Bucket {
  const { url, region, accessKeyId, secretAccessKey } = config;
  const where = url.replace(/\/+$/, "");
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3" });

  /** Sends a request until it gets a final answer. Sending any of these requests twice does no harm. */
  async function send(
    name: string,
    {
      method,
      body,
      headers = {},
      signal,
    }: { method: string; body?: Uint8Array; headers?: Headers; signal?: AbortSignal | undefined },
    most: number,
  ): Promise<Answer> {
    const hash = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      let reason: string;
      try {
        const limit = AbortSignal.timeout(timeoutMs);
        const request = await client.sign(`${where}/${name}`, {
          method,
          headers: { ...headers, "x-amz-content-sha256": hash },
          ...(body && { body: body as Uint8Array<ArrayBuffer> }),
        });
        const response = await fetch(request, {
          redirect: "manual",
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
        });
        const bytes = await readBytes(response, most);
        const { status } = response;
        const isLater = status === 409 || status === 429 || status >= 500;
        if (!isLater) return { status, bytes, etag: response.headers.get("etag") ?? "" };
        reason = `it answers ${status}`;
      } catch (cause) {
        signal?.throwIfAborted();
        const { code, message } = ((cause as Error).cause ?? cause) as { code?: string; message: string };
        reason = code ?? message;
      }
      if (attempt >= ATTEMPTS) throw unavailable(where, name, reason);
      await sleep(pauseMs * 2 ** (attempt - 1), undefined, { signal });
    }
  }

  return {
    where,
    get: async (name, most, signal) => {
      const { status, bytes, etag } = await send(name, { method: "GET", signal }, most);
      if (status === 200) return { bytes, etag };
      // A key without the right to list gets 403 for a missing object.
      if (status === 404 || status === 403) return undefined;
      throw unavailable(where, name, `it answers ${status}`);
    },
    put: async (name, bytes, { condition, contentType, cacheControl, signal }) => {
      const headers: Headers = {
        "content-type": contentType,
        "cache-control": cacheControl,
        ...("absent" in condition ? { "if-none-match": "*" } : { "if-match": condition.etag }),
      };
      const { status } = await send(name, { method: "PUT", body: bytes, headers, signal }, MAX_ANSWER_BYTES);
      if (status === 200 || status === 201 || status === 204) return true;
      // 404: the object that `If-Match` names no longer exists.
      if (status === 412 || (status === 404 && "etag" in condition)) return false;
      throw unavailable(where, name, `it answers ${status}`);
    },
  };
}

type Headers = { [name: string]: string };
/** `bytes` is undefined if the answer was longer than asked for. */
type Answer = { status: number; bytes: Buffer | undefined; etag: string };

function unsafe(where: string, what: string): TallystickError {
  return new TallystickError({
    code: "bucket_unsafe",
    message: `${where} does not honour conditional writes: ${what}.`,
    hint: "Two mirrors could overwrite each other's files there. Use a store that honours If-None-Match and If-Match.",
  });
}

function unavailable(where: string, name: string, reason: string): TallystickError {
  return new TallystickError({
    code: "bucket_unavailable",
    message: `${name} of ${where} could not be read or written: ${reason}.`,
    hint: "Check MIRROR_S3_URL, its region and its key. Nothing was overwritten. The next round tries again.",
  });
}
