import { once } from "node:events";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import {
  openSegmentSource,
  type SegmentSource,
  SegmentUnavailableError,
} from "../../../indexer/src/segments/segmentSource.ts";

const { signal } = new AbortController();

async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (it) => it,
  );
  expect(error).to.be.instanceOf(SegmentUnavailableError);
  return error;
}

const LEDGER = `0x${"1e".repeat(32)}` as const;

describe("segments from a settlement service", () => {
  let server: Server;
  let url: string;
  let source: SegmentSource;
  /** The lines that the service has, and how it behaves. */
  let lines: string[];
  let atMost: number;
  let asked: string[];
  let status: number;
  /** How many of the next requests after the first one the service refuses, because it is busy. */
  let busy: number;
  /** The service refuses every second request. */
  let isSlow: boolean;
  /** Each answer comes after 29 seconds. */
  let isLate: boolean;
  /** The service answers with this text in place of lines. */
  let text: string | undefined;
  let pauses: number[];

  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? "");
      const query = new URL(request.url ?? "", "http://x").searchParams;
      const from = Number(query.get("from"));
      const page = lines.slice(from, Math.min(Number(query.get("to")), from + atMost));
      response.statusCode = status;
      if (isSlow ? asked.length % 2 === 0 : asked.length > 1 && busy-- > 0) {
        response.writeHead(429, { "retry-after": "7" }).end();
        return;
      }
      if (status === 302) response.setHeader("location", "/v1/ledger/entries?from=0&to=1");
      if (isLate) pauses.push(29_000);
      response.end(text ?? page.map((line) => `${line}\n`).join(""));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    url = `http://127.0.0.1:${port}`;
    const sleep = async (ms: number) => void pauses.push(ms);
    const now = () => pauses.reduce((sum, ms) => sum + ms, 0);
    source = openSegmentSource({ kind: "http", url }, LEDGER, { sleep, now });
  });
  after(() => server.close());
  beforeEach(() => {
    lines = Array.from({ length: 2_500 }, (_, index) => `{"n": ${index}}`);
    atMost = Number.POSITIVE_INFINITY;
    asked = [];
    status = 200;
    busy = 0;
    pauses = [];
    [isSlow, isLate, text] = [false, false, undefined];
  });

  it("gives exactly the requested entries", async () => {
    expect(await source({ from: 3, to: 7, byteOffset: 0, signal })).to.deep.equal(lines.slice(3, 7));
    expect(asked).to.deep.equal([`/v1/ledger/entries?ledger=${LEDGER}&from=3&to=7`]);
  });

  it("asks in pages of a thousand", async () => {
    expect(await source({ from: 1, to: 2_500, byteOffset: 0, signal })).to.deep.equal(lines.slice(1));
    expect(asked.map((url) => url.split(`?ledger=${LEDGER}&`)[1])).to.deep.equal([
      "from=1&to=1001",
      "from=1001&to=2001",
      "from=2001&to=2500",
    ]);
  });

  it("continues after the end of a shorter answer", async () => {
    atMost = 3;
    expect(await source({ from: 0, to: 8, byteOffset: 0, signal })).to.deep.equal(lines.slice(0, 8));
    expect(asked).to.have.length(3);
  });

  it("waits as long as a busy service asks for, and does not read the first pages again", async () => {
    busy = 3;
    expect(await source({ from: 0, to: 2_500, byteOffset: 0, signal })).to.deep.equal(lines);
    expect(asked.filter((url) => url.includes("from=0&"))).to.have.length(1);
    expect(pauses).to.deep.equal([7_000, 7_000, 7_000]);
  });

  it("gives up when the service stays busy", async () => {
    busy = Number.POSITIVE_INFINITY;
    expect((await failure(source({ from: 0, to: 2_500, byteOffset: 0, signal }))).message).to.contain(
      "answered 429",
    );
    expect(asked.length).to.be.below(10);
  });

  it("gives up after forty minutes also if the service gives a line from time to time", async () => {
    [isSlow, atMost] = [true, 1];
    const failed = await failure(source({ from: 0, to: 2_500, byteOffset: 0, signal }));
    expect(failed.message).to.match(/answered 429|in 40 minutes/);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).to.be.within(2_400_000, 2_460_000);
  });

  it("gives up after forty minutes also if each answer is good and slow", async () => {
    [isLate, atMost] = [true, 1];
    const failed = await failure(source({ from: 0, to: 2_500, byteOffset: 0, signal }));
    expect(failed.message).to.contain("in 40 minutes");
    expect(asked.length).to.be.below(90);
  });

  it("does not make a text of each line of an answer that has too many", async () => {
    text = "\n".repeat(70 << 20);
    const before = process.memoryUsage().heapUsed;
    const failed = await failure(source({ from: 0, to: 7, byteOffset: 0, signal }));
    expect(failed.message).to.contain("answered more lines than");
    expect(process.memoryUsage().heapUsed - before).to.be.below(300_000_000);
  });

  it("names the entry that is not available yet", async () => {
    lines = lines.slice(0, 5);
    expect((await failure(source({ from: 3, to: 7, byteOffset: 0, signal }))).message).to.contain(
      "no entry 5",
    );
  });

  it("refuses an answer that is not a segment", async () => {
    status = 500;
    expect((await failure(source({ from: 0, to: 1, byteOffset: 0, signal }))).message).to.contain(
      "answered 500",
    );
    // The caller waits for the first page, because it can report the wait.
    expect([asked.length, pauses]).to.deep.equal([1, []]);
    // A redirect is not followed, wherever it leads.
    status = 302;
    expect((await failure(source({ from: 0, to: 1, byteOffset: 0, signal }))).message).to.contain(
      "answered 302",
    );
  });

  it("reads at most one page of an endless answer", async () => {
    const piece = Buffer.alloc(1 << 20, "x");
    let pieces = 0;
    const endless = createServer(async (_, response) => {
      for (; !response.destroyed && pieces < 1_000; pieces++) {
        if (!response.write(piece)) await Promise.race([once(response, "drain"), once(response, "close")]);
      }
      response.end();
    });
    await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = endless.address() as AddressInfo;
      const from = openSegmentSource({ kind: "http", url: `http://127.0.0.1:${port}` }, LEDGER);
      expect((await failure(from({ from: 0, to: 1, byteOffset: 0, signal }))).message).to.contain(
        "answered more than",
      );
      expect(pieces).to.be.below(300);
    } finally {
      endless.closeAllConnections();
      endless.close();
    }
  });

  it("gives the first part of a segment of long lines, although each answer is within its limit", async () => {
    lines = Array.from({ length: 20 }, () => "x".repeat(15 << 20));
    atMost = 5;
    expect(await source({ from: 0, to: 20, byteOffset: 0, signal })).to.have.length(3);
    expect(asked).to.have.length(1);
  });

  it("refuses an entry that is too long", async () => {
    lines = ["x".repeat((16 << 20) + 1)];
    const error = await failure(source({ from: 0, to: 1, byteOffset: 0, signal }));
    expect(error.message).to.contain("has more than 16777216 bytes");
  });

  it("gives a long segment in parts, which end after a number of lines or bytes, also within an answer", async () => {
    const partsOf = async (lines: number, bytes: number) => {
      asked = [];
      const from = openSegmentSource({ kind: "http", url }, LEDGER, { part: { lines, bytes } });
      const sizes: number[] = [];
      for (let size = 0; size < 2_500; size += sizes.at(-1) as number)
        sizes.push((await from({ from: size, to: 2_500, byteOffset: 0, signal })).length);
      return { sizes, requests: asked.length };
    };
    expect(await partsOf(1_200, 1 << 20)).to.deep.equal({ sizes: [1_200, 1_200, 100], requests: 5 });
    const all = lines.slice(0, 800).join("\n").length + 1;
    // The line with the last of these bytes still belongs to the part.
    for (const bytes of [all, all - 1]) {
      const { sizes } = await partsOf(2_500, bytes);
      expect(sizes[0]).to.equal(800);
      expect(sizes.reduce((sum, it) => sum + it)).to.equal(2_500);
    }
  });

  it("reports when nobody answers", async () => {
    const nobody = openSegmentSource({ kind: "http", url: "http://127.0.0.1:1" }, LEDGER);
    expect((await failure(nobody({ from: 0, to: 1, byteOffset: 0, signal }))).message).to.contain(
      "did not answer",
    );
  });
});

