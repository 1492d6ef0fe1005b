import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { expect } from "chai";
import {
  type FetchBytesParameters,
  fetchBytes,
  NotThereError,
  TransientError,
} from "../../../services/settlement/ledger/fetchBytes.ts";
import { fetchLedgerLines } from "../../../services/settlement/ledger/fetchLedgerLines.ts";

type Answer = () => Response | Promise<Response>;

/** Replaces the network by `answers`, in their order; the last one is given again. */
function useAnswers() {
  const real = globalThis.fetch;
  const network = { answers: [] as Answer[], asked: [] as { url: string; init: RequestInit }[] };
  beforeEach(() => {
    [network.answers, network.asked] = [[], []];
    globalThis.fetch = (async (url: string, init: RequestInit) => {
      network.asked.push({ url, init });
      const next = network.answers.length > 1 ? network.answers.shift() : network.answers[0];
      return next?.();
    }) as never;
  });
  afterEach(() => {
    globalThis.fetch = real;
  });
  return network;
}
const says =
  (body: string, status = 200) =>
  () =>
    new Response(body, { status });
const breaks =
  (code?: string): Answer =>
  async () => {
    const cause = code === undefined ? undefined : Object.assign(new Error("socket"), { code });
    throw new TypeError("fetch failed", { cause });
  };

