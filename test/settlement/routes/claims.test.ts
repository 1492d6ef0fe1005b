import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { signBody } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { xClaimChecker } from "../../../services/settlement/claims/claimChecker.ts";
import { verificationHashOf } from "../../../services/settlement/claims/claimDesk.ts";
import { readConfig } from "../../../services/settlement/config.ts";
import { KEY } from "../support/proposals.ts";
import { buyer, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

const ATTESTOR_KEY = `0x${"44".repeat(32)}` as const;

type Answer = { status: number; headers?: { [name: string]: string }; body?: string };

/** A stand-in for the X API, version 2: posts by id, and recent search by author and phrase. */
function fakeX() {
  const posts: { id: string; username: string; text: string; repeats?: string }[] = [];
  const state = { posts, down: false, asked: [] as string[], says: undefined as (() => Answer) | undefined };
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://x");
    state.asked.push(`${request.headers.authorization} ${url.pathname}`);
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (state.down) return answer(503, {});
    if (state.says) {
      const { status, headers = {}, body = "" } = state.says();
      response.writeHead(status, headers).end(body);
      return;
    }
    const [, from, phrase] =
      /^from:(\w+) "(.+)" -is:retweet$/.exec(url.searchParams.get("query") ?? "") ?? [];
    const byId = /^\/2\/tweets\/(\d+)$/.exec(url.pathname)?.[1];
    const found = posts.filter((post) =>
      byId === undefined ? post.username === from && post.text.includes(phrase ?? "") : post.id === byId,
    );
    if (byId !== undefined && found.length === 0) return answer(404, { errors: [] });
    const data = found.map(({ id, username, text, repeats }) => ({
      ...{ id, text, author_id: `u-${username}` },
      ...(repeats !== undefined && { referenced_tweets: [{ type: "retweeted", id: repeats }] }),
    }));
    const users = found.map(({ username }) => ({ id: `u-${username}`, username }));
    return answer(
      200,
      data.length === 0
        ? { meta: { result_count: 0 } }
        : { data: byId ? data[0] : data, includes: { users } },
    );
  });
  return { server, state };
}

function causesOf(error: unknown): string[] {
  return error instanceof Error ? [`${Reflect.get(error, "code")}`, ...causesOf(error.cause)] : [];
}