describe("segments from a folder", () => {
  let folder: string;
  let source: SegmentSource;
  const lines = ["first", "second", `third ${"x".repeat(600_000)}`, "fourth"];
  const offsetOf = (index: number) => lines.slice(0, index).join("\n").length + (index > 0 ? 1 : 0);

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-segments-"));
    source = openSegmentSource({ kind: "folder", path: folder }, LEDGER);
    await writeFile(path.join(folder, "ledger.jsonl"), lines.map((line) => `${line}\n`).join(""));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("gives the entries that begin at the offset", async () => {
    for (const [from, to] of [
      [0, 4],
      [1, 3],
      [3, 4],
    ] as const) {
      const read = await source({ from, to, byteOffset: offsetOf(from), signal });
      expect(read).to.deep.equal(lines.slice(from, to));
    }
  });

  it("gives a long segment in parts", async () => {
    const parts = (lines: number, bytes: number) =>
      openSegmentSource({ kind: "folder", path: folder }, LEDGER, { part: { lines, bytes } });
    for (const [at, from, expected] of [
      [parts(3, 1 << 20), 0, 3],
      [parts(3, 1 << 20), 3, 1],
      [parts(9, 600_000), 1, 2],
      [parts(9, 1), 2, 1],
    ] as const) {
      const read = await at({ from, to: 4, byteOffset: offsetOf(from), signal });
      expect(read).to.deep.equal(lines.slice(from, from + expected));
    }
  });

  it("waits for the end of a line that is being written", async () => {
    const request = { from: 4, to: 5, byteOffset: offsetOf(4), signal };
    await appendFile(path.join(folder, "ledger.jsonl"), "fif");
    await failure(source(request));
    await appendFile(path.join(folder, "ledger.jsonl"), "th\n");
    expect(await source(request)).to.deep.equal(["fifth"]);
  });

  it("does not read a line without an end", async () => {
    const file = path.join(folder, "ledger.jsonl");
    await writeFile(file, "x".repeat(20 << 20));
    const error = await failure(source({ from: 0, to: 1, byteOffset: 0, signal }));
    expect(error.message).to.contain("has more than 16777216 bytes");
  });

  it("reports when there is no ledger", async () => {
    await rm(folder, { recursive: true });
    const error = await failure(source({ from: 0, to: 1, byteOffset: 0, signal }));
    expect(error.message).to.equal("its ledger.jsonl cannot be read (ENOENT)");
  });
});
