import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { readNotice } from "tallystick-sdk/notices/readNotice";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { readNotifierConfig } from "../../services/notifying/config.ts";
import { openNotifier } from "../../services/notifying/openNotifier.ts";
import { createPost } from "../../services/notifying/post.ts";
import {
  BUYER,
  KEY,
  NOW,
  nodeOf,
  openTestNotifier,
  SENDER,
  step,
  subscription,
} from "./support/testNotifier.ts";

describe("the connection to a receiver", () => {
  const servers: { close: () => void; closeAllConnections: () => void }[] = [];
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  const reach = { policy: { isPublic: () => true, problemOf: () => undefined } };
  const forever = new AbortController().signal;
  const message = (url: string, isRead = false) => ({ url, text: "{}", id: "x", isRead });

  it("follows no redirect, waits for no slow answer, and reads no endless body", async () => {
    let redirected = 0;
    const inside = await serve((_request, response) => {
      redirected++;
      response.end();
    });
    const post = createPost(reach);
    const redirecting = await serve((_request, response) =>
      response.writeHead(302, { location: inside }).end(),
    );
    const failed = await post(message(redirecting), forever).catch(() => "failed");
    expect([failed, redirected]).to.deep.equal(["failed", 0]);
    const slow = await serve(() => {});
    const begun = performance.now();
    expect(await createPost(reach, 300)(message(slow), forever).catch(() => "failed")).to.equal("failed");
    // Without its own limit, it would wait for ten seconds.
    expect(performance.now() - begun).to.be.below(9_000);
    const endless = await serve((_request, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write("x".repeat(65_536)), 1);
      response.on("close", () => clearInterval(more));
    });
    expect((await post(message(endless), forever)).status).to.equal(200);
    expect(await post(message(endless, true), forever).catch(() => "failed")).to.equal("failed");
  });

  it("is never to a private address, even if the receiver's name resolves to one", async () => {
    let reached = 0;
    const url = await serve((_request, response) => {
      reached++;
      response.end();
    });
    const { port } = new URL(url);
    for (const address of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"]) {
      const post = createPost({ resolve: async () => [address] });
      const failed = await post(message(`https://rebound.example:${port}/`), forever).catch(
        (error) => error.cause?.code ?? error.code,
      );
      expect(failed, address).to.equal("private_address");
    }
    const post = createPost();
    for (const target of [url, `https://127.0.0.1:${port}/`, "http://buyer.example/"])
      expect(await post(message(target), forever).catch((error) => error.code)).to.equal("private_address");
    expect(reached).to.equal(0);
  });

  it("reaches private addresses only with the setting for private networks, which is off unless it is given", async () => {
    let reached = 0;
    const url = await serve((_request, response) => {
      reached++;
      response.end();
    });
    const node = {
      ...nodeOf([], [subscription(url)]),
      stepsFrom: async () => ({ steps: [], finalBlock: 10, time: NOW }),
    };
    for (const [environment, times] of [
      [{}, 0],
      [{ NOTIFIER_DEV_MODE: "1" }, 1],
    ] as const) {
      const notifier = openNotifier({
        config: readNotifierConfig({ NOTIFIER_PRIVATE_KEY: KEY, ...environment }),
        ...{ node, store: memoryStore(), ledger: "local", now: () => NOW * 1_000, log: () => {} },
      });
      await notifier.round();
      expect(notifier.state()).to.include({ subscriptions: 1, failures: 0 });
      expect(reached).to.equal(times);
    }
  });

  it("delivers once to a real server that answers 500 and then 200", async () => {
    const bodies: string[] = [];
    let attempts = 0;
    const url = await serve((request, response) => {
      let text = "";
      request.on("data", (piece) => {
        text += piece;
      });
      request.on("end", () => {
        const { type, body } = JSON.parse(text);
        const isFirst = type !== "notice_confirmation" && ++attempts === 1;
        if (type === "notice_confirmation") response.end(body.challenge);
        else response.writeHead(isFirst ? 500 : 200).end();
        if (isFirst || type === "notice_confirmation") return;
        expect(request.headers["idempotency-key"]).to.equal(body.id);
        bodies.push(text);
      });
    });
    const clock = { ms: NOW * 1_000 };
    const node = nodeOf([step()], [subscription(url)]);
    const notifier = openTestNotifier({ node, post: createPost(reach), clock });
    for (let n = 0; n < 5; n++, clock.ms += 60_000) await notifier.round();
    expect(attempts).to.equal(2);
    expect(bodies.map((text) => readNotice(text, { sender: SENDER, buyer: BUYER }).step)).to.deep.equal([
      "detected",
    ]);
  });
});
