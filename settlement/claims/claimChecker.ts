import { z } from "zod";
import { TallystickError } from "../../protocol/errors.ts";

/** Looks whether an X account has posted a text. */
export type ClaimChecker = {
  /**
   * The id of a post by `handle` that has `text` in it, undefined when there is none.
   *
   * @param postId the post to look at; without it the account's recent posts are searched
   * @throws TallystickError `x_unavailable` (503) when X cannot be asked
   */
  findPost: (parameters: { handle: string; text: string; postId?: string }) => Promise<string | undefined>;
};

const postSchema = z.object({ id: z.string(), text: z.string(), author_id: z.string().optional() });
const answerSchema = z.object({
  data: z.union([postSchema, z.array(postSchema)]).optional(),
  includes: z
    .object({ users: z.array(z.object({ id: z.string(), username: z.string() })).default([]) })
    .optional(),
});

/** How long to wait for X, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Asks the X API, version 2.
 *
 * @param url `https://api.x.com`, or a stand-in
 * @param apiKey app-only Bearer token
 */
export function xClaimChecker({ url, apiKey }: { url: string; apiKey: string }): ClaimChecker {
  return {
    findPost: async ({ handle, text, postId }) => {
      const query = new URLSearchParams({
        expansions: "author_id",
        "user.fields": "username",
        "tweet.fields": "author_id",
      });
      if (postId === undefined) query.set("query", `from:${handle} "${text}"`);
      const path =
        postId === undefined ? "/2/tweets/search/recent" : `/2/tweets/${encodeURIComponent(postId)}`;
      const { data, includes } = await ask(new URL(`${path}?${query}`, url), apiKey);
      const authors = new Map(includes?.users.map(({ id, username }) => [id, username.toLowerCase()]));
      const posts = data === undefined ? [] : Array.isArray(data) ? data : [data];
      return posts.find(
        (post) =>
          post.text.includes(text) &&
          post.author_id !== undefined &&
          authors.get(post.author_id) === handle.toLowerCase(),
      )?.id;
    },
  };
}

async function ask(url: URL, apiKey: string): Promise<z.output<typeof answerSchema>> {
  let status: number | undefined;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}`, accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    status = response.status;
    // X says so of a post that does not exist; that is an answer.
    if (status === 404) return {};
    if (!response.ok) throw new Error(`it answered ${status}`);
    return answerSchema.parse(await response.json());
  } catch (cause) {
    throw new TallystickError({
      code: "x_unavailable",
      message: status === 429 ? "X takes no more questions for now." : "X could not be asked.",
      hint: "Try again in some minutes; the challenge stays good until it expires.",
      cause,
    });
  }
}
