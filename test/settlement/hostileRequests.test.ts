import { expect } from "chai";
import fc from "fast-check";
import { hostileConversation } from "../support/hostileConversations.ts";
import { converse, statusesOf } from "../support/rawConnection.ts";
import { settle, settlementProcesses } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

describe("settlement with hostile bytes on its socket", () => {
  const folder = temporaryFolder();
  const settings: { [name: string]: string } = {};
  const processes = settlementProcesses(() => ({
    ...{ LEDGER_DIR: folder.path, RATE_LIMIT_PER_ADDRESS: "0" },
    ...settings,
  }));

  it("answers with an HTTP status or closes the connection, keeps running, and settles afterwards", async () => {
    const { url, child, stderr } = await processes.start();
    const port = Number(new URL(url).port);
    const upgrade = "GET // HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    const answer = await converse(port, { parts: [upgrade], listenMs: 60_000, enough: /\r\n\r\n/ });
    expect(statusesOf(answer)).to.deep.equal([404]);
    const many = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000);
    const statuses = statusesOf(await converse(port, { parts: [many], listenMs: 30_000 }));
    expect(statuses.filter((it) => it === 200).length).to.be.within(1, 2 * 64);
    // The server closes the connection while requests are unread. Then the system may drop the refusal on its way.
    expect(statuses.at(-1)).to.be.oneOf([200, 429]);
    await fc.assert(
      fc.asyncProperty(fc.array(hostileConversation, { minLength: 8, maxLength: 8 }), async (all) => {
        const answers = await Promise.all(all.map((one) => converse(port, one)));
        expect(child.exitCode, stderr()).to.equal(null);
        for (const status of answers.flatMap(statusesOf)) expect(status).to.be.below(500);
      }),
      { numRuns: 40, endOnFailure: true },
    );
    expect(await settle(url, "afterwards")).to.be.a("string");
    expect(stderr()).to.not.match(/internal error|request failed/);
  });

  it("limits the reads of each client; the limit does not apply to writes, or to the operator's own network", async () => {
    Object.assign(settings, { RATE_LIMIT_READS: "60", TRUST_PROXY: "1" });
    const { url } = await processes.start();
    const ask = (from: string | undefined, path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, { ...init, headers: from === undefined ? {} : { "x-forwarded-for": from } });
    const read = async (from?: string) => (await ask(from, "/v1/ledger/latest")).status;
    for (let n = 0; n < 8; n++) expect(await read("192.0.2.1")).to.equal(200);
    // A client gets a point back every second, so a slow machine may need more than 16 requests until one is refused.
    let refused: Response | undefined;
    while (refused === undefined) {
      const asked = Array.from({ length: 16 }, () => ask("192.0.2.1", "/v1/ledger/latest"));
      refused = (await Promise.all(asked)).find(({ status }) => status === 429);
    }
    expect(Number(refused.headers.get("retry-after"))).to.be.above(0);
    for (const method of ["OPTIONS", "DELETE"]) {
      const others = Array.from({ length: 16 }, () => ask("192.0.2.1", "/v1/ledger/latest", { method }));
      expect(
        (await Promise.all(others)).map(({ status }) => status),
        method,
      ).to.include(429);
    }
    expect(await read("192.0.2.2"), "another client").to.equal(200);
    const write = await ask("192.0.2.1", "/v1/receipts", { method: "POST", body: "{}" });
    expect(write.status, "a write has its own limit").to.equal(400);
    expect((await ask("192.0.2.1", "/health")).status).to.equal(200);
    for (let n = 0; n < 30; n++) expect(await read()).to.equal(200);
  });
});