describe("claims over HTTP", () => {
  const folder = temporaryFolder();
  const agent_id = seller.address.toLowerCase() as `0x${string}`;
  let service: TestService;
  let x: ReturnType<typeof fakeX>;
  beforeEach(async () => {
    x = fakeX();
    await new Promise<void>((resolve) => x.server.listen(0, "127.0.0.1", resolve));
    service = await openTestService(folder.path, {
      CLAIM_ATTESTOR_PRIVATE_KEY: ATTESTOR_KEY,
      X_API_URL: `http://127.0.0.1:${(x.server.address() as AddressInfo).port}`,
      X_API_KEY: "x-key",
      DEV_MODE: "1",
    });
  });
  afterEach(async () => {
    await service.close();
    await new Promise((resolve) => x.server.close(resolve));
  });

  const challenge = async (x_handle = "somebody") =>
    (await service.post("/v1/claim", { agent_id, x_handle })).json;
  const proof = async (changes: { [key: string]: unknown } = {}, account = seller) => {
    const { nonce, x_handle } = { ...(await challenge()), ...changes } as { nonce: string; x_handle: string };
    const signature = await signBody({ agent_id, x_handle, nonce }, { account });
    return { agent_id, x_handle, nonce, signature, ...changes };
  };
  const verify = async (body: unknown) => service.post("/v1/claim/verify", body);

  it("return the hash and the text to post, and settle nothing", async () => {
    const answer = await challenge();
    expect(answer.verification_hash).to.equal(
      verificationHashOf({ agentId: agent_id, handle: "somebody" }, answer.nonce),
    );
    expect(answer.text).to.equal(`Claiming agent ${agent_id} on @swarmwage: ${answer.verification_hash}`);
    expect(answer.text.length).to.be.at.most(280);
    expect(answer.expires_at).to.equal(NOW + 86_400);
    expect(service.ledger.size).to.equal(0);
  });

  for (const by of ["search", "post_id"] as const) {
    it(`are settled by the attestor once the post is found with ${by}`, async () => {
      const sent = await proof();
      const text = `hello ${verificationHashOf({ agentId: agent_id, handle: "somebody" }, sent.nonce)}`;
      x.state.posts.push({ id: "77", username: "somebody", text });
      const answer = await verify(by === "search" ? sent : { ...sent, post_id: "77" });
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.json).to.include({ type: "claim", state: "verified", post_id: "77", index: 0 });
      const { payload } = await service.ledger.entry(0);
      expect(payload.signer).to.equal(privateKeyToAccount(ATTESTOR_KEY).address.toLowerCase());
      expect(payload.body).to.include({
        agent_id,
        x_handle: "somebody",
        state: "verified",
        agent_signature: sent.signature,
      });
      expect((await verify(sent)).status).to.equal(200);
      expect(x.state.asked[0]).to.match(/^Bearer x-key \/2\/tweets\//);
    });
  }

  it("settle nothing without proof", async () => {
    const sent = await proof();
    const hash = verificationHashOf({ agentId: agent_id, handle: "somebody" }, sent.nonce);
    x.state.posts.push({ id: "1", username: "somebody", text: "Claiming agent on @swarmwage:" });
    x.state.posts.push({ id: "2", username: "impostor", text: hash });
    for (const body of [
      sent,
      { ...sent, post_id: "1" },
      { ...sent, post_id: "2" },
      { ...sent, post_id: "3" },
    ]) {
      const answer = await verify(body);
      expect([answer.status, answer.json.code], answer.text).to.deep.equal([422, "claim_not_proven"]);
    }
    expect(service.ledger.size).to.equal(0);
  });

  it("are not proven by a repost: its text is another account's", async () => {
    const sent = await proof();
    const hash = verificationHashOf({ agentId: agent_id, handle: "somebody" }, sent.nonce);
    x.state.posts.push({ id: "1", username: "impostor", text: hash });
    x.state.posts.push({ id: "2", username: "somebody", text: `RT @impostor: ${hash}`, repeats: "1" });
    for (const body of [sent, { ...sent, post_id: "2" }])
      expect((await verify(body)).json.code).to.equal("claim_not_proven");
    x.state.posts.push({ id: "3", username: "somebody", text: hash });
    expect((await verify(sent)).json).to.include({ state: "verified", post_id: "3" });
  });

  it("need the agent's consent and this service's nonce for exactly this claim, in time", async () => {
    const cases: [unknown, string, string][] = [
      [await proof({}, buyer), "invalid_signature", "signature"],
      [{ ...(await proof()), signature: undefined }, "invalid_input", "signature"],
      [await proof({ nonce: "1.abc" }), "invalid_challenge", "nonce"],
      [await proof({ nonce: `${NOW + 5}.${"0".repeat(64)}` }), "invalid_challenge", "nonce"],
      [await proof({ x_handle: "other" }), "invalid_challenge", "nonce"],
      [{ ...(await proof()), post_id: "1/../2" }, "invalid_input", "post_id"],
    ];
    for (const [body, code, field] of cases) {
      const { status, json, text } = await verify(body);
      expect([status, json.code, json.errors?.[0].field], text).to.deep.equal([400, code, field]);
    }
    const late = await proof();
    service.clock.now += 86_400;
    expect((await verify(late)).json.code).to.equal("invalid_challenge");
    expect([service.ledger.size, x.state.asked.length]).to.deep.equal([0, 0]);
  });

  it("answer 503 if X cannot be reached, and 400 to invalid claims", async () => {
    x.state.down = true;
    const answer = await verify(await proof());
    expect([answer.status, answer.json.code]).to.deep.equal([503, "x_unavailable"]);
    for (const [body, field] of [
      [{ agent_id }, "x_handle"],
      [{ agent_id: "0x1", x_handle: "a" }, "agent_id"],
      [{ agent_id, x_handle: "@somebody" }, "x_handle"],
      [[], "body"],
    ] as const) {
      const refused = await service.post("/v1/claim", body);
      expect([refused.status, refused.json.errors[0].field], refused.text).to.deep.equal([400, field]);
    }
  });

  it("show X's key to nobody else: a redirect is not followed, and a private address needs DEV_MODE", async () => {
    const other = fakeX();
    await new Promise<void>((resolve) => other.server.listen(0, "127.0.0.1", resolve));
    const { port } = other.server.address() as AddressInfo;
    x.state.says = () => ({ status: 307, headers: { location: `http://127.0.0.1:${port}/2/tweets/1` } });
    const answer = await verify(await proof());
    await new Promise((resolve) => other.server.close(resolve));
    expect([answer.status, answer.json.code]).to.deep.equal([503, "x_unavailable"]);
    expect([x.state.asked.length, other.state.asked.length]).to.deep.equal([1, 0]);

    const environment = { CLAIM_ATTESTOR_PRIVATE_KEY: ATTESTOR_KEY, X_API_KEY: "x-key" };
    for (const X_API_URL of ["http://api.x.com", "https://127.0.0.1", "https://[::ffff:10.0.0.1]"])
      expect(() => readConfig({ ...environment, X_API_URL }), X_API_URL).to.throw("X_API_URL: must");
    // A name is judged by the addresses that it has at the time of the call.
    const lookups: string[] = [];
    const checker = xClaimChecker({ url: "https://x.example", apiKey: "x-key", resolve });
    async function resolve(host: string): Promise<string[]> {
      lookups.push(host);
      return ["127.0.0.1"];
    }
    const refused = await checker.findPost({ handle: "a", text: "b" }).catch((error: unknown) => error);
    expect(refused).to.have.property("code", "x_unavailable");
    expect(lookups).to.deep.equal(["x.example"]);
    expect(JSON.stringify(causesOf(refused))).to.contain("private_address");
  });

  it("answer 503 if X sends an endless answer", async () => {
    x.state.says = () => ({ status: 200, body: `{"data": "${"x".repeat(1 << 20)}"}` });
    const answer = await verify(await proof());
    expect([answer.status, answer.json.code]).to.deep.equal([503, "x_unavailable"]);
    expect(service.ledger.size).to.equal(0);
  });

  it("have X asked at most 100 times a day for an address without a key", async () => {
    const sent = await proof();
    for (let n = 0; n < 100; n++) expect((await verify(sent)).json.code).to.equal("claim_not_proven");
    const refused = await verify(sent);
    expect([refused.status, refused.json.code, x.state.asked.length]).to.deep.equal([
      429,
      "rate_limited",
      100,
    ]);
    // What is refused without a question is not counted.
    expect((await verify({ ...sent, nonce: "1.abc" })).json.code).to.equal("invalid_challenge");
    expect((await service.post("/v1/claim/verify", sent, KEY)).json.code).to.equal("claim_not_proven");
  });

  it("are closed without an attestor", async () => {
    await service.close();
    service = await openTestService(folder.path);
    const answer = await service.post("/v1/claim", { agent_id, x_handle: "a" });
    expect([answer.status, answer.json.code]).to.deep.equal([503, "claims_unavailable"]);
  });
});
