import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import {
  createHypersyncSource,
  type HypersyncSourceOptions,
} from "../../../indexer/logPort/hypersync/createHypersyncSource.ts";
import type { Call, LogKind, SourceRequest } from "../../../indexer/logPort/logPort.ts";
import { FakeChain, OTHER_TOKEN, TOKEN, type Written, wallet, ZERO } from "./support/fakeChain.ts";
import {
  type HypersyncMisbehaviour,
  type HypersyncServer,
  startHypersyncServer,
} from "./support/hypersyncServer.ts";

const [ALICE, BOB, CAROL] = [wallet(1), wallet(2), wallet(3)];
const CALL: Call = { signal: new AbortController().signal, deadlineMs: 120_000 };
const pay = (from: Address, to: Address, value = 1n): Written => ({ from, to, value });

describe("the HyperSync source of token logs", () => {
  let server: HypersyncServer;
  let waits: number[];
  let counted: SourceRequest[];
  const chain = new FakeChain([
    [pay(ZERO, ALICE, 1_000n)],
    ...Array.from({ length: 119 }, (_, n): Written[] => [
      pay(wallet(100 + n), wallet(300 + n)),
      ...(n % 3 === 0
        ? [{ authorizer: ALICE, nonce: `0x${"5".repeat(64)}` } as const, pay(ALICE, BOB, 2n)]
        : []),
      ...(n % 5 === 0 ? [pay(BOB, CAROL), { ...pay(BOB, CAROL), token: OTHER_TOKEN }] : []),
    ]),
  ]);
  const whole = { from: 0, to: chain.head };

  before(async () => {
    server = await startHypersyncServer(chain);
  });
  after(() => server.close());
  beforeEach(() => {
    server.reset(chain);
    waits = [];
    counted = [];
  });

  const open = (more: Partial<HypersyncSourceOptions> = {}) =>
    createHypersyncSource({
      url: server.url,
      token: TOKEN,
      sleep: async (milliseconds) => void waits.push(milliseconds),
      onRequest: (request) => counted.push(request),
      ...more,
    });
  const query = (kind: LogKind, ...wallets: Address[]) => ({ kind, wallets });
  const asked = query("transfersTo", ALICE, BOB, CAROL);
  const reads = async (more: Partial<HypersyncSourceOptions> = {}) => {
    const { logs, end } = await open(more).history(asked, whole, CALL);
    expect(logs).to.deep.equal(chain.find(asked, whole));
    expect(end).to.deep.equal({ block: chain.head, hash: chain.at(chain.head).hash });
  };
  const fails = async (more: Partial<HypersyncSourceOptions> = {}) => {
    const error = await open(more)
      .history(asked, whole, CALL)
      .then(
        () => expect.fail("answered"),
        (error) => error,
      );
    return error as Error & { code: string };
  };

  it("reads each kind of log, with as many requests as are needed", async () => {
    for (const it of [
      query("transfersTo", BOB, BOB, CAROL),
      query("transfersFrom", ALICE),
      query("authorizationsBy", ALICE),
    ]) {
      server.reset(chain);
      const { logs } = await open().history(it, { from: 3, to: 118 }, CALL);
      expect(logs).to.deep.equal(chain.find(it, { from: 3, to: 118 }));
      expect(server.requests.flatMap(({ logs, from_block }) => (logs ? [from_block] : []))).to.deep.equal([
        3, 53, 103,
      ]);
    }
  });

  it("asks for a limited number of logs in one answer, and goes on where it ended", async () => {
    server.blocks = 1_000;
    await reads();
    const inOne = server.requests.length;
    expect(server.requests[0]?.max_num_logs).to.equal(50_000);
    server.requests.length = 0;
    await reads({ logsPerAnswer: 10 });
    expect(server.requests.length).to.be.above(inOne + 8);
  });

  it("reports its last block, and sends a token in the server's form", async () => {
    expect(await open().finalizedHead(CALL)).to.deep.equal({ block: 120, hash: chain.at(120).hash });
    expect(new Set(server.credentials)).to.deep.equal(new Set([undefined]));
    server.reset(chain);
    await reads({ apiToken: "envio-token" });
    expect(new Set(server.credentials)).to.deep.equal(new Set(["Bearer envio-token"]));
  });

  it("asks for thousands of wallets in several requests, and leaves out a wallet that has enough logs", async () => {
    server.blocks = 1_000;
    const many = query("transfersTo", ...Array.from({ length: 700 }, (_, n) => wallet(n)));
    const { logs } = await open({ walletsPerRequest: 300 }).history(many, whole, CALL);
    expect(logs).to.deep.equal(chain.find(many, whole));
    expect(server.requests.filter(({ logs }) => logs !== undefined)).to.have.length(3);
    server.reset(chain);
    const some = await open().history(asked, whole, { ...CALL, limit: 4 });
    expect(some.logs).to.deep.equal(chain.find(asked, whole, 4));
    expect(
      server.requests.filter(({ logs }) => logs !== undefined).at(-1)?.logs?.[0]?.topics[2],
    ).to.have.length(1);
  });

  it("asks again while a server does not answer, and waits as long as the server says", async () => {
    for (const how of [
      { status: 429, headers: { "retry-after": "7" } },
      { status: 503, text: "{}" },
      { status: 408 },
      { text: '{"data":[' },
    ] satisfies HypersyncMisbehaviour[]) {
      server.reset(chain);
      server.behave = (_, n) => (n === 1 || n === 3 ? how : undefined);
      await reads();
    }
    expect(waits.filter((wait) => wait === 7_000)).to.have.length(2);
    expect(counted.filter(({ outcome }) => outcome === "limited")).to.have.length(2);
    server.reset(chain);
    server.behave = (_, n) => (n === 0 ? { hang: true } : undefined);
    // On a busy machine other attempts may take too long too.
    await reads({ timeoutMs: 1_000, attempts: 100 });
    server.reset(chain);
    server.behave = () => ({ status: 500 });
    expect(await fails({ attempts: 2 })).to.include({ code: "source_unavailable" });
  });

  it("does not ask again after a refusal, and follows no redirect", async () => {
    server.behave = () => ({ status: 401, text: "no token" });
    expect(await fails()).to.include({ code: "source_refused" });
    expect(server.requests).to.have.length(1);
    server.reset(chain);
    server.behave = () => ({ status: 302, headers: { location: "http://169.254.169.254/" } });
    expect(await fails({ attempts: 1 })).to.include({ code: "source_unavailable" });
    server.reset(chain);
    expect(await fails({ mostAnswerBytes: 900 })).to.include({ code: "source_bad_answer" });
  });

  const lies: [string, HypersyncMisbehaviour["edit"], string, RegExp][] = [
    ["does not advance", (it) => ({ ...it, next_block: 0 }), "source_bad_answer", /next_block/],
    ["advances too far", (it) => ({ ...it, next_block: 200 }), "source_bad_answer", /next_block/],
    ["has no next block", (it) => ({ ...it, next_block: undefined }), "source_bad_answer", /next_block/],
    ["is a list", () => [], "source_bad_answer", /answer/],
    ["has rows that are no objects", (it) => ({ ...it, data: [7] }), "source_bad_answer", /data\[0\]/],
    [
      "has a transfer of another wallet",
      (it) => {
        for (const log of it.data[0].logs) log.topic2 = `0x${"0".repeat(24)}${"ab".repeat(20)}`;
      },
      "source_bad_answer",
      /not asked for/,
    ],
    [
      "has a transfer of another token",
      (it) => {
        for (const log of it.data[0].logs) log.address = OTHER_TOKEN;
      },
      "source_bad_answer",
      /address/,
    ],
    [
      "has a transfer twice",
      (it) => void it.data[1].logs.push(...it.data[0].logs),
      "source_bad_answer",
      /twice/,
    ],
    [
      "has a block with two hashes",
      (it) => void it.data[0].blocks.push({ ...it.data[0].blocks[0], hash: `0x${"e".repeat(64)}` }),
      "source_bad_answer",
      /blocks\[\d+\]\.hash/,
    ],
    [
      "has a transfer in a block with another hash",
      (it) => {
        for (const log of it.data[0].logs) log.block_hash = `0x${"e".repeat(64)}`;
      },
      "source_bad_answer",
      /block_hash/,
    ],
  ];
  for (const [what, edit, code, message] of lies) {
    it(`refuses an answer that ${what}, and names the field`, async () => {
      server.behave = (query) => (query?.logs === undefined ? undefined : { edit: (it) => edit?.(it) ?? it });
      const error = await fails();
      expect(error).to.include({ code });
      expect(error.message).to.match(message);
    });
  }

  it("notices that two servers behind one address are on two chains, or that one of them is behind the other", async () => {
    const fork = chain.fork(
      40,
      Array.from({ length: 80 }, () => []),
    );
    server.behave = (_, n) => (n === 2 ? { chain: fork } : undefined);
    expect(await fails()).to.include({ code: "source_orphaned_block" });
    server.reset(chain);
    // The answer for the second group of wallets is from the other chain.
    server.blocks = 1_000;
    server.behave = (_, n) => (n >= 2 ? { chain: fork } : undefined);
    expect(await fails({ walletsPerRequest: 2 })).to.include({ code: "source_orphaned_block" });
    server.reset(chain);
    server.height = 60;
    expect(await fails()).to.include({ code: "source_behind" });
    server.reset(chain);
    // One server gives the height, and another server is asked for the block.
    server.behave = (asked) => (asked === null ? undefined : { height: 119 });
    const head = await open()
      .finalizedHead(CALL)
      .catch((error) => error);
    expect(head).to.include({ code: "source_behind" });
  });
});
