import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import type { Hex } from "tallystick-protocol/hex";
import { fromHex, toHex } from "tallystick-protocol/hex";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { formatSignedNote, noteVerifierKey, signNote } from "tallystick-protocol/note/signedNote";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { readLastSigned, writeLastSigned } from "../../../services/settlement/ledger/lastSigned.ts";
import { pullLedger } from "../../../services/settlement/ledger/pullLedger.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const LEDGER = `0x${"1e".repeat(32)}` as const;
const SIZE = 600;

describe("a ledger that is pulled from a follower", () => {
  const temporary = temporaryFolder();
  const folder = () => path.join(temporary.path, "mine");
  const target = () => path.join(folder(), "ledger.jsonl");
  let lines: string[];
  let roots: Hex[];
  let server: Server;
  let asked: string[];
  /** Answers the request for a page. Some tests replace it by a source that misbehaves. */
  let answer: (page: string[], from: number, ...rest: Parameters<RequestListener>) => void;
  let baseUrl: string;

  before(async () => {
    server = createServer((request, response) => {
      const query = new URL(request.url ?? "", "http://ledger").searchParams;
      asked.push(request.url ?? "");
      const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
      answer(lines.slice(from, to), from, request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());
  beforeEach(async () => {
    asked = [];
    answer = (page, _from, _request, response) => response.end(page.map((line) => `${line}\n`).join(""));
    const whole = await DiskLedger.open({ folder: path.join(temporary.path, "whole") });
    const settled = Array.from({ length: SIZE }, (_, n) =>
      whole.append({ timestamp: 1_767_225_600 + n, taskId: `task-${n}`, payload: { n: BigInt(n) } }),
    );
    await Promise.all(settled.map(({ durable }) => durable));
    roots = Array.from({ length: SIZE + 1 }, (_, size) => toHex(whole.tree.root(size)));
    await whole.close();
    lines = readFileSync(whole.path, "latin1").trimEnd().split("\n");
    await (await DiskLedger.open({ folder: folder() })).close();
  });

  const anchored = (size: number) => ({ size, root: roots[size] as Hex });
  const have = (text: string) => writeFileSync(target(), text, "latin1");
  const text = (from: number, to: number) =>
    lines
      .slice(from, to)
      .map((line) => `${line}\n`)
      .join("");
  const pull = (size: number, more = {}) =>
    pullLedger({
      folder: folder(),
      baseUrl,
      ledgerId: LEDGER,
      anchored: anchored(size),
      pauseMs: 1,
      ...more,
    });
  const refusal = (action: Promise<unknown>): Promise<string> =>
    action.then(
      () => "pulled",
      (error) => error.code,
    );

  it("has the anchored entries after everything was lost", async () => {
    const result = await pull(550);
    expect(result).to.include({
      size: 550,
      root: roots[550],
      kept: 0,
      fetched: 550,
      lost: null,
      hasKey: false,
    });
    expect(result.setAside).to.equal(undefined);
    expect(readFileSync(target(), "latin1")).to.equal(text(0, 550));
    expect(await readLastSigned(folder())).to.deep.equal(anchored(550));
    expect(asked[0]).to.equal(`/v1/ledger/entries?ledger=${LEDGER}&from=0&to=256`);
    const ledger = await DiskLedger.open({ folder: folder() });
    expect([ledger.size, ledger.repair]).to.deep.equal([550, undefined]);
    await ledger.close();
  });

  it("asks a source that gives other entries, or none, only once", async () => {
    for (const [status, code] of [
      [200, "source_contradicts"],
      [404, "source_unavailable"],
    ] as const) {
      asked = [];
      answer = (page, _from, _request, response) => {
        response.statusCode = status;
        response.end(page.map((line) => `${line.replace("task-7", "task-8")}\n`).join(""));
      };
      expect(await refusal(pull(200))).to.equal(code);
      expect(asked).to.have.length(1);
      expect(readFileSync(target(), "latin1")).to.equal("");
    }
  });

  it("belongs to the user of the service, also if root pulls it into nothing", async () => {
    const service = process.getuid?.() === 0 ? 54_321 : (process.getuid?.() ?? 0);
    rmSync(folder(), { recursive: true });
    chownSync(temporary.path, service, statSync(temporary.path).gid);
    await pull(550);
    for (const name of ["", "ledger.jsonl", "last-signed.json", "ledger.lock"])
      expect(statSync(path.join(folder(), name)).uid, name).to.equal(service);
  });

  it("keeps the entries of an older copy, fetches the rest, and counts signed entries that are lost", async () => {
    have(text(0, 300));
    await writeLastSigned(folder(), anchored(570));
    const result = await pull(550);
    expect(result).to.include({ size: 550, kept: 300, fetched: 250, lost: 20 });
    expect(readFileSync(target(), "latin1")).to.equal(text(0, 550));
    expect(readFileSync(result.setAside as string, "latin1")).to.equal(text(0, 300));
    expect(asked[0]).to.contain("from=300");
    expect(await readLastSigned(folder())).to.deep.equal(anchored(550));
  });

  it("keeps the good beginning of a damaged file, and counts its entries after the anchor", async () => {
    const damaged = `${text(0, 400)}${text(400, 401).replace("task-400", "task-4OO")}${text(401, 580)}`;
    have(damaged);
    const result = await pull(550);
    expect(result).to.include({ size: 550, kept: 400, fetched: 150, lost: 30 });
    expect(readFileSync(result.setAside as string, "latin1")).to.equal(damaged);
  });

  it("cuts no good entry after the anchor, and fetches no existing entries", async () => {
    have(text(0, 580));
    expect(await pull(550)).to.include({ size: 580, kept: 580, fetched: 0, lost: 0 });
    have(`${text(0, 560)}${text(560, 561).slice(0, 50)}\n${text(561, 580)}`);
    const result = await pull(550);
    expect(result).to.include({ size: 560, kept: 560, fetched: 0, lost: 20 });
    expect(readFileSync(target(), "latin1")).to.equal(text(0, 560));
    expect(asked).to.deep.equal([]);
  });

  it("uses nothing of another history in the folder, whatever its length", async () => {
    const other = await DiskLedger.open({ folder: path.join(temporary.path, "other") });
    for (let n = 0; n < 3; n++)
      await other.append({ timestamp: 1, taskId: "t", payload: { n: BigInt(n) } }).durable;
    await other.close();
    const theirs = readFileSync(other.path, "latin1");
    have(theirs);
    for (const size of [550, 2]) {
      have(theirs);
      expect(await pull(size)).to.include({ size, kept: 0, fetched: size });
      expect(readFileSync(target(), "latin1")).to.equal(text(0, size));
    }
  });

  it("changes nothing if a source lies, breaks off, sends too much or has too little", async () => {
    have(text(0, 100));
    const before = readdirSync(folder());
    const sources: [string, typeof answer, string][] = [
      [
        "another entry",
        (page, from, _, response) =>
          response.end(
            page.map((line, n) => `${from + n === 299 ? line.replace('"n": ', '"n": 1') : line}\n`).join(""),
          ),
        "source_contradicts",
      ],
      ["nothing", (_page, _from, _, response) => response.end(), "source_unavailable"],
      [
        "too much",
        (page, _from, _, response) => response.end(`${page.join("\n")}\n`.repeat(2)),
        "source_unavailable",
      ],
      ["no line ends", (page, _from, _, response) => response.end(page.join("")), "source_unavailable"],
      ["not followed", (_page, _from, _, response) => response.writeHead(404).end(), "source_unavailable"],
      ["down", (_page, _from, _, response) => response.writeHead(503).end(), "source_unavailable"],
      [
        "a flood",
        (_page, _from, request, response) => {
          const more = () => {
            while (response.write(Buffer.alloc(1 << 20)));
          };
          response.on("drain", more);
          request.on("close", () => response.off("drain", more));
          more();
        },
        "source_unavailable",
      ],
    ];
    for (const [name, source, code] of sources) {
      answer = source;
      expect(await refusal(pull(550)), name).to.equal(code);
      expect(readFileSync(target(), "latin1"), name).to.equal(text(0, 100));
      expect(readdirSync(folder()), name).to.deep.equal(before);
    }
    // A good chain of hashes, but not the anchored one.
    answer = (page, _from, _request, response) => response.end(page.map((line) => `${line}\n`).join(""));
    const wrong = { anchored: { size: 550, root: roots[549] } };
    expect(await refusal(pull(550, wrong))).to.equal("source_contradicts");
    expect(existsSync(path.join(folder(), "last-signed.json"))).to.equal(false);
  });

  it("has the entries after the anchor if a checkpoint by its own key covers them, and none if another key signed the checkpoint", async () => {
    const page = answer;
    const seed = new Uint8Array(32).fill(3);
    const keys = [noteVerifierKey("ledger.test/mine", ed25519.getPublicKey(seed))];
    const shows = (
      size: number,
      { root = roots[size] as Hex, by = seed, origin = "ledger.test/mine" } = {},
    ) => {
      const text = formatCheckpoint({ origin, size, root: fromHex(root, 32) });
      const note = formatSignedNote({ text, signatures: [signNote(text, origin, by)] });
      answer = (lines, from, request, response) =>
        request.url === "/v1/ledger/checkpoint" ? response.end(note) : page(lines, from, request, response);
    };
    shows(590);
    expect(await pull(550)).to.include({ size: 550, behindAnchor: 0 });
    expect(await pull(550, { keys })).to.include({
      size: 590,
      root: roots[590],
      fetched: 40,
      behindAnchor: 40,
    });
    expect(await readLastSigned(folder())).to.deep.equal(anchored(590));
    // The pull fetches no entry that is already here, and removes none.
    shows(570);
    expect(await pull(550, { keys })).to.include({
      size: 590,
      fetched: 0,
      behindAnchor: 0,
      setAside: undefined,
    });
    have(text(0, 300));
    for (const [by, origin] of [
      [new Uint8Array(32).fill(4), "ledger.test/mine"],
      [seed, "ledger.test/other"],
    ] as const) {
      have(text(0, 300));
      shows(590, { by, origin });
      expect(await pull(550, { keys })).to.include({ size: 550, behindAnchor: 0 });
    }
    // The checkpoint does not fit the source's entries. So only the anchored entries are fetched.
    have(text(0, 300));
    shows(590, { root: roots[589] as Hex });
    expect(await pull(550, { keys })).to.include({ size: 550, fetched: 250, behindAnchor: 0 });
    // The key has signed two histories, so the pull chooses none of them.
    have(text(0, 600));
    shows(590, { root: roots[589] as Hex });
    expect(await refusal(pull(550, { keys }))).to.equal("source_contradicts");
    expect(readFileSync(target(), "latin1")).to.equal(text(0, 600));
  });

  it("is fetched completely from a source that sends little at a time and fails now and then", async () => {
    let count = 0;
    answer = (page, _from, _request, response) => {
      if (count++ % 3 === 1) response.writeHead(503).end();
      else if (count % 7 === 0) response.socket?.destroy();
      else
        response.end(
          page
            .slice(0, 17)
            .map((line) => `${line}\n`)
            .join(""),
        );
    };
    expect(await pull(550)).to.include({ size: 550, fetched: 550 });
  });

  it("is not pulled while a service writes it; a torn line does not count as an acknowledged entry", async () => {
    have(text(0, 10));
    const ledger = await DiskLedger.open({ folder: folder() });
    expect(await refusal(pull(550))).to.equal("ledger_locked");
    await ledger.close();
    truncateSync(target(), text(0, 10).length - 5);
    expect(await pull(5)).to.include({ size: 9, kept: 9 });
  });
});
