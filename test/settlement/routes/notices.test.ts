import { mkdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { noticeSubscriptionId } from "tallystick-protocol/notices/noticeSubscription";
import { signRecord } from "tallystick-protocol/records/record";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { addressOf } from "tallystick-protocol/signatures/signHash";
import { subscribeToNotices } from "tallystick-sdk/notices/subscribeToNotices";
import type { Fetch } from "tallystick-sdk/requestService";
import { privateKeyToAccount } from "viem/accounts";
import { createHttpNode } from "../../../services/notifying/httpNode.ts";
import { LedgerClock } from "../../../services/settlement/engine/ledgerClock.ts";
import { NoticeStore } from "../../../services/settlement/notices/noticeStore.ts";
import { noticeRoutes } from "../../../services/settlement/routes/noticeRoutes.ts";
import { openGate } from "../support/openGate.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

const [SENDER, BUYER, OTHER] = ["51", "52", "53"].map((it) => `0x${it.repeat(32)}` as const) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const AGENT = addressOf(OTHER);
const URL_OF = "https://buyer.example/notices";

async function word(changes: { [key: string]: unknown } = {}, privateKey = BUYER) {
  const body = { buyer: addressOf(privateKey), url: URL_OF, agents: [AGENT], issued_at: NOW, ...changes };
  const { type, ...record } = await signRecord({
    ...{ type: "notice_subscription", ledger: "local" },
    ...{ body: body as never, privateKey },
  });
  return record;
}

async function list(privateKey = SENDER, issued_at = NOW) {
  const { type, ...record } = await signRecord({
    ...{ type: "notice_list", ledger: "local" },
    ...{ body: { after: "", issued_at }, privateKey },
  });
  return record;
}

describe("POST /v1/notices", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path, { NOTIFIER: addressOf(SENDER) });
  });
  afterEach(() => service.close());
  const listed = async () => (await service.post("/v1/notices/list", await list())).json.subscriptions;

  it("stores what a buyer signed, shows it only to the sender, and writes nothing into the ledger", async () => {
    const answer = await service.post("/v1/notices", await word());
    expect(answer.status, answer.text).to.equal(201);
    const id = noticeSubscriptionId({ buyer: addressOf(BUYER), url: URL_OF });
    expect(answer.json).to.deep.equal({ id, sender: addressOf(SENDER), expires_at: NOW + 90 * 86_400 });
    expect(await listed()).to.deep.equal([
      {
        ...{ id, buyer: addressOf(BUYER), url: URL_OF, agents: [AGENT] },
        ...{ since: NOW, expiresAt: NOW + 90 * 86_400, isConfirmed: false },
      },
    ]);
    expect(service.ledger.size).to.equal(0);
    for (const key of [BUYER, OTHER]) {
      const refused = await service.post("/v1/notices/list", await list(key));
      expect([refused.status, refused.json.code]).to.deep.equal([401, "unauthorized"]);
    }
    expect((await service.get("/v1/notices")).json).to.deep.equal({
      sender: addressOf(SENDER),
      ledger: "local",
    });
  });

  it("gives the sender, page by page, the subscriptions that the SDK sent", async () => {
    const fetch: Fetch = async (url, init) =>
      await service.app.request(url.slice("http://node.test".length), init);
    const base = { baseUrl: "http://node.test", ledger: "local" as const, fetch };
    const buyers = Array.from({ length: 3 }, (_, n) => privateKeyToAccount(`0x${String(n + 1).repeat(64)}`));
    for (const account of buyers)
      await subscribeToNotices({ ...base, account, url: URL_OF, agents: [AGENT], issuedAt: NOW });
    const sender = createHttpNode({
      ...{ ...base, ledger: async () => "local" as const },
      ...{ account: privateKeyToAccount(SENDER), now: () => NOW },
    });
    const found = await sender.subscriptions(new AbortController().signal);
    expect(found.map(({ buyer }) => buyer)).to.have.members(
      buyers.map(({ address }) => address.toLowerCase()),
    );
    expect(found[0]).to.deep.include({ url: URL_OF, agents: [AGENT], since: NOW, isConfirmed: false });
    const again = await sender.subscriptions(new AbortController().signal, found.slice(0, 2));
    expect(again.map(({ isConfirmed }) => isConfirmed)).to.deep.equal([true, true, false]);
  });

  it("gives the sender the subscriptions, also while a full disk accepts no confirmation", async () => {
    class FullStore extends NoticeStore {
      override confirm(): void {
        throw new TallystickError({ code: "disk_unavailable", message: "full" });
      }
    }
    const store = new FullStore();
    const kept = { buyer: addressOf(BUYER), url: URL_OF, agents: [AGENT], issued_at: NOW };
    const { id, since } = store.keep(noticeSubscriptionId(kept), kept, NOW);
    const notices = { store, sender: addressOf(SENDER), devMode: false, checkSignature: async () => true };
    const logged: string[] = [];
    const app = noticeRoutes({
      ...{ now: () => NOW, notices, ledgerName: { ledger: "local" }, recover: await recoverByWasm() },
      log: (sentence: string) => logged.push(sentence),
    } as never);
    const sender = createHttpNode({
      ...{ baseUrl: "http://node.test", ledger: async () => "local" as const, now: () => NOW },
      account: privateKeyToAccount(SENDER),
      fetch: async (url, init) => await app.request(url.slice("http://node.test".length), init),
    });
    const found = await sender.subscriptions(new AbortController().signal, [{ id, since }]);
    expect(found.map(({ isConfirmed }) => isConfirmed)).to.deep.equal([false]);
    expect(logged).to.have.length(1);
    store.close();
  });

  it("withdraws a subscription, also after a restart", async () => {
    await service.post("/v1/notices", await word());
    await service.close();
    service = await openTestService(folder.path, { NOTIFIER: addressOf(SENDER) });
    expect(await listed()).to.have.length(1);
    const answer = await service.post("/v1/notices", await word({ agents: [], issued_at: NOW + 1 }));
    expect([answer.status, answer.json.removed]).to.deep.equal([200, true]);
    expect(await listed()).to.deep.equal([]);
    // Somebody who saw the first request cannot bring the subscription back with it.
    const replayed = await service.post("/v1/notices", await word());
    expect([replayed.status, replayed.json.code]).to.deep.equal([409, "stale_subscription"]);
  });

  it("renews a withdrawn subscription at once, also if its buyer has no place left", async () => {
    for (let n = 0; n < 8; n++) await service.post("/v1/notices", await word({ url: `${URL_OF}/${n}` }));
    const url = `${URL_OF}/7`;
    await service.post("/v1/notices", await word({ url, agents: [], issued_at: NOW + 1 }));
    expect(await listed()).to.have.length(7);
    const renewed = await service.post("/v1/notices", await word({ url, issued_at: NOW + 2 }));
    expect(renewed.status, renewed.text).to.equal(201);
    expect(await listed()).to.have.length(8);
    const ninth = await service.post("/v1/notices", await word({ url: `${URL_OF}/8`, issued_at: NOW + 3 }));
    expect([ninth.status, ninth.json.code]).to.deep.equal([409, "too_many_subscriptions"]);
  });

  it("accepts a repeated request, and keeps the newer one of two requests", async () => {
    await service.post("/v1/notices", await word());
    expect((await service.post("/v1/notices", await word())).status).to.equal(201);
    expect((await service.post("/v1/notices", await word({ agents: [addressOf(SENDER)] }))).status).to.equal(
      409,
    );
    await service.post("/v1/notices", await word({ agents: [addressOf(SENDER)], issued_at: NOW + 5 }));
    expect((await listed())[0].agents).to.deep.equal([addressOf(SENDER)]);
  });

  it("refuses requests with a private address, with an old time, of another buyer, or with too many agents", async () => {
    const code = async (record: object) => {
      const { status, json } = await service.post("/v1/notices", record);
      return `${status} ${json.errors?.[0]?.field ?? json.code}`;
    };
    for (const url of [
      "http://buyer.example/",
      "https://127.0.0.1/",
      "https://[::1]:9000/",
      "https://intra/",
    ])
      expect(await code(await word({ url })), url).to.equal("400 body.url");
    expect(await code(await word({ issued_at: NOW - 601 }))).to.equal("400 body.issued_at");
    expect(await code(await word({ issued_at: NOW + 601 }))).to.equal("400 body.issued_at");
    expect(await code(await word({ buyer: AGENT }))).to.equal("400 signer");
    const { signature } = await word({ issued_at: NOW + 1 });
    expect(await code({ ...(await word()), signature })).to.equal("400 signature");
    const many = Array.from({ length: 65 }, (_, n) => `0x${String(n).padStart(40, "0")}`);
    expect(await code(await word({ agents: many }))).to.equal("400 body.agents");
    for (let n = 0; n < 8; n++) await service.post("/v1/notices", await word({ url: `${URL_OF}/${n}` }));
    expect(await code(await word({ url: `${URL_OF}/8` }))).to.equal("409 too_many_subscriptions");
    const late = await service.post("/v1/notices/list", await list(SENDER, NOW - 601));
    expect(late.status).to.equal(400);
  });

  it("forgets subscriptions that were not renewed", async () => {
    await service.post("/v1/notices", await word());
    service.clock.now = NOW + 90 * 86_400;
    const answer = await service.post("/v1/notices/list", await list(SENDER, service.clock.now));
    expect(answer.json.subscriptions).to.deep.equal([]);
  });

  it("accepts no subscription while the clock cannot be right, because a wrong time would remove all others", async () => {
    const time = { now: NOW, elapsed: 0 };
    const { gate } = openGate();
    const clock = new LedgerClock({
      ...{ now: () => time.now, elapsed: () => time.elapsed },
      gate,
      limitSeconds: 120,
    });
    const store = new NoticeStore();
    const notices = {
      ...{ store, sender: addressOf(SENDER), devMode: false, checkSignature: async () => true },
      requireClock: () => clock.requireRight(),
    };
    const recover = await recoverByWasm();
    const app = noticeRoutes({
      now: () => time.now,
      notices,
      ledgerName: { ledger: "local" },
      recover,
    } as never);
    const subscribe = async (changes: object) => {
      const body = JSON.stringify(await word({ ...changes }));
      const sent = app.request("/v1/notices", {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      });
      return await Promise.resolve(sent).then(({ status }) => status);
    };
    const codes: unknown[] = [];
    app.onError((error, c) => {
      codes.push((error as { code?: string }).code);
      return c.text("", 503);
    });
    clock.seen({ number: 1n, time: BigInt(NOW) });
    expect(await subscribe({})).to.equal(201);
    time.now += 91 * 86_400;
    expect(await subscribe({ url: "https://other.example/", issued_at: time.now })).to.equal(503);
    time.now = NOW;
    for (const number of [2n, 3n]) clock.seen({ number, time: BigInt(NOW) });
    // Other reasons that stop the ledger do not stop subscriptions.
    gate.close("halt", new TallystickError({ code: "guardian_announced", message: "halted" }));
    expect(await subscribe({ url: "https://other.example/" })).to.equal(201);
    expect(codes).to.deep.equal(["clock"]);
    expect(store.list("", 10, NOW)).to.have.length(2);
    store.close();
  });

  it("asks no wallet about a request that it refuses because of its time or its sender", async () => {
    const store = new NoticeStore();
    let asked = 0;
    const notices = {
      ...{ store, sender: addressOf(SENDER), devMode: false, requireClock: () => {} },
      checkSignature: async () => void asked++,
    };
    const recover = await recoverByWasm();
    const app = noticeRoutes({ now: () => NOW, notices, ledgerName: { ledger: "local" }, recover } as never);
    app.onError((error, c) => c.json({ code: (error as { code?: string }).code }, 400));
    const codeOf = async (route: string, record: object) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(record);
      const answer = await app.request(route, { method: "POST", headers, body });
      return (await answer.json()).code;
    };
    for (const time of [NOW - 601, NOW + 601]) {
      expect(await codeOf("/v1/notices", await word({ issued_at: time }))).to.equal("invalid_input");
      expect(await codeOf("/v1/notices/list", await list(SENDER, time))).to.equal("invalid_input");
    }
    expect(await codeOf("/v1/notices/list", await list(OTHER))).to.equal("unauthorized");
    expect(asked).to.equal(0);
    await codeOf("/v1/notices", await word());
    await codeOf("/v1/notices/list", await list());
    expect(asked).to.equal(2);
    store.close();
  });

  it("answers 503 if no sender is configured", async () => {
    await service.close();
    service = await openTestService(folder.path);
    for (const answer of [await service.get("/v1/notices"), await service.post("/v1/notices", await word())])
      expect([answer.status, answer.json.code]).to.deep.equal([503, "notices_unavailable"]);
  });
});

