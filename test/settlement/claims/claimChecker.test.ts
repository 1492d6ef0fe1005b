import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { TallystickError } from "tallystick-protocol/errors";
import { xClaimChecker } from "../../../services/settlement/claims/claimChecker.ts";

describe("a check of an X account's posts", () => {
  let server: Server;
  let asked: { url: URL; authorization: string | undefined; accept: string | undefined }[];
  let says: { status: number; body: unknown };
  beforeEach(async () => {
    asked = [];
    server = createServer(({ url, headers: { authorization, accept } }, response) => {
      asked.push({ url: new URL(url ?? "", "http://x"), authorization, accept });
      response.writeHead(says.status, { "content-type": "application/json" });
      response.end(typeof says.body === "string" ? says.body : JSON.stringify(says.body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const checker = () =>
    xClaimChecker({
      ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: "key", devMode: true },
    });
  const find = (postId?: string, handle = "Somebody") =>
    checker().findPost({ handle, text: "the hash", ...(postId !== undefined && { postId }) });
  const users = [
    { id: "u1", username: "someBody" },
    { id: "u2", username: "impostor" },
  ];
  const post = (id: string, changes: object = {}) => ({
    id,
    text: `x the hash y`,
    author_id: "u1",
    ...changes,
  });
  const answer = (data: unknown, status = 200) => {
    says = { status, body: { data, includes: { users } } };
  };

  it("searches the account's recent posts, or looks at the named one, with the key", async () => {
    answer([post("7")]);
    expect(await find()).to.equal("7");
    answer(post("8"));
    expect(await find("8/9")).to.equal("8");
    const shown = asked.map(({ url, ...headers }) => ({
      ...headers,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
    }));
    const fields = {
      ...{
        expansions: "author_id",
        "user.fields": "username",
        "tweet.fields": "author_id,referenced_tweets",
      },
    };
    const headers = { authorization: "Bearer key", accept: "application/json" };
    expect(shown).to.deep.equal([
      {
        ...{ ...headers, path: "/2/tweets/search/recent" },
        query: { ...fields, query: 'from:Somebody "the hash" -is:retweet' },
      },
      { ...headers, path: "/2/tweets/8%2F9", query: fields },
    ]);
  });

  it("takes the first own post with the text, whatever the case of the account's name", async () => {
    answer([
      post("1", { text: "the  hash" }),
      post("2", { author_id: "u2" }),
      post("3", { author_id: undefined }),
      post("4", { author_id: "u9" }),
      post("5", { referenced_tweets: [{ type: "quoted" }, { type: "retweeted" }] }),
      post("6", { referenced_tweets: [{ type: "quoted" }] }),
      post("7"),
    ]);
    expect(await find()).to.equal("6");
    expect(await find(undefined, "other")).to.equal(undefined);
  });

  it("finds nothing if there is no post, or nobody knows its author", async () => {
    answer(undefined);
    expect(await find()).to.equal(undefined);
    answer([]);
    expect(await find()).to.equal(undefined);
    answer(post("1"), 404);
    expect(await find("1")).to.equal(undefined);
    says = { status: 200, body: { data: [post("1")] } };
    expect(await find()).to.equal(undefined);
    says = { status: 200, body: { data: [post("1")], includes: {} } };
    expect(await find()).to.equal(undefined);
  });

  it("says that X cannot be asked, for any other answer", async () => {
    const hint = "Try again in some minutes. A challenge is valid for a day.";
    for (const [status, body, message, cause] of [
      [429, {}, "X accepts no more requests for now.", "it answered 429"],
      [500, {}, "X could not be asked.", "it answered 500"],
      [401, {}, "X could not be asked.", "it answered 401"],
      [200, "no JSON", "X could not be asked.", undefined],
      [200, { data: [{ id: 7 }] }, "X could not be asked.", undefined],
      [200, { data: post("1"), includes: { users: [{ id: "u1" }] } }, "X could not be asked.", undefined],
      [200, `{"data": "${"x".repeat(1 << 20)}"}`, "X could not be asked.", undefined],
    ] as const) {
      says = { status, body };
      const error = (await find().catch((it) => it)) as TallystickError;
      expect(error, `${status}`).to.include({ code: "x_unavailable", message, hint });
      expect(error.cause).to.be.instanceOf(Error);
      if (cause !== undefined) expect((error.cause as Error).message).to.equal(cause);
    }
  });

  it("goes only to public addresses by https, unless it is a test", async () => {
    answer([post("7")]);
    const lookups: string[] = [];
    const resolve = async (host: string) => {
      lookups.push(host);
      return ["127.0.0.1"];
    };
    const { port } = server.address() as AddressInfo;
    for (const url of [`http://127.0.0.1:${port}`, `https://x.example:${port}`]) {
      const real = xClaimChecker({ url, apiKey: "key", resolve });
      const error = await real.findPost({ handle: "a", text: "b" }).catch((it) => it);
      expect(error, url).to.include({ code: "x_unavailable" });
    }
    expect(asked).to.deep.equal([]);
  });
});
