import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect } from "chai";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { runNotifier } from "../../services/notifying/runNotifier.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { KEY, NOW } from "./support/testNotifier.ts";

describe("two senders of notices with one folder", () => {
  const folder = suiteFolder();

  it("cannot run at the same time: the second starts only after the first has ended", async () => {
    const config = {
      ...{ nodeUrl: "http://127.0.0.1:9", privateKey: KEY, folder: folder.path, host: "127.0.0.1", port: 0 },
      ...{ roundMs: 60_000, devMode: false },
    };
    const first = await runNotifier(config);
    const refused = await runNotifier(config).catch((error) => error);
    expect(refused).to.include({ code: "notifier_folder" });
    await first.close();
    await (await runNotifier(config)).close();
  });

  it("can start one after the other if the first failed to open, because the folder is free again", async () => {
    const config = {
      ...{ nodeUrl: "http://127.0.0.1:9", privateKey: KEY, folder: folder.path, host: "127.0.0.1", port: 0 },
      ...{ roundMs: 60_000, devMode: false },
    };
    const failed = await runNotifier({ ...config, privateKey: "0x12" }).catch((error) => error);
    expect(failed).to.be.instanceOf(Error).and.not.have.property("code", "notifier_folder");
    await (await runNotifier(config)).close();
  });
});

describe("the health of a sender of notices", () => {
  const folder = suiteFolder();
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  const clock = { ms: 0 };
  // No second round comes during these tests.
  const ROUND_MS = 600_000;
  const LIMIT_MS = 10 * ROUND_MS + 60_000;
  /** Starts a sender of this node, and returns what its health says. */
  const start = async (nodeUrl: string) => {
    clock.ms = NOW * 1_000;
    const own = { folder: path.join(folder.path, "notifying"), host: "127.0.0.1", port: 0 };
    const config = { ...own, nodeUrl, privateKey: KEY, roundMs: ROUND_MS, devMode: false };
    const { url, close } = await runNotifier(config, () => clock.ms);
    ends.push(close);
    return async () => {
      const response = await fetch(`${url}/health`);
      return { code: response.status, ...((await response.json()) as { status: string; roundAt: number }) };
    };
  };

  it("is bad if no round succeeds in the time of ten rounds and one more minute since its start", async () => {
    const health = await start("http://127.0.0.1:9");
    clock.ms += LIMIT_MS;
    expect(await health()).to.include({ code: 200, status: "ok", roundAt: 0 });
    clock.ms += 1;
    expect(await health()).to.include({ code: 503, status: "unhealthy", roundAt: 0 });
  });

  it("is good for as long since the end of its last round", async () => {
    const answers: { [path: string]: object } = {
      "/v1/ledger/latest": { ledger: `0x${"1e".repeat(32)}` },
      "/v1/notices/list": { subscriptions: [], next: null },
      "/v1/breach-steps": { steps: [], next_cursor: null, final_block: 10 },
    };
    const node = createServer(({ url = "" }, response) => {
      const [asked = ""] = url.split("?");
      // The round ends long after the start.
      if (asked === "/v1/breach-steps") clock.ms += LIMIT_MS;
      response.end(JSON.stringify(answers[asked]));
    });
    ends.push(() => {
      node.closeAllConnections();
      node.close();
    });
    await once(node.listen(0, "127.0.0.1"), "listening");
    const health = await start(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
    await waitUntil(async () => (await health()).roundAt > 0, { what: "a round", withinMs: 60_000 });
    clock.ms += LIMIT_MS;
    expect(await health()).to.include({ code: 200, status: "ok" });
    clock.ms += 1;
    expect(await health()).to.include({ code: 503, status: "unhealthy" });
  });
});
