import { readFileSync, statSync } from "node:fs";
import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { RateCounter } from "../../../services/settlement/http/rateLimits.ts";
import { ApiKeys } from "../../../services/settlement/keys/apiKeys.ts";
import { addKey, readKeyFile, revokeKey } from "../../../services/settlement/keys/keyFile.ts";
import { mortalRpc } from "../support/mortalRpc.ts";
import { envelope, listingBody } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService } from "../support/testService.ts";

describe("API keys", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "keys.json");

  it("are stored only as hashes, in a file that only its owner can read", async () => {
    const { key, stored } = await addKey(file(), "Ada", 1000);
    expect(key).to.match(/^tsk_[0-9A-HJKMNP-TV-Z]{32}$/);
    expect(readFileSync(file(), "utf8")).not.to.contain(key).and.not.to.contain(key.slice(4));
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(await readKeyFile(file())).to.deep.equal([stored]);
  });

  it("stay readable for the service when root makes or revokes one", async () => {
    const own = process.getuid?.() ?? 0;
    const service = own === 0 ? 54_321 : own;
    const group = statSync(folder.path).gid;
    await chown(folder.path, service, group);
    const { stored } = await addKey(file(), "Ada", 1000);
    const owners = () => [file(), `${file()}.lock`].map((it) => statSync(it).uid);
    expect(owners()).to.deep.equal([service, service]);
    await chown(folder.path, own, group);
    await revokeKey(file(), stored.id, 1002);
    expect(owners()[0]).to.equal(service);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
  });

  it("cause different errors for a file that cannot be read and a file with other content", async () => {
    await mkdir(file());
    const unread = await readKeyFile(file()).catch((error) => error);
    expect(unread).to.include({ code: "keys_unreadable" });
    expect(unread.message).to.contain("cannot be read: EISDIR");
    await rm(file(), { recursive: true });
    await writeFile(file(), "{}");
    expect((await readKeyFile(file()).catch((error) => error)).message).to.contain(
      "is not a file of API keys",
    );
  });

  it("work until they are revoked, and never after", async () => {
    const first = await addKey(file(), "Ada", 1000);
    const second = await addKey(file(), "Bob", 1001);
    expect(await new ApiKeys({ keys: [], file: file() }).find(first.key)).to.deep.equal({
      id: first.stored.id,
    });
    await revokeKey(file(), first.stored.id, 1002);
    await revokeKey(file(), first.stored.id, 9999);
    const keys = new ApiKeys({ keys: ["fixed"], file: file() });
    expect(await keys.find(first.key)).to.equal(undefined);
    expect(await keys.find(second.key)).to.deep.equal({ id: second.stored.id });
    expect(await keys.find("fixed")).to.deep.equal({ id: "config-0" });
    expect(await keys.find(first.stored.sha256)).to.equal(undefined);
    expect((await readKeyFile(file()))[0]?.revoked_at).to.equal(1002);
  });

  it("stay revoked when other keys are made at the same time, and no new key is lost", async () => {
    const { stored } = await addKey(file(), "old", 1);
    const made = Array.from({ length: 5 }, (_, n) => addKey(file(), `new ${n}`, 2));
    await Promise.all([...made, revokeKey(file(), stored.id, 3)]);
    const keys = await readKeyFile(file());
    expect(keys).to.have.length(6);
    expect(keys.find(({ id }) => id === stored.id)?.revoked_at).to.equal(3);
  });

  it("accept nobody while there is no file", async () => {
    const keys = new ApiKeys({ keys: [], file: file() });
    expect(await keys.isEmpty()).to.equal(true);
    expect(await keys.find("")).to.equal(undefined);
  });

  it("open POST /v1/settle of a service", async () => {
    const { key } = await addKey(file(), "Ada", 1000);
    const service = await openTestService(folder.path, { KEYS_FILE: file() });
    const proposal = {
      header: { task_id: "t", parent_hash: GENESIS_HASH },
      payload: { data_update: {}, confidence_score: 1 },
    };
    const answer = await service.post("/v1/settle", proposal, { authorization: `Bearer ${key}` });
    expect(answer.json.status).to.equal("SETTLED");
    await service.close();
  });
});

