import { expect } from "chai";
import fc from "fast-check";
import { hostileConversation } from "../../support/hostileConversations.ts";
import { converse, statusesOf } from "../../support/rawConnection.ts";
import type { LonelyIndexer } from "./lonelyIndexer.ts";

const upgrade = (target: string, more = "") =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;

/**
 * Tests of what strangers may write to the socket of an indexer. `node` gives the indexer when it runs. The indexer has
 * no settlement service.
 */
export function hostileRequests(node: () => LonelyIndexer): void {
  const port = () => Number(new URL(node().indexer.url).port);

  const stillServes = async () => {
    expect((await fetch(`${node().indexer.url}/health`)).status).to.equal(200);
    expect(await node().indexer.query("{ meta { block } }")).to.have.property("meta");
    expect(node().indexer.log()).to.not.match(
      /uncaughtException|unhandledRejection|internal error|request failed/i,
    );
  };

  it("refuses an upgrade with a wrong target, also if the client breaks the connection during the refusal", async () => {
    for (const target of ["//", "http://[", "*", "/v1/stream?%", "/v1/streams", "/graphql"]) {
      const answer = await converse(port(), { parts: [upgrade(target)], listenMs: 60_000 });
      expect(statusesOf(answer), target).to.satisfy(([status]: number[]) => status! >= 400 && status! < 500);
      expect(answer.closed, target).to.equal(true);
      await converse(port(), { parts: [upgrade(target)], ending: "reset" });
    }
    await stillServes();
  });

  it("answers hostile bytes with a status of HTTP or closes the connection, and keeps running", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostileConversation, { minLength: 12, maxLength: 12 }), async (all) => {
        const answers = await Promise.all(all.map((one) => converse(port(), one)));
        expect((await fetch(`${node().indexer.url}/health`)).status).to.equal(200);
        // 502 is possible, because the settlement service does not run.
        for (const status of answers.flatMap(statusesOf)) {
          expect(status).to.satisfy((it: number) => it < 500 || it === 502 || it === 503);
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
    await stillServes();
  });
}
