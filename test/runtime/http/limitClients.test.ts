import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect } from "chai";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { admittedOf, type ClientLimits, limitClients } from "tallystick-runtime/http/limitClients";
import { pathOf } from "tallystick-runtime/http/pathOf";
import { PROMPT_REFUSALS } from "tallystick-runtime/http/refuseRequest";
import { converse, statusesOf } from "../../support/rawConnection.ts";

const AT_ONCE = 2;
const REQUESTS = 64;

describe("runtime/http/limitClients", () => {
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("serves other clients between fast requests of one client", async () => {
    let served = 0;
    server = createServer((request, response) => {
      served++;
      admittedOf(request)?.endTurn();
      response.end();
    });
    const limits = { pointsPerSecond: 1, burst: 10_000, atOnce: AT_ONCE, waiting: REQUESTS, streams: 1 };
    limitClients(server, { budgets: new ClientBudgets(limits, () => 0), trustedProxies: 0 });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const sockets = [];
    for (let n = 0; n < REQUESTS; n++) {
      const accepted = once(server, "connection");
      sockets.push(connect((server.address() as AddressInfo).port, "127.0.0.1"));
      await accepted;
    }

    // The largest number of requests that the server serves before it reads other connections again.
    let most = 0;
    let isOver = false;
    const beat = () => {
      most = Math.max(most, served - before);
      before = served;
      if (!isOver) setImmediate(beat);
    };
    let before = served;
    beat();
    const answers = sockets.map((socket) => once(socket, "data"));
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nhost: node\r\n\r\n");
    await Promise.all(answers);
    isOver = true;
    for (const socket of sockets) socket.destroy();
    expect(served).to.equal(REQUESTS);
    // `AT_ONCE` requests get a turn at once. When they end, the same number of waiting requests get a turn.
    expect(most).to.be.at.most(2 * AT_ONCE);
  });

  const ample = { pointsPerSecond: 0.001, burst: 1_000, atOnce: AT_ONCE, waiting: 256, streams: 1 };

  async function open(listener: RequestListener, limits: Partial<ClientLimits> = {}): Promise<ClientBudgets> {
    const budgets = new ClientBudgets(ample, () => 0);
    server = createServer(listener);
    limitClients(server, { budgets, trustedProxies: 0, ...limits });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return budgets;
  }
  const port = () => (server.address() as AddressInfo).port;

  for (const path of ["/", "/free"]) {
    it(`serves at most 64 requests of a connection that does not wait for answers, at ${path}`, async () => {
      let served = 0;
      const budgets = await open(
        (_, response) => {
          served++;
          response.end();
        },
        { priceOf: (path) => (path === "/free" ? 0 : 1) },
      );
      const requests = `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(2_000);
      const answer = await converse(port(), { parts: [requests], listenMs: 30_000 });
      expect(served).to.be.within(1, 2 * 64);
      expect(answer.closed).to.equal(true);
      // The client also pays for requests that got no answer.
      expect(budgets.of("127.0.0.1").secondsToWait).to.be.above(0);
      expect(budgets.of("127.0.0.2").secondsToWait).to.equal(0);
      // The client has so many refusals that its next connections are not read (see `limitSockets`).
      expect(budgets.of("127.0.0.1").refuse()).to.be.above(PROMPT_REFUSALS);
    });
  }

  it("counts requests with an unknown Expect header, which Node alone would answer without a limit", async () => {
    const budgets = await open((_, response) => void response.end());
    const requests = "GET / HTTP/1.1\r\nhost: a\r\nexpect: nothing\r\n\r\n".repeat(2_000);
    const answer = await converse(port(), { parts: [requests], listenMs: 30_000 });
    const met = statusesOf(answer).filter((it) => it === 417);
    expect(met.length).to.be.within(1, 2 * 64);
    expect(answer.closed).to.equal(true);
    // These requests cost more than half of the thousand points.
    budgets.of("127.0.0.1").charge(500);
    expect(budgets.of("127.0.0.1").secondsToWait).to.be.above(0);
  });

  it("asks a client for a body only when it serves the request", async () => {
    let served = 0;
    const budgets = await open((request, response) => {
      served++;
      request.resume().once("end", () => response.end());
    });
    const post =
      "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n";
    expect(statusesOf(await converse(port(), { parts: [post, "body"], listenMs: 30_000 }))).to.deep.equal([
      100, 200,
    ]);
    budgets.of("127.0.0.1").charge(1_000);
    expect(statusesOf(await converse(port(), { parts: [post], listenMs: 30_000 }))).to.deep.equal([429]);
    expect(served).to.equal(1);
  });

  const spellings = [
    ...["/a/costly", "/a/costly?x", "/a/c%6fstly", "/%61/costly?/..", "/x/../a/costly", "/x/%2e%2e/a/costly"],
    ...["/./a/costly", "http://other/a/costly", "HTTP://other/a/costl%79", "/a/costly#x", "/%ff/../a/costly"],
  ];
  it("gets the price for the path that a router reads, in any spelling of the client", async () => {
    const paths: string[] = [];
    await open((_, response) => void response.end(), {
      priceOf: (path) => {
        paths.push(path);
        return 1;
      },
    });
    for (const it of spellings)
      await converse(port(), {
        parts: [`GET ${it} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`],
        listenMs: 30_000,
      });
    expect(paths).to.deep.equal(spellings.map(() => "/a/costly"));
    expect(["//a/b", "/a%2fb", "/a%25b", "*", "http://", "/a b?c"].map(pathOf)).to.deep.equal([
      ...["//a/b", "/a%2fb", "/a%25b", "*", "http://", "/a b"],
    ]);
  });

  for (const connections of [1, 24]) {
    it(`parses the input of a client on ${connections} connections in pieces, and serves others between them`, async () => {
      let served = 0;
      await open((_, response) => {
        served++;
        response.end();
      });
      let parsed = 0;
      let most = 0;
      let before = 0;
      let isOver = false;
      server.prependListener("request", () => parsed++);
      const beat = () => {
        most = Math.max(most, parsed - before);
        before = parsed;
        if (!isOver) setImmediate(beat);
      };
      beat();
      const request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
      const sockets: Socket[] = [];
      for (let n = 0; n < connections; n++) {
        const accepted = once(server, "connection");
        sockets.push(connect(port(), "127.0.0.1").resume());
        await accepted;
      }
      // The client writes everything before the server reads anything.
      for (const socket of sockets) socket.on("error", () => {}).write(request.repeat(2_000));
      await Promise.all(sockets.map((socket) => once(socket, "close")));
      isOver = true;
      expect(served).to.be.within(1, 2 * 64 * connections);
      // A request may begin in one piece and end in the next.
      expect(most).to.be.within(1, Math.ceil(4_096 / request.length) + 1);
      expect(parsed).to.be.below(500 * connections);
    });
  }

  it("reads a piece of every connection of a proxy in each turn, because they may be of different clients", async () => {
    const paths: string[] = [];
    await open(
      (request, response) => {
        paths.push(request.url ?? "");
        request.resume().once("end", () => response.end());
      },
      { trustedProxies: 1 },
    );
    const connections = 24;
    const sockets: Socket[] = [];
    for (let n = 0; n <= connections; n++) {
      const accepted = once(server, "connection");
      sockets.push(
        connect(port(), "127.0.0.1")
          .on("error", () => {})
          .resume(),
      );
      await accepted;
    }
    const post = (path: string, client: string, bytes: number) =>
      `POST ${path} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: ${client}\r\ncontent-length: ${bytes}\r\n\r\n${" ".repeat(bytes)}`;
    let turns = 0;
    let isOver = false;
    const beat = () => {
      turns++;
      if (!isOver) setImmediate(beat);
    };
    server.once("request", beat);
    const read = new Promise<void>((resolve) => {
      server.on("request", ({ url }) => url === "/small" && resolve());
    });
    for (const [n, socket] of sockets.entries())
      socket.write(n < connections ? post("/large", "1.1.1.1", 60_000) : post("/small", "2.2.2.2", 2_000));
    await read;
    isOver = true;
    expect(turns).to.be.at.most(3);
    for (const socket of sockets) socket.destroy();
  });

  it("reads bodies of any length in pieces, and the requests after them", async () => {
    const lengths: number[] = [];
    await open((request, response) => {
      let length = 0;
      request.on("data", (chunk: Buffer) => {
        length += chunk.length;
      });
      request.on("end", () => {
        lengths.push(length);
        response.end();
      });
    });
    const sizes = [0, 1, 4_095, 4_096, 4_097, 65_536, 300_000];
    const requests = sizes.map(
      (size) => `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n${"a".repeat(size)}`,
    );
    const last = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    const answer = await converse(port(), { parts: [requests.join("") + last], listenMs: 30_000 });
    expect(statusesOf(answer)).to.deep.equal(Array(sizes.length + 1).fill(200));
    expect(lengths).to.deep.equal([...sizes, 0]);
  });

  it("reads almost nothing of a body before the listener reads it", async () => {
    let read = 0;
    await open((request, response) => {
      setTimeout(() => {
        read = request.socket.bytesRead;
        response.end();
      }, 500);
    });
    const head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 20000000\r\n\r\n";
    const answer = await converse(port(), { parts: [head, "a".repeat(20_000_000)], listenMs: 60_000 });
    expect(answer.closed).to.equal(true);
    expect(read).to.be.within(1, 512 * 1024);
  });

  it("serves twenty free requests of a client at once, its other free requests a second later, and other clients at once", async () => {
    /** Whether the server is at this moment in the step in which it parses a request. */
    let isParsing = false;
    let atOnce = 0;
    const held: number[] = [];
    await open(
      (_, response) => {
        if (isParsing) atOnce++;
        else held.push(performance.now());
        response.end();
      },
      { priceOf: () => 0, trustedProxies: 1 },
    );
    server.prependListener("request", () => {
      isParsing = true;
    });
    server.on("request", () => {
      isParsing = false;
    });
    const request = (client: string) =>
      `GET /health HTTP/1.1\r\nhost: a\r\nx-forwarded-for: ${client}\r\n\r\n`;
    const last = (client: string) => request(client).replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    const began = performance.now();
    const flood = converse(port(), {
      parts: [request("1.2.3.4").repeat(39) + last("1.2.3.4")],
      listenMs: 60_000,
    });
    const other = await converse(port(), { parts: [last("5.6.7.8")], listenMs: 60_000 });
    expect(statusesOf(other)).to.deep.equal([200]);
    expect(statusesOf(await flood)).to.deep.equal(Array(40).fill(200));
    expect([atOnce, held.length]).to.deep.equal([20 + 1, 20]);
    // Timers of Node may be one millisecond early.
    for (const at of held) expect(at - began).to.be.at.least(1_000 - 2);
  });

  it("does not read the rest of a large body after the answer, and charges for what it read", async () => {
    let read: Socket | undefined;
    const budgets = await open((request, response) => {
      read = request.socket;
      response.writeHead(413).end();
    });
    const head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 50000000\r\n\r\n";
    const answer = await converse(port(), {
      parts: [head, ...Array(100).fill(Buffer.alloc(500_000))],
      listenMs: 30_000,
    });
    expect(answer.closed).to.equal(true);
    expect(read?.bytesRead).to.be.below(1_000_000);
    // The body costs a point for each 4 kB, at most for 1 MiB. The answer costs almost nothing.
    budgets.of("127.0.0.1").charge(1_000);
    expect(budgets.of("127.0.0.1").owed).to.be.closeTo(256, 0.1);
  });

  it("does not charge a client for what others sent on the same connection of a proxy", async () => {
    const budgets = await open((_, response) => void response.end(), { trustedProxies: 1 });
    budgets.of("1.2.3.4").charge(1_500);
    const asks = (client: string, body: string) =>
      `POST / HTTP/1.1\r\nhost: a\r\nx-forwarded-for: ${client}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    budgets.of("5.6.7.8").charge(990);
    const refused = asks("1.2.3.4", "x".repeat(60_000)).repeat(4);
    const last = asks("5.6.7.8", "").replace("host: a", "host: a\r\nconnection: close");
    const answer = await converse(port(), { parts: [refused, last], listenMs: 30_000 });
    expect(statusesOf(answer)).to.deep.equal([429, 429, 429, 429, 200]);
    // This client had ten points left, and its request cost one.
    expect(budgets.of("5.6.7.8").secondsToWait).to.equal(0);
    budgets.of("5.6.7.8").charge(10);
    expect(budgets.of("5.6.7.8").owed).to.be.closeTo(1, 0.1);
  });
});
