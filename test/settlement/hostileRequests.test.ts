import { expect } from "chai";
import fc from "fast-check";
import { hostileConversation } from "../support/hostileConversations.ts";
import { converse, statusesOf } from "../support/rawConnection.ts";
import { settle, settlementProcesses } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

describe("settlement with hostile bytes on its socket", () => {
  const folder = temporaryFolder();
  const processes = settlementProcesses(() => ({ LEDGER_DIR: folder.path, RATE_LIMIT_PER_ADDRESS: "0" }));

  it("answers with a status of HTTP or closes the connection, keeps running, and settles afterwards", async () => {
    const { url, child, stderr } = await processes.start();
    const port = Number(new URL(url).port);
    const upgrade = "GET // HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    expect(statusesOf(await converse(port, { parts: [upgrade], listenMs: 3_000 }))).to.deep.equal([404]);
    const many = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000);
    const statuses = statusesOf(await converse(port, { parts: [many], listenMs: 10_000 }));
    expect(statuses.filter((it) => it === 200).length).to.be.within(1, 2 * 64);
    expect(statuses.at(-1)).to.equal(429);
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
});
