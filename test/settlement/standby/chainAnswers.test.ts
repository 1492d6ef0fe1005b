import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { chainAnswersNow } from "../../../services/settlement/standby/chainAnswers.ts";

describe("the look at the chain of a machine that stands by", () => {
  let server: Server;
  let rpcUrl: string;
  let answer: (method: string, response: ServerResponse) => unknown;
  const look = () => chainAnswersNow({ rpcUrl, chainId: 8453, clockLimitSeconds: 60 }, () => 1_000);

  // A slow machine gets more time than the three seconds of a machine that stands by.
  const { timeout } = AbortSignal;
  before(async () => {
    AbortSignal.timeout = () => timeout.call(AbortSignal, 120_000);
    server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      await answer(JSON.parse(Buffer.concat(pieces).toString()).method, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    AbortSignal.timeout = timeout;
    server.closeAllConnections();
    server.close();
  });

  it("says yes if the right chain answers with the time of this machine", async () => {
    let time = 1_010;
    answer = (method, response) =>
      response.end(
        JSON.stringify({
          result: method === "eth_chainId" ? "0x2105" : { timestamp: `0x${time.toString(16)}` },
        }),
      );
    expect(await look()).to.equal(true);
    time = 2_000;
    expect(await look()).to.equal(false);
  });

  it("says no, or fails, if the answer has another form", async () => {
    for (const text of ["", "null", "[]", "7", '{"result":null}', '{"error":{}}']) {
      answer = (_, response) => response.end(text);
      expect(await look().catch(() => false), text).to.equal(false);
    }
  });

  it("reads no answer without end", async () => {
    const piece = Buffer.alloc(1 << 20, " ");
    let pieces = 0;
    answer = async (_, response) => {
      for (; !response.destroyed && pieces < 200; pieces++)
        if (!response.write(piece)) await Promise.race([once(response, "drain"), once(response, "close")]);
      response.end();
    };
    const failure = await look().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message").that.contains("more than");
    expect(pieces).to.be.below(100);
  });
});
