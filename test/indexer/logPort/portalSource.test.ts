import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Call, LogKind, SourceRequest } from "../../../indexer/logPort/logPort.ts";
import {
  createPortalSource,
  type PortalSourceOptions,
} from "../../../indexer/logPort/portal/createPortalSource.ts";
import { FakeChain, TOKEN, type Written, wallet, ZERO } from "./support/fakeChain.ts";
import { type PortalMisbehaviour, type PortalServer, startPortalServer } from "./support/portalServer.ts";

const [ALICE, BOB, CAROL] = [wallet(1), wallet(2), wallet(3)];
const CALL: Call = { signal: new AbortController().signal, deadlineMs: 120_000 };
const pay = (from: Address, to: Address, value = 1n): Written => ({ from, to, value });

describe("the portal source of token logs", () => {
  let server: PortalServer;
  let waits: number[];
  let counted: SourceRequest[];
  const chain = new FakeChain([
    [pay(ZERO, ALICE, 1_000n)],
    ...Array.from({ length: 119 }, (_, n): Written[] => [
      pay(wallet(100 + n), wallet(300 + n)),
      ...(n % 3 === 0
        ? [{ authorizer: ALICE, nonce: `0x${"5".repeat(64)}` } as const, pay(ALICE, BOB, 2n)]
        : []),
      ...(n % 5 === 0 ? [pay(BOB, CAROL)] : []),
    ]),
  ]);
  const whole = { from: 0, to: chain.head };

  before(async () => {
    server = await startPortalServer(chain);
  });
  after(() => server.close());
  beforeEach(() => {
    server.reset(chain);
    waits = [];
    counted = [];
  });

  const open = (more: Partial<PortalSourceOptions> = {}) =>
    createPortalSource({
      url: server.url,
      token: TOKEN,
      sleep: async (milliseconds) => void waits.push(milliseconds),
      onRequest: (request) => counted.push(request),
      ...more,
    });
  const query = (kind: LogKind, ...wallets: Address[]) => ({ kind, wallets });
  const reads = async (more: Partial<PortalSourceOptions> = {}) => {
    const asked = query("transfersTo", ALICE, BOB, CAROL);
    const { logs, end } = await open(more).history(asked, whole, CALL);
    expect(logs).to.deep.equal(chain.find(asked, whole));
    expect(end).to.deep.equal({ block: chain.head, hash: chain.at(chain.head).hash });
  };
  const failure = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => expect.fail("answered"),
      (error) => error,
    );
    return error as Error & { code: string };
  };

  it("reads each kind of log, with as many streams as are needed", async () => {
    for (const asked of [
      query("transfersTo", BOB, BOB, CAROL),
      query("transfersFrom", ALICE),
      query("authorizationsBy", ALICE),
    ]) {
      server.reset(chain);
      const { logs } = await open().history(asked, { from: 3, to: 118 }, CALL);
      expect(logs).to.deep.equal(chain.find(asked, { from: 3, to: 118 }));
      expect(server.requests).to.have.length(3);
      // Each request begins after the last line of the previous stream, and names the hash of that line's block.
      expect(server.requests[1]).to.include({ fromBlock: 43, parentBlockHash: chain.at(42).hash });
      expect(server.requests[0]).not.to.have.property("parentBlockHash");
    }
  });

  it("reports the portal's last final block, and sends a key in the portal's form", async () => {
    expect(await open().finalizedHead(CALL)).to.deep.equal({ block: 120, hash: chain.at(120).hash });
    expect(server.credentials).to.deep.equal([undefined]);
    await reads({ apiKey: "sqd_key" });
    expect(new Set(server.credentials.slice(1))).to.deep.equal(new Set(["Bearer sqd_key"]));
  });

  it("asks for thousands of wallets in bodies of an accepted size", async () => {
    const wallets = Array.from({ length: 7_000 }, (_, n) => wallet(n));
    const asked = query("transfersTo", ...wallets);
    server.chunk = 1_000;
    expect((await open().history(asked, whole, CALL)).logs).to.deep.equal(chain.find(asked, whole));
    expect(server.requests).to.have.length(3);
  });

  it("leaves out a wallet that has enough logs", async () => {
    const asked = query("transfersTo", BOB, CAROL);
    const { logs } = await open().history(asked, whole, { ...CALL, limit: 4 });
    expect(logs).to.deep.equal(chain.find(asked, whole, 4));
    expect(server.requests.at(-1)?.logs[0]?.topic2).to.have.length(1);
    expect(server.requests.at(-1)?.fromBlock).to.be.below(40);
  });

  it("makes a new request if an answer gets too long, and refuses a line that is too long", async () => {
    server.chunk = 1_000;
    await reads();
    expect(server.requests).to.have.length(1);
    await reads({ maxAnswerBytes: 2_000 });
    expect(server.requests.length).to.be.above(2);
    const error = await failure(open({ maxLineBytes: 300 }).history(query("transfersTo", BOB), whole, CALL));
    expect(error).to.include({ code: "source_bad_answer" });
    expect(error.message).to.contain("300 bytes");
  });

  describe("when a portal misbehaves for a while", () => {
    const once = (misbehaviour: PortalMisbehaviour, at = [0, 2, 3]) => {
      server.behave = (asked, n) => (asked !== null && at.includes(n) ? misbehaviour : undefined);
    };
    it("waits as long as a 429, a 529 or a 503 says", async () => {
      for (const status of [429, 529, 503]) {
        server.reset(chain);
        once({ status, headers: { "retry-after": "10" } });
        await reads();
      }
      expect(new Set(waits)).to.deep.equal(new Set([10_000]));
      expect(counted.filter(({ outcome }) => outcome === "limited")).to.have.length(6);
    });
    it("asks again after 500, 502 and a silent portal", async () => {
      for (const status of [500, 502]) {
        server.reset(chain);
        once({ status, text: "{}" });
        await reads();
      }
      server.reset(chain);
      once({ hang: true }, [1]);
      // On a busy machine other attempts may take too long too.
      await reads({ timeoutMs: 1_000, attempts: 100 });
    });
    it("continues after the last whole line of a stream that breaks, at any byte", async () => {
      for (const cutAt of [0, 1, 90, 91, 500, 501, 733]) {
        for (const clean of [true, false]) {
          server.reset(chain);
          once({ cutAt, clean });
          await reads();
        }
      }
    });
    it("waits for a portal that does not have the blocks yet", async () => {
      once({ final: 20 }, [1, 2]);
      await reads();
      expect(counted.filter(({ outcome }) => outcome === "stale")).to.have.length(2);
    });
    it("reads streams that end after one block each", async () => {
      server.chunk = 1;
      await reads();
      expect(server.requests).to.have.length(121);
    });
    it("gives up after a number of attempts without progress, and does not count attempts with progress", async () => {
      server.behave = (_, n) => (n % 2 === 0 ? { status: 500 } : { blocks: 5 });
      await reads({ attempts: 2 });
      server.behave = () => ({ cutAt: 0, clean: true });
      const error = await failure(open({ attempts: 3 }).history(query("transfersTo", BOB), whole, CALL));
      expect(error.code).to.equal("source_unavailable");
    });
  });

  describe("fails", () => {
    const code = async (behave: PortalServer["behave"], range = whole) => {
      server.behave = behave;
      const error = await failure(open().history(query("transfersTo", ALICE, BOB), range, CALL));
      expect(error.message).to.match(/^portal:127\.0\.0\.1:\d+: /);
      return error.code;
    };
    it("at once when it is refused", async () => {
      for (const status of [400, 401, 403, 404]) {
        expect(await code(() => ({ status, text: '{"error":{"code":"malformed_request"}}' }))).to.equal(
          "source_refused",
        );
      }
      expect(server.requests).to.have.length(4);
    });
    it("when the range is not final there", async () => {
      server.reset(chain, 100);
      expect(await code(() => undefined)).to.equal("source_behind");
    });
    it("when another chain answers the second request", async () => {
      const forked = chain.fork(
        30,
        Array.from({ length: 90 }, () => []),
      );
      expect(await code((_, n) => (n > 0 ? { chain: forked } : undefined))).to.equal("source_orphaned_block");
    });
    it("at its deadline", async () => {
      server.behave = () => ({ hang: true });
      const error = await failure(
        open().history(query("transfersTo", BOB), whole, { ...CALL, deadlineMs: 30 }),
      );
      expect(error.code).to.equal("source_deadline");
    });

    const line = (
      change: (block: {
        header: { [name: string]: unknown };
        logs?: { [name: string]: unknown }[];
      }) => unknown,
      at = 2,
    ) => ({
      edit: (lines: string[]) =>
        lines.map((it, n) => (n === at ? JSON.stringify(change(JSON.parse(it))) : it)),
    });
    const inLog = (change: (log: { [name: string]: unknown; topics: string[] }) => object, at = 2) =>
      line((it) => ({ ...it, logs: it.logs?.map((log) => change(log as never)) }), at);
    const wrong: { [what: string]: PortalMisbehaviour } = {
      "without the first block": { edit: (lines) => lines.slice(1) },
      "with blocks out of order": {
        edit: (lines) => [...lines.slice(0, 3), ...lines.slice(0, 1), ...lines.slice(3)],
      },
      "with a block twice": { edit: (lines) => [...lines.slice(0, 3), ...lines.slice(2)] },
      "with a block beyond the range": line((it) => ({ ...it, header: { ...it.header, number: 121 } })),
      "with a number that is text": line((it) => ({ ...it, header: { ...it.header, number: "0x2" } })),
      "without a hash": line((it) => ({ ...it, header: { ...it.header, hash: undefined } })),
      "without a time": line((it) => ({ ...it, header: { ...it.header, timestamp: null } })),
      "with a line that is no JSON": { edit: (lines) => lines.map((it, n) => (n === 2 ? it.slice(1) : it)) },
      "with a line that is a list": line(() => []),
      "with logs that are no list": line((it) => ({ ...it, logs: "none" })),
      "with a log of another wallet": inLog((log) => ({
        ...log,
        topics: [log.topics[0], log.topics[1], log.topics[1]?.replace(/1$/, "9")],
      })),
      "with a log of another token": inLog((log) => ({ ...log, address: ZERO })),
      "with a log of another event": inLog((log) => ({
        ...log,
        topics: [`0x${"1".repeat(64)}`, ...log.topics.slice(1)],
      })),
      "with a log twice": line((it) => ({ ...it, logs: [...(it.logs ?? []), ...(it.logs ?? [])] })),
      "with a value that is a number": inLog((log) => ({ ...log, data: 2 })),
      "with an index below zero": inLog((log) => ({ ...log, logIndex: -1 })),
    };
    for (const [what, misbehaviour] of Object.entries(wrong)) {
      it(`on a stream ${what}`, async () => {
        expect(await code(() => misbehaviour)).to.equal("source_bad_answer");
      });
    }
  });
});