describe("rate limits", () => {
  const folder = temporaryFolder();

  it("count each caller separately, in windows of a minute", () => {
    const counter = new RateCounter();
    expect(counter.take("a", 2, 0)).to.deep.equal({ allowed: true, remaining: 1, reset: 60 });
    expect(counter.take("a", 2, 30)).to.deep.equal({ allowed: true, remaining: 0, reset: 30 });
    expect(counter.take("a", 2, 59.5)).to.deep.equal({ allowed: false, remaining: 0, reset: 1 });
    expect(counter.take("b", 2, 59.5).allowed).to.equal(true);
    counter.giveBack("a");
    expect(counter.take("a", 2, 59.5).allowed, "one was given back").to.equal(true);
    counter.giveBack("nobody");
    expect(counter.take("a", 2, 60).allowed).to.equal(true);
    for (let n = 0; n < 3; n++) counter.take("a", 2, 9_000);
    expect(counter.take("a", 2, 100).allowed, "the clock was set back").to.equal(true);
  });

  it("are answered with 429 and given in RateLimit headers, for keys and addresses", async () => {
    const service = await openTestService(folder.path, {
      RATE_LIMIT_PER_KEY: "2",
      RATE_LIMIT_PER_ADDRESS: "1",
      TRUST_PROXY: "1",
    });
    const post = (headers: { [name: string]: string }) =>
      service.app.request("/v1/listings", { method: "POST", body: "{}", headers });
    const key = { authorization: `Bearer ${API_KEY}` };
    const first = await post(key);
    expect(first.status).to.equal(400);
    expect(first.headers.get("ratelimit-policy")).to.equal("2;w=60");
    expect(first.headers.get("ratelimit")).to.equal("limit=2, remaining=1, reset=60");
    expect((await post(key)).status).to.equal(400);
    const refused = await post(key);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get("retry-after")).to.equal("60");
    expect(refused.headers.get("ratelimit")).to.contain("remaining=0");
    expect(await refused.json()).to.include({ code: "rate_limited" });
    expect((await post({ authorization: "Bearer guess" })).status).to.equal(400);
    expect((await post({ authorization: "Bearer other-guess" })).status).to.equal(429);
    expect((await post({ "x-forwarded-for": "1.2.3.4, 5.6.7.8" })).status).to.equal(400);
    expect((await post({ "x-forwarded-for": "9.9.9.9, 5.6.7.8" })).status).to.equal(429);
    expect((await service.get("/v1/ledger/latest")).status).to.equal(200);
    service.clock.now += 60;
    expect((await post(key)).status).to.equal(400);
    await service.close();
  });

  it("count a signature about which the chain must be asked as five requests", async () => {
    const rpc = await mortalRpc("http://127.0.0.1:1");
    // The contract wallet says no.
    rpc.state.result = `0x${"00".repeat(32)}`;
    const service = await openTestService(folder.path, { RPC_URL: rpc.url, RATE_LIMIT_PER_ADDRESS: "12" });
    const body = JSON.stringify(await envelope(listingBody({ agent_id: `0x${"c0".repeat(20)}` })));
    const found: [number, string | undefined][] = [];
    for (let n = 0; n < 4; n++) {
      const { status, headers } = await service.app.request("/v1/listings", { method: "POST", body });
      found.push([status, /remaining=\d+/.exec(headers.get("ratelimit") ?? "")?.[0]]);
    }
    await service.close();
    rpc.close();
    expect(found).to.deep.equal([
      [400, "remaining=7"],
      [400, "remaining=2"],
      [400, "remaining=0"],
      [429, "remaining=0"],
    ]);
    expect(rpc.state.asked).to.equal(3);
  });

  const statuses = async (trustProxy: string, forwarded: string[]): Promise<number[]> => {
    const settings = { RATE_LIMIT_PER_ADDRESS: "1", TRUST_PROXY: trustProxy };
    const service = await openTestService(folder.path, settings);
    const found: number[] = [];
    for (const value of forwarded) {
      const answer = await service.post("/v1/listings", "{}", { "x-forwarded-for": value });
      found.push(answer.status);
    }
    await service.close();
    return found;
  };

  it("trust X-Forwarded-For only with a configured number of proxies, and only the part that these proxies wrote", async () => {
    expect(await statuses("0", ["1.1.1.1", "2.2.2.2"])).to.deep.equal([400, 429]);
    expect(await statuses("1", ["1.1.1.1", "9.9.9.9, 2.2.2.2", "8.8.8.8, 2.2.2.2"])).to.deep.equal([
      400, 400, 429,
    ]);
    const two = ["1.1.1.1, 10.0.0.1", "9.9.9.9, 1.1.1.1, 10.0.0.1", "2.2.2.2, 10.0.0.1"];
    expect(await statuses("2", two)).to.deep.equal([400, 429, 400]);
    // A client that bypasses the outer proxy, or sends no addresses, gets no separate limit.
    expect(await statuses("2", ["1.1.1.1", "2.2.2.2", "x, y", "z, y"])).to.deep.equal([400, 429, 429, 429]);
  });

  it("are ten requests a second for an address and a hundred for a key by default", async () => {
    const service = await openTestService(folder.path);
    const policy = async (headers: { [name: string]: string }) =>
      (await service.app.request("/v1/listings", { method: "POST", headers })).headers.get(
        "ratelimit-policy",
      );
    expect(await policy({})).to.equal("600;w=60");
    expect(await policy({ authorization: `Bearer ${API_KEY}` })).to.equal("6000;w=60");
    await service.close();
  });

  it("count POST to a read-only route, such as the verification of the ledger", async () => {
    const service = await openTestService(folder.path, { RATE_LIMIT_PER_ADDRESS: "2" });
    expect((await service.post("/v1/ledger/verify", {})).status).to.equal(405);
    expect((await service.get("/v1/ledger/verify")).json).to.include({ valid: true });
    for (const method of ["GET", "POST"]) {
      const refused = await service.app.request("/v1/ledger/verify", { method });
      expect(refused.status, method).to.equal(429);
      expect(refused.headers.get("retry-after"), method).to.equal("60");
    }
    await service.close();
  });

  it("count expensive reads too, and no other reads", async () => {
    for (const path of [
      "/v1/ledger/verify",
      "/v1/ledger/checkpoint?size=0",
      "/v1/ledger/bundle",
      "/tlog/checkpoint",
    ]) {
      const service = await openTestService(folder.path, { RATE_LIMIT_PER_ADDRESS: "1" });
      const first = await service.get(path);
      expect(first.status, path).not.to.equal(429);
      expect((await service.get(path)).status, path).to.equal(429);
      expect((await service.get("/v1/ledger/latest")).status).to.equal(200);
      await service.close();
    }
  });

  it("count a /64 of IPv6 as one caller, and a mapped IPv4 address as IPv4", async () => {
    const same = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff:1:2:3", "2001:db8:1:3::1"];
    expect(await statuses("1", same)).to.deep.equal([400, 429, 400]);
    expect(await statuses("1", ["::1", "::2", "0:0:0:0:0:0:0:3", "1::"])).to.deep.equal([400, 429, 429, 400]);
    expect(await statuses("1", ["64:ff9b::192.0.2.1", "64:ff9b::1", "1::2:3:4:5:6:7"])).to.deep.equal([
      400, 429, 400,
    ]);
    expect(await statuses("1", ["::ffff:1.2.3.4", "1.2.3.4", "::ffff:1.2.3.5"])).to.deep.equal([
      400, 429, 400,
    ]);
  });
});