describe("a page that is fetched", () => {
  const network = useAnswers();
  const get = (more: Partial<FetchBytesParameters<string>> = {}) =>
    fetchBytes({
      ...{ url: "https://log.example/x", most: 5, pauseMs: 0, read: (bytes: Buffer) => bytes.toString() },
      ...more,
    });
  const fault = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => expect.fail("it was read"),
      (error) => error,
    );

  it("is read once if the server gives it, and no redirect is followed", async () => {
    network.answers = [says("12345")];
    expect(await get()).to.equal("12345");
    expect(network.asked.map(({ url, init }) => [url, init.redirect])).to.deep.equal([
      ["https://log.example/x", "manual"],
    ]);
  });

  it("is refused if it is longer than allowed, without another attempt", async () => {
    network.answers = [says("123456")];
    const error = await fault(get());
    expect(error).not.to.be.instanceOf(TransientError);
    expect(error.message).to.equal("its answer is longer than 5 bytes");
    expect(network.asked).to.have.length(1);
  });

  it("is not there with 403, 404 and 410", async () => {
    for (const status of [403, 404, 410]) {
      network.asked = [];
      network.answers = [says("", status)];
      const error = await fault(get());
      expect(error).to.be.instanceOf(NotThereError).with.property("message", `it answers ${status}`);
      expect(network.asked).to.have.length(1);
    }
  });

  it("is not fetched from another address", async () => {
    for (const status of [300, 302, 308, 399]) {
      network.answers = [() => ({ ok: false, status, body: null }) as Response];
      const error = await fault(get());
      expect(error.message, String(status)).to.equal(
        `it answers ${status}: redirects are not followed, name the address that it leads to`,
      );
      expect(error).not.to.be.instanceOf(NotThereError);
    }
    expect(network.asked).to.have.length(4);
  });

  it("is not asked for again after an answer that another attempt does not change", async () => {
    for (const status of [400, 401, 405, 428, 430, 499]) {
      network.asked = [];
      network.answers = [says("", status)];
      const error = await fault(get());
      expect(error.message).to.equal(`it answers ${status}`);
      expect([error instanceof TransientError, error instanceof NotThereError]).to.deep.equal([false, false]);
      expect(network.asked).to.have.length(1);
    }
  });

  it("is asked for five times after a fault that may pass", async () => {
    for (const [answer, message] of [
      [says("", 429), "it answers 429"],
      [says("", 500), "it answers 500"],
      [says("", 503), "it answers 503"],
      [breaks("ECONNREFUSED"), "it does not answer (ECONNREFUSED)"],
      [breaks(), "it does not answer (TypeError)"],
    ] as const) {
      network.asked = [];
      network.answers = [answer];
      const error = await fault(get());
      expect(error).to.be.instanceOf(TransientError).with.property("message", message);
      expect(network.asked, message).to.have.length(5);
      network.asked = [];
      network.answers = [answer, answer, answer, answer, says("five")];
      expect(await get()).to.equal("five");
    }
  });

  it("is asked for again if its answer breaks off, or its reader says that it is incomplete", async () => {
    const torn = () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(Buffer.from("12"));
            controller.error(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
          },
        }),
      );
    network.answers = [torn];
    expect((await fault(get())).message).to.equal("its answer broke off (ECONNRESET)");
    network.answers = [says("half"), says("whole")];
    const read = (bytes: Buffer) => {
      if (bytes.toString() === "half") throw new TransientError("half");
      return "read";
    };
    expect(await get({ read })).to.equal("read");
    network.asked = [];
    network.answers = [says("half")];
    const refuse = () => {
      throw new RangeError("never");
    };
    expect(await fault(get({ read: refuse }))).to.be.instanceOf(RangeError);
    expect(network.asked).to.have.length(1);
  });

  it("is asked for after pauses that double, the first of half a second by default", async () => {
    const { setTimeout } = timers;
    const waits: number[] = [];
    timers.setTimeout = (async (ms: number) => void waits.push(ms)) as never;
    syncBuiltinESMExports();
    try {
      network.answers = [says("", 500)];
      await fault(get({ pauseMs: undefined }));
      await fault(get({ pauseMs: 10 }));
    } finally {
      timers.setTimeout = setTimeout;
      syncBuiltinESMExports();
    }
    expect(waits).to.deep.equal([500, 1_000, 2_000, 4_000, 10, 20, 40, 80]);
  });

  it("is given up with the reason of the signal, before, during and between attempts", async () => {
    const reason = new Error("the service stops");
    network.answers = [says("12")];
    expect(await fault(get({ signal: AbortSignal.abort(reason) }))).to.equal(reason);
    expect(network.asked).to.have.length(0);
    const end = new AbortController();
    network.answers = [
      () => {
        end.abort(reason);
        throw new TypeError("aborted");
      },
    ];
    expect(await fault(get({ signal: end.signal }))).to.equal(reason);
    expect(network.asked).to.have.length(1);
    expect(network.asked[0]?.init.signal?.aborted).to.equal(true);
    const later = new AbortController();
    network.answers = [says("", 500)];
    const pausing = fault(get({ signal: later.signal, pauseMs: 60_000 }));
    while (network.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    later.abort(reason);
    expect(await pausing).to.satisfy((error: Error) => error === reason || error.cause === reason);
  });

  it("has a limit of time", async () => {
    network.answers = [
      () =>
        new Promise((_, reject) => {
          const signal = network.asked.at(-1)?.init.signal as AbortSignal;
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
      says("12"),
    ];
    // The timer of such a signal alone does not keep the process alive.
    const alive = setInterval(() => {}, 1_000);
    try {
      expect(await get({ timeoutMs: 1 })).to.equal("12");
    } finally {
      clearInterval(alive);
    }
  });
});

describe("the lines of a ledger that are fetched", () => {
  const network = useAnswers();
  const id = `0x${"ab".repeat(32)}` as const;
  const all = async (from: number, to: number, signal?: AbortSignal): Promise<Buffer[][]> => {
    const pages: Buffer[][] = [];
    const of = { baseUrl: "https://log.example", ledgerId: id, from, to, pauseMs: 0 };
    for await (const page of fetchLedgerLines({ ...of, ...(signal && { signal }) })) pages.push(page);
    return pages;
  };
  const lines = (count: number) => "x\n".repeat(count);
  const at = (from: number, to: number) =>
    `https://log.example/v1/ledger/entries?ledger=${id}&from=${from}&to=${to}`;

  it("come in pages of at most 256, and the next page begins where the last one ended", async () => {
    network.answers = [says(lines(256)), says(lines(10)), says("a\nbc\n")];
    const pages = await all(3, 271);
    expect(pages.map((page) => page.length)).to.deep.equal([256, 10, 2]);
    expect(pages[2]?.map(String)).to.deep.equal(["a", "bc"]);
    expect(network.asked.map(({ url }) => url)).to.deep.equal([at(3, 259), at(259, 271), at(269, 271)]);
    expect(await all(5, 5)).to.deep.equal([]);
    expect(network.asked).to.have.length(3);
  });

  it("are taken as far as they are complete, and asked for again if there is none", async () => {
    network.answers = [says("a\nb"), says("b"), says("b\n")];
    expect((await all(0, 2)).flat().map(String)).to.deep.equal(["a", "b"]);
    expect(network.asked.map(({ url }) => url)).to.deep.equal([at(0, 2), at(1, 2), at(1, 2)]);
  });

  it("are refused if the server gives none, more than it was asked for, or too much", async () => {
    const hint = "Ask another follower or replica. It must follow this ledger and have its last anchor.";
    const begin = "https://log.example does not give the entries from 7 on: ";
    for (const [answer, reason, attempts] of [
      [says(""), "it returns no entry", 5],
      [says(lines(3)), "it returns 3 entries, but 2 were asked for", 1],
      [says("", 404), "it answers 404", 1],
    ] as const) {
      network.asked = [];
      network.answers = [answer];
      const error = await all(7, 9).catch((it) => it);
      expect(error).to.include({ code: "source_unavailable", message: begin + reason, hint });
      expect(error.cause).to.be.instanceOf(Error);
      expect(network.asked).to.have.length(attempts);
    }
    network.answers = [says(lines(2))];
    expect(await all(7, 9)).to.have.length(1);
    const most = 256 * 65_536;
    network.answers = [says("x".repeat(most + 1))];
    expect((await all(0, 9).catch((it) => it)).message).to.contain(`longer than ${most} bytes`);
    network.answers = [says(`${"x".repeat(most - 1)}\n`)];
    expect((await all(0, 1))[0]?.[0]).to.have.length(most - 1);
  });

  it("are given up with the reason of the signal", async () => {
    const reason = new Error("the service stops");
    network.answers = [says("", 404)];
    expect(await all(0, 1, AbortSignal.abort(reason)).catch((it) => it)).to.equal(reason);
  });
});