describe("a store of subscriptions that is full", () => {
  const folder = temporaryFolder();
  const add = (store: NoticeStore, n: number, url: string) => {
    const buyer = `0x${String(n).padStart(40, "0")}` as const;
    const word = { buyer, url, agents: [AGENT], issued_at: NOW };
    return store.keep(noticeSubscriptionId(word), word, NOW + n);
  };

  it("removes the newest subscriptions of the site that has the most, and of nobody else", () => {
    const store = new NoticeStore(undefined, 4);
    add(store, 1, "https://honest.example/a");
    for (const n of [2, 3, 4]) add(store, n, `https://h${n}.flood.test/x`);
    expect(() => add(store, 5, "https://h5.flood.test/x"))
      .to.throw()
      .with.property("code", "notices_full");
    add(store, 6, "https://late.example.org/b");
    const sites = store.list("", 10, NOW).map(({ url }) => new URL(url).hostname);
    expect(sites).to.have.members(["honest.example", "h2.flood.test", "h3.flood.test", "late.example.org"]);
    store.close();
  });

  it("keeps a place for each owner below the suffix of a hosting service, and for those elsewhere", () => {
    const store = new NoticeStore(undefined, 4);
    add(store, 1, "https://honest.example/a");
    for (const n of [2, 3, 4]) add(store, n, `https://h${n}.flood.vercel.app/x`);
    add(store, 5, "https://honest.vercel.app/b");
    // The free sites of a hosting service push out one another, and nobody elsewhere.
    for (const n of [6, 7, 8, 9]) add(store, n, `https://free${n}.vercel.app/x`);
    expect(store.list("", 10, NOW).map(({ url }) => new URL(url).hostname)).to.have.members([
      "honest.example",
      "h2.flood.vercel.app",
      "honest.vercel.app",
      "free9.vercel.app",
    ]);
    store.close();
  });

  it("lets the free sites of a hosting service take no place of an owner that has several addresses", () => {
    const store = new NoticeStore(undefined, 5);
    for (const n of [1, 2]) add(store, n, `https://h${n}.honest.example/a`);
    for (const n of [3, 4, 5, 6, 7]) add(store, n, `https://free${n}.vercel.app/x`);
    const hosts = store.list("", 10, NOW).map(({ url }) => new URL(url).hostname);
    expect(hosts).to.have.length(5).and.to.include.members(["h1.honest.example", "h2.honest.example"]);
    store.close();
  });

  it("finds the sites of an earlier version's subscriptions anew", () => {
    const folderOf = path.join(folder.path, "earlier");
    mkdirSync(folderOf);
    const store = new NoticeStore(folderOf, 3);
    for (const n of [1, 2]) add(store, n, `https://h${n}.flood.vercel.app/x`);
    add(store, 3, "https://honest.vercel.app/b");
    store.close();
    const disk = new DatabaseSync(path.join(folderOf, "notices.sqlite"));
    disk.exec("UPDATE subscription SET site = 'vercel.app'; ALTER TABLE subscription DROP COLUMN registered");
    disk.close();
    const later = new NoticeStore(folderOf, 3);
    add(later, 4, "https://late.example/b");
    expect(later.list("", 10, NOW).map(({ url }) => new URL(url).hostname)).to.have.members([
      "h1.flood.vercel.app",
      "honest.vercel.app",
      "late.example",
    ]);
    later.close();
  });

  it("finds the registered names of all sites only when it opens, because a new address must not wait for them", () => {
    const folderOf = path.join(folder.path, "slow");
    mkdirSync(folderOf);
    const first = new NoticeStore(folderOf, 3);
    for (const n of [1, 2, 3]) add(first, n, `https://free${n}.vercel.app/x`);
    first.close();
    let calls = 0;
    const register = DatabaseSync.prototype.function;
    DatabaseSync.prototype.function = function (name: string, of: unknown) {
      const counted = (value: string) => {
        calls++;
        return (of as (value: string) => string)(value);
      };
      Reflect.apply(register, this, [name, counted]);
    };
    try {
      const store = new NoticeStore(folderOf, 3);
      const atOpening = calls;
      expect(atOpening).to.be.above(0);
      for (const n of [4, 5]) add(store, n, `https://free${n}.vercel.app/x`);
      expect(calls).to.equal(atOpening);
      store.close();
    } finally {
      DatabaseSync.prototype.function = register;
    }
  });

  it("removes nobody when a withdrawn subscription is renewed", () => {
    const store = new NoticeStore(undefined, 3);
    for (const n of [1, 2, 3]) add(store, n, `https://site${n}.test/x`);
    const buyer = `0x${"3".padStart(40, "0")}` as const;
    for (const agents of [[], [AGENT]]) {
      const word = { buyer, url: "https://site3.test/x", agents, issued_at: NOW + 1 + agents.length };
      store.keep(noticeSubscriptionId(word), word, NOW + 5);
    }
    expect(store.list("", 10, NOW)).to.have.length(3);
    store.close();
  });

  it("removes no confirmed subscription, however many sites are invented", () => {
    const store = new NoticeStore(undefined, 6);
    const honest = [1, 2].map((n) => add(store, n, `https://shared.example/${n}`));
    store.confirm(honest);
    for (let n = 3; n < 40; n++) add(store, n, `https://site${n}.test/x`);
    const ids = store.list("", 10, NOW).map(({ id }) => id);
    expect(ids).to.have.length(6);
    expect(ids).to.include.members(honest.map(({ id }) => id));
    store.close();
  });

  it("does not confirm a subscription that was cancelled and came again after it was read", () => {
    const store = new NoticeStore();
    const read = add(store, 1, URL_OF);
    const word = { buyer: read.buyer, url: URL_OF, agents: [], issued_at: NOW + 1 };
    store.keep(read.id, word, NOW + 10);
    store.keep(read.id, { ...word, agents: [AGENT], issued_at: NOW + 2 }, NOW + 11);
    store.confirm([read]);
    expect(store.list("", 1, NOW)[0]?.isConfirmed).to.equal(false);
    store.close();
  });

  it("removes nobody's subscription for one that cannot be stored, as on a full disk", () => {
    const store = new NoticeStore(folder.path, 2);
    for (const n of [1, 2]) add(store, n, `https://h${n}.crowd.test/x`);
    const before = store.list("", 10, NOW);
    const disk = new DatabaseSync(path.join(folder.path, "notices.sqlite"));
    // When a disk is full, SQLite itself can end the transaction.
    for (const how of ["ABORT", "ROLLBACK"]) {
      disk.exec(
        `CREATE TRIGGER disk BEFORE INSERT ON subscription BEGIN SELECT RAISE(${how}, 'disk is full'); END`,
      );
      expect(() => add(store, 3, "https://late.example.org/b"), how).to.throw("disk is full");
      expect(store.list("", 10, NOW), how).to.deep.equal(before);
      disk.exec("DROP TRIGGER disk");
    }
    add(store, 3, "https://late.example.org/b");
    expect(store.list("", 10, NOW)).to.have.length(2);
    disk.close();
    store.close();
  });

  it("does not store the cancellation of a subscription that never existed", () => {
    const store = new NoticeStore(undefined, 4);
    add(store, 1, URL_OF);
    for (let n = 2; n < 20; n++) {
      const buyer = `0x${String(n).padStart(40, "0")}` as const;
      const word = { buyer, url: `https://site${n}.test/`, agents: [], issued_at: NOW };
      store.keep(noticeSubscriptionId(word), word, NOW);
    }
    for (const n of [20, 21, 22]) add(store, n, `https://site${n}.test/`);
    expect(store.list("", 10, NOW).map(({ url }) => url)).to.include(URL_OF);
    expect(store.list("", 10, NOW)).to.have.length(4);
    store.close();
  });
});
