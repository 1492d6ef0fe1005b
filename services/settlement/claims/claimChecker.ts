import { TallystickError } from "tallystick-protocol/errors";
import { createPublicFetch } from "tallystick-sdk/net/publicFetch";
import type { Fetch } from "tallystick-sdk/requestService";
import { z } from "zod";

/** Checks whether an X account has posted a text. */
export type ClaimChecker = {
  /**
   * The id of a post by `handle` that contains `text`; undefined when there is none. Reposts do not count, because their
   * text is somebody else's.
   *
   * @param postId the post to look at; without it the account's recent posts are searched
   * @throws TallystickError `x_unavailable` (503) when X cannot be asked
   */
  findPost: (parameters: { handle: string; text: string; postId?: string }) => Promise<string | undefined>;
};

const postSchema = z.object({
  id: z.string(),
  text: z.string(),
  author_id: z.string().optional(),
  /** The posts that this post repeats, quotes or answers. */
  referenced_tweets: z.array(z.object({ type: z.string() })).default([]),
});
const answerSchema = z.object({
  data: z.union([postSchema, z.array(postSchema)]).optional(),
  includes: z
    .object({ users: z.array(z.object({ id: z.string(), username: z.string() })).default([]) })
    .optional(),
});

/**
 * How long to wait for X's whole answer, in milliseconds, and the most bytes of it. An answer has about ten posts with
 * their authors.
 */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1 << 20;

/** Accepts every address, for a test server on this machine. */
const ANYWHERE = { isPublic: () => true, problemOf: () => undefined };

/**
 * Asks the X API, version 2, at a public address by https. Redirects are not followed, because the key is for
 * X only.
 *
 * @param url `https://api.x.com`, or a test server
 * @param apiKey app-only Bearer token
 * @param resolve the addresses of a name; by DNS unless given
 * @param devMode allows a test server on this machine, and http
 */
export function xClaimChecker({
  url,
  apiKey,
  devMode = false,
  resolve,
}: {
  url: string;
  apiKey: string;
  devMode?: boolean;
  resolve?: (host: string) => Promise<string[]>;
}): ClaimChecker {
  const limits = { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, ...(resolve && { resolve }) };
  const fetch = createPublicFetch({ ...limits, ...(devMode && { policy: ANYWHERE }) });
  return {
    findPost: async ({ handle, text, postId }) => {
      const query = new URLSearchParams({
        expansions: "author_id",
        "user.fields": "username",
        "tweet.fields": "author_id,referenced_tweets",
      });
      if (postId === undefined) query.set("query", `from:${handle} "${text}" -is:retweet`);
      const path =
        postId === undefined ? "/2/tweets/search/recent" : `/2/tweets/${encodeURIComponent(postId)}`;
      const { data, includes } = await ask(fetch, new URL(`${path}?${query}`, url).href, apiKey);
      const authors = new Map(includes?.users.map(({ id, username }) => [id, username.toLowerCase()]));
      const posts = data === undefined ? [] : Array.isArray(data) ? data : [data];
      return posts.find(
        (post) =>
          post.text.includes(text) &&
          post.author_id !== undefined &&
          authors.get(post.author_id) === handle.toLowerCase() &&
          !isRepost(post),
      )?.id;
    },
  };
}

/**
 * Whether a post only repeats another one. X names the account that repeats it as its author, and others' words as its
 * text.
 */
function isRepost({ referenced_tweets: referenced }: z.output<typeof postSchema>): boolean {
  return referenced.some(({ type }) => type === "retweeted");
}

async function ask(fetch: Fetch, url: string, apiKey: string): Promise<z.output<typeof answerSchema>> {
  let status: number | undefined;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}`, accept: "application/json" },
    });
    status = response.status;
    // X answers in this way for a post that does not exist. So this is not an error.
    if (status === 404) return {};
    if (!response.ok) throw new Error(`it answered ${status}`);
    return answerSchema.parse(await response.json());
  } catch (cause) {
    throw new TallystickError({
      code: "x_unavailable",
      message: status === 429 ? "X accepts no more requests for now." : "X could not be asked.",
      hint: "Try again in some minutes. A challenge is valid for a day.",
      cause,
    });
  }
}
