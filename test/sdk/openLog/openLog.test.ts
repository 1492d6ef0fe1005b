import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import type { TallystickError } from "tallystick-protocol/errors";
import { compareNodes } from "tallystick-sdk/openLog/compareNodes";
import { type DeriveNodeOptions, deriveNode } from "tallystick-sdk/openLog/deriveNode";
import { nodeLog } from "tallystick-sdk/openLog/nodeLog";
import { KeptLog } from "../../../scripts/openLog/keptLog.ts";
import type { EventLog } from "../../derive/eventLog.ts";
import { type FakeNode, fakeNode, linesOf, type PageAnswer, pageAnswer } from "./fakeNode.ts";
import { story } from "./story.ts";

describe("the log of a node", () => {
  let folder: string;
  let keep: string;
  const log = story(40);
  const texts = log.events.map((event) => `${JSON.stringify(event)}\n`);
  const nodes: FakeNode[] = [];
  let node: FakeNode;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-open-log-"));
    node = await open(log);
  });
  beforeEach(async () => {
    node.on = (_, it) => it;
    node.asked.length = 0;
    keep = path.join(folder, "log.jsonl");
    await rm(keep, { force: true });
  });
  after(async () => {
    await Promise.all(nodes.map((it) => it.close()));
    await rm(folder, { recursive: true, force: true });
  });

  async function open(of: EventLog, events?: DeriveEvent[]): Promise<FakeNode> {
    const opened = await fakeNode(of, events);
    nodes.push(opened);
    return opened;
  }

  type Options = Omit<DeriveNodeOptions, "keep"> & { keep?: string };

  async function derive({ keep: file, ...options }: Options = {}) {
    const kept = file === undefined ? undefined : await KeptLog.open(file);
    try {
      return await deriveNode(node.url, { ...options, keep: kept, trustSignatures: true });
    } finally {
      await kept?.close();
    }
  }

  const check = async (options: Options = {}) => (await derive({ ...options, check: true })).agreed;

  async function failure(work: Promise<unknown>): Promise<TallystickError> {
    const error = await work.then(
      () => undefined,
      (it) => it,
    );
    expect(error, "it went well").to.have.property("code");
    return error as TallystickError;
  }

  /** Changes the pages of the log that the node sends. */
  function onPages(change: (lines: string[], page: PageAnswer) => PageAnswer) {
    node.on = (asked, page) => (asked.startsWith("/v1/events") ? change(linesOf(page), page) : page);
  }

  const whole = (lines: string[]) => pageAnswer(lines, { after: 0, last: lines.length });

  it("gives the node's digest at every tick, and is stored byte for byte", async () => {
    expect(await check({ keep })).to.equal(40);
    expect(await readFile(keep, "utf8")).to.equal(texts.join(""));
  });

  it("is not changed in the file while another process writes a line", async () => {
    const begun = `${texts[0]}${texts[1]?.slice(0, 20)}`;
    await writeFile(keep, begun);
    const kept = await KeptLog.open(keep);
    const read: string[] = [];
    for await (const text of kept.texts()) read.push(text);
    expect(read.join("").trimEnd()).to.equal(texts[0]?.trimEnd());
    expect(await readFile(keep, "utf8")).to.equal(begun);
    await writeFile(keep, `${texts[0]}${texts[1]}`);
    expect((await failure(kept.append(["{}"]))).code).to.equal("file_changed");
    expect(await readFile(keep, "utf8")).to.equal(`${texts[0]}${texts[1]}`);
    await kept.close();
  });

  it("is continued where the file ends, even if the file ends within a line", async () => {
    await writeFile(keep, texts.slice(0, 50).join(""));
    const read: object[] = [];
    expect(await check({ keep, onProgress: (it) => read.push(it) })).to.equal(40);
    expect(read).to.deep.equal([{ kept: 50, fetched: texts.length - 50, last: texts.length }]);
    expect(node.asked.filter((it) => it.startsWith("/v1/events"))).to.deep.equal([
      "/v1/events?after=49&limit=1",
      "/v1/events?after=50&limit=5000",
    ]);
    await truncate(keep, texts.join("").length - 7);
    expect(await check({ keep })).to.equal(40);
    await appendFile(keep, '{"block":');
    expect(await check({ keep })).to.equal(40);
    expect(await readFile(keep, "utf8")).to.equal(texts.join(""));
  });

  it("is not added to the file of another log or of a longer log", async () => {
    const longer = [...texts, JSON.stringify({ block: 9_999, time: 1_999_999_999, kind: "tick" })];
    await writeFile(keep, `${longer.join("")}\n`);
    expect((await failure(derive({ keep }))).code).to.equal("other_log");
    const changed = texts.slice(0, 31);
    changed[30] = (changed[30] ?? "").replace("{", '{"odd":1,');
    await writeFile(keep, changed.join(""));
    const error = await failure(derive({ keep }));
    expect(error.code).to.equal("other_log");
    expect(error.message).to.contain("Line 31 of");
    expect(await readFile(keep, "utf8"), "the file stays as it was").to.equal(changed.join(""));
  });

  it("is refused with the tick and the lines if one line was changed on the way", async () => {
    const at = texts.findIndex((line, n) => n > 60 && line.includes('"kind":"transfer"'));
    const tick = log.events.findIndex(({ kind }, n) => n > at && kind === "tick");
    const before = log.events.findLastIndex(({ kind }, n) => n < at && kind === "tick");
    onPages((lines) =>
      whole(lines.map((line, n) => (n === at ? line.replace('"value":"5', '"value":"6') : line))),
    );
    const error = await failure(check());
    expect(error.code).to.equal("digest_differs");
    expect(error.message).to.contain(
      `The tick of block ${log.events[tick]?.block}, line ${tick + 1}, is the first that differs`,
    );
    expect(error.message).to.contain(`line ${before + 1}, they agree`);
    expect(error.hint).to.contain(`lines ${before + 2} to ${tick + 1} first`);
  });

  it("is refused with the tick if a line was left out and the next lines were numbered again", async () => {
    const at = log.events.findIndex(({ kind }, n) => n > 60 && kind === "record");
    const tick = log.events.findIndex(({ kind }, n) => n > at && kind === "tick");
    onPages((lines) => whole(lines.filter((_, n) => n !== at)));
    const error = await failure(check());
    expect(error.code).to.equal("digest_differs");
    expect(error.message).to.contain(`The tick of block ${log.events[tick]?.block}, line ${tick},`);
  });

  it("is refused with the tick if the log or the digests leave this tick out", async () => {
    const at = log.events.findIndex(({ kind }, n) => n > 60 && kind === "tick");
    const block = log.events[at]?.block;
    onPages((lines) => whole(lines.filter((_, n) => n !== at)));
    expect((await failure(check())).message).to.contain(`The tick of block ${block}, line ${at + 1},`);
    node.on = (asked, page) => {
      if (!asked.startsWith("/v1/digests")) return page;
      const { digests } = JSON.parse(page.body);
      const kept = digests.filter((it: { block: number }) => it.block !== block);
      return { ...page, body: JSON.stringify({ digests: kept, next: null }) };
    };
    const error = await failure(check());
    expect(error.message)
      .to.contain(`The tick of block ${block}, line ${at + 1},`)
      .and.contain("has no tick");
  });

  const headed = (said: string) => (lines: string[]) => ({
    ...whole(lines),
    headers: { "tallystick-lines": said },
  });
  const last = texts.length;
  for (const [what, change, problem] of [
    [
      "is cut in a line",
      (_: string[], it: PageAnswer) => ({ ...it, body: it.body.slice(0, -9) }),
      "is cut off",
    ],
    [
      "is cut between lines",
      (lines: string[], it: PageAnswer) => ({ ...it, body: whole(lines.slice(0, 9)).body }),
      "it has 9 lines",
    ],
    [
      "ends early without a reason",
      (lines: string[]) => pageAnswer(lines.slice(0, 9), { after: 0, last }),
      `ends with line 9, though line ${last} is the last`,
    ],
    ["has no lines though there are more", () => pageAnswer([], { after: 0, last }), "ends with line 0"],
    ["has other line numbers", headed(`first=2, next=${last + 2}, last=${last + 1}`), "begins with line 2"],
    ["counts its lines wrongly", headed(`first=1, next=${last}, last=${last}`), `it has ${last} lines`],
    ["has too many lines", headed(`first=1, next=${last + 1}, last=7`), "says that line 7 is the last"],
    ["does not say its lines", headed("first=1"), "does not say which lines"],
    [
      "has an empty line",
      (lines: string[]) => whole([...lines.slice(0, 4), "", ...lines.slice(4)]),
      "has no event in line 5",
    ],
    ["is out of order", (lines: string[]) => whole([...lines.slice(0, 4), ...lines.slice(2)]), "Line 5 "],
    ["has an invalid event", (lines: string[]) => whole([...lines.slice(0, 4), "{}"]), "Line 5 "],
    [
      "is not UTF-8",
      (_: string[], it: PageAnswer) => ({ ...it, body: Buffer.from([0xff, 0x0a]) as unknown as string }),
      "is no text",
    ],
  ] as const) {
    it(`is refused if a page ${what}, and nothing of this page is stored`, async () => {
      onPages(change);
      const error = await failure(derive({ keep }));
      expect(error.message).to.contain(problem);
      expect(await readFile(keep, "utf8")).to.equal("");
    });
  }

  it("is read to the end if a cache gives an earlier end, and is refused if it never ends", async () => {
    const page = (after: number, size: number, end: number) => {
      const lines = Array.from({ length: size }, (_, n) =>
        JSON.stringify({ block: 1 + after + n, time: 1_767_225_600 + after + n, kind: "tick" }),
      );
      return pageAnswer(lines, { after, last: end });
    };
    const read = async (most?: number) => {
      let lines = 0;
      for await (const text of nodeLog(node.url, { most })) lines += text.split("\n").length;
      return lines;
    };
    // A cache stored the first page when the log had 6,000 lines. Now the log has 7,000 lines.
    node.on = (asked) => (asked.includes("after=0&") ? page(0, 5_000, 6_000) : page(5_000, 2_000, 7_000));
    expect(await read()).to.equal(7_000);
    node.on = (asked) => {
      const after = Number(/after=(\d+)/.exec(asked)?.[1]);
      return page(after, 5_000, after + 5_001);
    };
    const error = await failure(read(16_000));
    expect(error.code).to.equal("log_too_long");
    expect(error.message).to.contain("20001 lines");
  });

  it("is asked for again if the node is busy; the error of a node that refuses is passed on", async () => {
    let refusals = 2;
    node.on = (_, page) =>
      refusals-- > 0 ? { status: 429, headers: { "retry-after": "0" }, body: "{}" } : page;
    expect(await check()).to.equal(40);
    refusals = Number.POSITIVE_INFINITY;
    expect((await failure(derive())).code).to.equal("http_error");
    node.on = () => ({
      status: 500,
      headers: {},
      body: JSON.stringify({ code: "internal", detail: "\u001b[2J" }),
    });
    const error = await failure(derive());
    expect(error.code).to.equal("internal");
    expect(error.message).to.contain("\\u001b[2J").and.not.contain("\u001b");
    node.on = () => ({ status: 302, headers: { location: "http://127.0.0.1:1/" }, body: "" });
    expect((await failure(derive())).code).to.equal("unreachable");
  });

  it("is refused with impossible digests", async () => {
    const digest = `0x${"ab".repeat(32)}`;
    const tick = { block: 4, time: 1, digest, line: 4 };
    for (const body of [
      "no JSON",
      { digests: [{ ...tick, digest: "0x1" }], next: null },
      { digests: [tick, tick], next: null },
      { digests: [tick, { ...tick, block: 5 }], next: null },
      { digests: [{ ...tick, block: 1e9 }], next: null },
      { digests: [], next: 3 },
      { digests: [tick], next: 4 },
    ]) {
      node.on = (asked, page) =>
        asked.startsWith("/v1/digests")
          ? { ...page, body: typeof body === "string" ? body : JSON.stringify(body) }
          : page;
      const error = await failure(check());
      // The first tick of the story is in another block. So a page that may be valid is reported as a difference.
      expect(error.code, JSON.stringify(body)).to.be.oneOf(["bad_answer", "digest_differs"]);
    }
  });

  describe("compared with other nodes", () => {
    it("agrees if the digests agree, even if one node begins later or is behind", async () => {
      const other = await open(log);
      expect(await compareNodes([node.url, other.url])).to.deep.equal({
        ticks: 40,
        block: log.events.at(-1)?.block,
        difference: null,
      });
      const blocks = log.events.filter(({ kind }) => kind === "tick").map(({ block }) => block);
      other.on = (_, page) => {
        const { digests } = JSON.parse(page.body);
        return { ...page, body: JSON.stringify({ digests: digests.slice(3, 30), next: null }) };
      };
      expect(await compareNodes([node.url, other.url])).to.deep.equal({
        ticks: 27,
        block: blocks[29],
        difference: null,
      });
    });

    it("is read only at the ticks that the other nodes may have too", async () => {
      const other = await open(log);
      /**
       * Serves these digests two at a time. The other node first has no digests, then only those from a later time on,
       * then only two digests that the first node does not have.
       */
      const inTwos = (asked: string, page: PageAnswer, some: (all: Tick[]) => Tick[]) => {
        const from = Number(/from=(\d+)/.exec(asked)?.[1]);
        const found = some(JSON.parse(page.body).digests).filter(({ block }) => block >= from);
        const body = JSON.stringify({ digests: found.slice(0, 2), next: found[2]?.block ?? null });
        return { ...page, body };
      };
      type Tick = { block: number };
      node.on = (asked, page) => inTwos(asked, page, (all) => all);
      other.on = (asked, page) => inTwos(asked, page, () => []);
      const none = await failure(compareNodes([node.url, other.url]));
      expect(none.code).to.equal("nothing_in_common");
      expect(none.message).to.contain(`${other.url} has no final tick yet`);
      expect(node.asked).to.have.length(1);
      const begins = log.events.filter(({ kind }) => kind === "tick")[30]?.block ?? 0;
      other.on = (asked, page) => inTwos(asked, page, (all) => all.filter(({ block }) => block >= begins));
      node.asked.length = 0;
      expect((await compareNodes([node.url, other.url])).ticks).to.equal(10);
      // One page for the other node's first tick, and five pages with two ticks each.
      expect(node.asked).to.have.length(6);
      const last = log.events.at(-1)?.block ?? 0;
      other.on = (asked, page) =>
        inTwos(asked, page, (all) => all.slice(-2).map((it, n) => ({ ...it, block: last + 5 + n })));
      node.asked.length = 0;
      expect((await failure(compareNodes([node.url, other.url]))).code).to.equal("nothing_in_common");
      expect(node.asked).to.have.length(2);
    });

    it("differs at the first different tick, and at the first different line", async () => {
      const at = log.events.findIndex(({ kind }, n) => n > 60 && kind === "transfer");
      const changed = story(40);
      // biome-ignore lint/suspicious/noExplicitAny: the value of a transfer
      (changed.events[at] as any).value = "777";
      const other = await open(changed);
      const third = await open(log);
      const tick = log.events.findIndex(({ kind }, n) => n > at && kind === "tick");
      const { difference, ticks } = await compareNodes([node.url, third.url, other.url]);
      expect(difference?.block).to.equal(log.events[tick]?.block);
      expect(ticks).to.equal(log.events.slice(0, tick).filter(({ kind }) => kind === "tick").length);
      expect(difference?.line).to.deep.equal({
        line: at + 1,
        texts: [
          [node.url, texts[at]?.trimEnd()],
          [other.url, JSON.stringify(changed.events[at])],
        ],
      });
    });

    it("may differ at a line before the tick with the effect, or at a tick and at no line", async () => {
      const other = await open(log);
      const block = log.events.findLast(({ kind }) => kind === "tick")?.block;
      const lying = (page: PageAnswer) =>
        page.body.replace(/"digest":"0x.{64}("[^{]*)$/, `"digest":"0x${"0".repeat(64)}$1`);
      other.on = (asked, page) => {
        if (asked.startsWith("/v1/digests")) return { ...page, body: lying(page) };
        const after = Number(/after=(\d+)/.exec(asked)?.[1]);
        const lines = linesOf(page).map((line, n) => (after + n === 11 ? "{}" : line));
        return { ...page, body: whole(lines).body };
      };
      const late = await compareNodes([node.url, other.url]);
      expect(late.difference?.block).to.equal(block);
      expect(late.difference?.line?.line).to.equal(12);
      other.on = (asked, page) => (asked.startsWith("/v1/digests") ? { ...page, body: lying(page) } : page);
      const silent = await compareNodes([node.url, other.url]);
      expect(silent.difference).to.include({ block, line: null });
    });
  });
});
