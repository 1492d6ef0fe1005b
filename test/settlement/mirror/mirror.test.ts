import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import type { Server } from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { parseTilePath } from "tallystick-protocol/merkle/tilePath";
import { cosign, cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import {
  formatSignatureLines,
  formatVerifierKey,
  parseSignedNote,
} from "tallystick-protocol/note/signedNote";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import type { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { Mirror, type OpenMirrorParameters } from "../../../services/settlement/mirror/mirror.ts";
import { readTile } from "../../../services/settlement/proofs/tiles.ts";
import { LogFolder } from "../../../services/settlement/staticLog/logFolder.ts";
import { verifyStaticLog } from "../../../services/settlement/staticLog/verifyStaticLog.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { type Answer, grow, key, logOf, noteOf, ORIGIN, openLedger, serveAs } from "./support.ts";

describe("a mirror of a ledger", () => {
  const temporary = temporaryFolder();
  const folder = () => path.join(temporary.path, "mirror");
  const ledgers: DiskLedger[] = [];
  const mirrors: Mirror[] = [];
  const answer: { now: Answer } = { now: (_request, response) => response.end() };
  let url: string;
  let asked: string[];
  let server: Server;
  let said: string[];

  before(async () => {
    ({ url, asked, server } = await serveAs(answer));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    said = [];
    asked.length = 0;
  });
  afterEach(async () => {
    for (const mirror of mirrors.splice(0)) await mirror.close();
    for (const ledger of ledgers.splice(0)) await ledger.close();
  });

  async function ledgerOf(size: number, text = ""): Promise<DiskLedger> {
    const ledger = await openLedger(temporary.path, size, text);
    ledgers.push(ledger);
    return ledger;
  }

  async function open(more: Partial<OpenMirrorParameters> = {}): Promise<Mirror> {
    const mirror = await Mirror.open({
      folder: folder(),
      source: url,
      trust: { keys: [key] },
      now: () => 1_767_300_000,
      log: (sentence, fields) => said.push(`${sentence} ${fields?.code ?? ""}`.trim()),
      pauseMs: 1,
      timeoutMs: 60_000,
      ...more,
    });
    mirrors.push(mirror);
    return mirror;
  }

  async function lookedAt(): Promise<Mirror> {
    const mirror = await open();
    expect(await mirror.look()).to.equal(true);
    return mirror;
  }

  async function again(mirror: Mirror, more: Partial<OpenMirrorParameters> = {}): Promise<Mirror> {
    await mirror.close();
    mirrors.splice(mirrors.indexOf(mirror), 1);
    return open(more);
  }

  const verified = async () => (await verifyStaticLog({ source: folder(), keys: [key] })).size;
  const evidence = () => {
    const at = path.join(folder(), "evidence");
    return existsSync(at) ? readdirSync(at) : [];
  };
  const files = () =>
    readdirSync(folder(), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => path.relative(folder(), path.join(one.parentPath, one.name)))
      .sort();

  it("has the ledger's tiles, byte by byte, after growth in any steps, and continues after each", async () => {
    const ledger = await ledgerOf(0);
    let mirror = await open();
    for (const size of [0, 1, 255, 256, 257, 700, 700, 1_100]) {
      await grow(ledger, size);
      answer.now = logOf(ledger);
      expect(await mirror.look(), String(size)).to.equal(true);
      expect(mirror.state).to.include({ size, root: toHex(ledger.tree.root()), origin: ORIGIN });
      expect(mirror.head).to.equal(ledger.head);
      expect(await verified()).to.equal(size);
      mirror = await again(mirror);
      expect(mirror.state).to.include({ size, root: toHex(ledger.tree.root()) });
    }
    for (const file of files().filter((one) => one.startsWith("tile/"))) {
      const tile = parseTilePath(file.slice("tile/".length));
      expect(readFileSync(path.join(folder(), file)).equals((await readTile(ledger, tile!))!), file).to.equal(
        true,
      );
    }
    // The log of a settlement service has a path below the service's address. The mirror finds it there.
    await grow(ledger, 1_101);
    const log = logOf(ledger);
    answer.now = (request, response, name) =>
      name.startsWith("tlog/") ? log(request, response, name.slice(5)) : response.writeHead(404).end();
    expect(await mirror.look()).to.equal(true);
    expect(mirror.state.size).to.equal(1_101);
    expect(said.filter((line) => !line.startsWith("Evidence"))).to.deep.equal([]);
  });

  it("uses nothing from a source that lies, breaks off, floods, stalls or redirects, and continues when it is correct", async () => {
    const ledger = await ledgerOf(600);
    answer.now = logOf(ledger, { size: 300 });
    let mirror = await open();
    expect(await mirror.look()).to.equal(true);
    const before = files().filter((file) => !file.startsWith("tile/"));
    const good = logOf(ledger);
    const forged = await ledgerOf(600, "forged");
    const other = logOf(forged);
    const but =
      (match: RegExp, instead: Answer): Answer =>
      (request, response, name) =>
        match.test(name) ? instead(request, response, name) : good(request, response, name);
    const flood: Answer = (request, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(1 << 20)));
      };
      response.on("drain", more);
      request.on("close", () => response.off("drain", more));
      more();
    };
    const entries = /^tile\/entries/;
    const sources: [string, Answer, string][] = [
      ["a list without entries", (_request, response) => response.end("[]"), "invalid_input"],
      [
        "bundles that are a list",
        but(entries, (_request, response) => response.end("[]")),
        "source_contradicts",
      ],
      ["no bundle", but(entries, (_request, response) => response.writeHead(404).end()), "unreadable_log"],
      ["nothing", but(/./, (_request, response) => response.end()), "invalid_input"],
      ["down", (_request, response) => response.writeHead(503).end(), "unreadable_log"],
      ["cut off", but(entries, (_request, response) => response.destroy()), "unreadable_log"],
      ["a checkpoint without end", flood, "unreadable_log"],
      ["a bundle without end", but(/^tile\/entries\/001/, flood), "unreadable_log"],
      [
        "a bundle that never ends",
        but(/^tile\/entries\/001/, (_request, response) => response.write("{")),
        "unreadable_log",
      ],
      [
        "our own network",
        (_request, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
        "unreadable_log",
      ],
      ["another ledger's entries", but(entries, other), "source_contradicts"],
      [
        "another entry among those that are known",
        but(/^tile\/entries\/001/, async (_request, response) => {
          const bytes = Buffer.from((await readTile(ledger, { level: "entries", index: 1, width: 256 }))!);
          bytes.write("X", bytes.indexOf("task-256"));
          response.end(bytes);
        }),
        "source_contradicts",
      ],
      [
        "another key's word",
        but(/^checkpoint$/, (_request, response) =>
          response.end(noteOf(ledger, 600, { seed: new Uint8Array(32).fill(9) })),
        ),
        "checkpoint_refused",
      ],
      [
        "another log's word",
        but(/^checkpoint$/, (_request, response) =>
          response.end(noteOf(ledger, 600, { origin: "other.test/log" })),
        ),
        "checkpoint_refused",
      ],
      [
        "a root that its entries do not have",
        but(/^checkpoint$/, (_request, response) =>
          response.end(noteOf(ledger, 600, { root: new Uint8Array(32).fill(1) })),
        ),
        "source_contradicts",
      ],
    ];
    for (const [name, source, code] of sources) {
      answer.now = source;
      const stalls = name === "a bundle that never ends";
      if (stalls) mirror = await again(mirror, { timeoutMs: 500 });
      expect(await mirror.look(), name).to.equal(false);
      expect(mirror.state.refusal?.code, name).to.equal(code);
      expect(mirror.state.size, name).to.equal(300);
      expect(await verified(), name).to.equal(300);
      if (stalls) mirror = await again(mirror);
    }
    expect(evidence().length).to.be.within(1, 3);
    expect(files().filter((file) => !/^(tile|evidence)\//.test(file))).to.deep.equal(before);
    answer.now = good;
    expect(await mirror.look()).to.equal(true);
    expect(mirror.state).to.include({ size: 600, refusal: undefined });
    expect(await verified()).to.equal(600);
  });

  it("does not mistake files from an earlier, lying source for the ledger's", async () => {
    const ledger = await ledgerOf(900);
    const forged = await ledgerOf(900, "forged");
    const mirror = await open();
    // Forged entries that follow each other, below a checkpoint that the ledger's own key signed.
    const lies = logOf(forged, { note: noteOf(ledger) });
    answer.now = lies;
    expect(await mirror.look()).to.equal(false);
    expect(files()).to.include("tile/entries/000");
    // The mirror has no part of its own, so it asks for each part once.
    expect(asked.filter((name) => name.startsWith("tile/entries/"))).to.have.length(4);
    answer.now = logOf(ledger);
    expect(await mirror.look()).to.equal(true);
    expect(await verified()).to.equal(900);
  });

  it("does not blame an honest source for wrong parts from an earlier source, also when an anchor shows that these parts are wrong", async () => {
    const ledger = await ledgerOf(1_500);
    const forged = await ledgerOf(1_500, "forged");
    const lies = logOf(forged, { note: noteOf(ledger) });
    const anchored = { size: 700, root: toHex(ledger.tree.root(700)) };
    for (const askAnchor of [undefined, async () => anchored]) {
      // The lying source breaks off after four bundles. The fifth bundle of the honest source continues other entries.
      answer.now = (request, response, name) =>
        /entries\/00[45]/.test(name) ? response.writeHead(404).end() : lies(request, response, name);
      const mirror = await open({
        folder: path.join(temporary.path, askAnchor ? "anchored" : "plain"),
        askAnchor,
      });
      expect(await mirror.look()).to.equal(false);
      answer.now = logOf(ledger);
      expect(await mirror.look(), mirror.state.refusal?.message).to.equal(true);
      expect(mirror.state.size).to.equal(1_500);
      await mirror.close();
      mirrors.splice(0);
    }
  });

  it("loses no good files while it is repaired from a source that lies", async () => {
    const ledger = await ledgerOf(1_000);
    answer.now = logOf(ledger);
    let mirror = await lookedAt();
    const bundle = (index: number) => path.join(folder(), `tile/entries/00${index}`);
    const good = [0, 1, 2].map((index) => readFileSync(bundle(index)));
    const forged = await ledgerOf(256);
    await grow(forged, 1_000, "forged");
    rmSync(bundle(1));
    mirror = await again(mirror, { recheck: true });
    asked.length = 0;
    answer.now = logOf(forged, { note: noteOf(ledger) });
    expect(await mirror.look()).to.equal(false);
    expect(existsSync(bundle(1))).to.equal(false);
    expect(asked, "what is good here is not asked for").not.to.include("tile/entries/000");
    for (const index of [0, 2]) expect(readFileSync(bundle(index)).equals(good[index]!)).to.equal(true);
    answer.now = logOf(ledger);
    expect(await mirror.look(), mirror.state.refusal?.message).to.equal(true);
    expect(readFileSync(bundle(1)).equals(good[1]!)).to.equal(true);
    expect(readdirSync(folder())).to.not.include("repair");
    expect(await verified()).to.equal(1_000);
  });

  it("names the first entry at which a signer has signed two histories, keeps both checkpoints, and stops", async () => {
    const ledger = await ledgerOf(700);
    answer.now = logOf(ledger);
    const mirror = await open();
    await mirror.look();
    for (const [same, size] of [
      [0, 700],
      [299, 900],
      [513, 520],
      [699, 701],
      [256, 700],
    ] as const) {
      const other = await ledgerOf(same);
      await grow(other, size, "another history");
      answer.now = logOf(other);
      expect(await mirror.look(), `${same}`).to.equal(false);
      expect(mirror.state.refusal, `${same}`).to.include({ code: "ledger_forked" });
      expect(mirror.state.refusal?.message).to.match(new RegExp(`another entry ${same + 1} than`));
      const [kept = ""] = evidence().filter((name) => name.startsWith(`ledger_forked-${size}-`));
      const at = (name: string) => readFileSync(path.join(folder(), "evidence", kept, name), "utf8");
      expect(at("theirs.checkpoint")).to.equal(noteOf(other));
      expect(at("ours.checkpoint")).to.equal(noteOf(ledger));
      expect(JSON.parse(at("about.json"))).to.include({ code: "ledger_forked", position: same });
      expect(JSON.parse(at("theirs.jsonl")).payload.text).to.equal("another history");
      expect(JSON.parse(at("ours.jsonl")).task_id).to.equal(`task-${same}`);
      // The same answer again is no new evidence.
      const count = evidence().length;
      await mirror.look();
      expect(evidence()).to.have.length(count);
    }
    expect(await verified()).to.equal(700);
    answer.now = logOf(ledger);
    expect(await mirror.look()).to.equal(true);
  });

  it("keeps a fork's evidence whole, also after many damaged answers and a write that was interrupted", async () => {
    const ledger = await ledgerOf(40);
    const forged = await ledgerOf(40, "forged");
    const mirror = await open();
    for (let size = 1; size <= 40; size++) {
      answer.now = logOf(forged, { size, note: noteOf(ledger, size) });
      expect(await mirror.look()).to.equal(false);
    }
    expect(evidence().filter((name) => name.startsWith("source_contradicts-"))).to.have.length(32);
    answer.now = logOf(ledger);
    expect(await mirror.look()).to.equal(true);
    // A process that ended has left this file.
    mkdirSync(path.join(folder(), "evidence/unfinished"));
    writeFileSync(path.join(folder(), "evidence/unfinished/stale"), "");
    answer.now = logOf(forged);
    expect(await mirror.look()).to.equal(false);
    const [kept = ""] = evidence().filter((name) => name.startsWith("ledger_forked-40-"));
    expect(readdirSync(path.join(folder(), "evidence", kept)).sort()).to.deep.equal([
      "about.json",
      "ours.checkpoint",
      "ours.jsonl",
      "theirs.checkpoint",
      "theirs.jsonl",
    ]);
    expect(evidence()).to.not.include("unfinished");
  });

  it("reports that a source went back in time, and keeps its copy", async () => {
    const ledger = await ledgerOf(400);
    answer.now = logOf(ledger);
    const mirror = await open();
    await mirror.look();
    answer.now = logOf(ledger, { size: 100 });
    expect(await mirror.look()).to.equal(true);
    expect(await mirror.look()).to.equal(true);
    expect(mirror.state).to.include({ size: 400, sourceSize: 100 });
    expect(said).to.deep.equal(["The source has gone back: it may be an older copy."]);
    expect(await verified()).to.equal(400);
  });

  it("is compared with the contract, for its own entries and for later ones", async () => {
    const ledger = await ledgerOf(500);
    const held = (size: number, of = ledger) => ({ size, root: toHex(of.tree.root(size)) });
    const forged = await ledgerOf(500, "forged");
    let anchored = held(300, forged);
    const mirror = await open({ askAnchor: async () => anchored });
    answer.now = logOf(ledger);
    expect(await mirror.look()).to.equal(false);
    expect(mirror.state.refusal).to.include({ code: "ledger_forked" });
    expect(mirror.state).to.include({ size: 0, anchoredSize: 300 });
    anchored = held(500, forged);
    expect(await mirror.look(), "at the size of the checkpoint").to.equal(false);
    expect(mirror.state.size).to.equal(0);
    anchored = held(300);
    expect(await mirror.look()).to.equal(true);
    anchored = held(450);
    expect(await mirror.look()).to.equal(true);
    anchored = held(460, forged);
    expect(await mirror.look()).to.equal(false);
    expect(mirror.state.refusal?.message).to.match(
      /^The contract holds 0x[0-9a-f]{64} for the first 460 entries/,
    );
    const dead = await again(mirror, {
      askAnchor: () => Promise.reject(new Error("no chain")),
    });
    expect(await dead.look()).to.equal(true);
    expect(said.at(-1)).to.match(/chain could not be asked/);
  });

  it("accepts only checkpoints that enough witnesses have cosigned, if a policy requires them", async () => {
    const ledger = await ledgerOf(10);
    const seed = new Uint8Array(32).fill(8);
    const witness = formatCosignerKey(cosignerKey("witness.test/w1", ed25519.getPublicKey(seed)));
    const policy = parseTrustPolicy(`log ${formatVerifierKey(key)}\nwitness one ${witness}\nquorum one\n`);
    const plain = logOf(ledger);
    answer.now = plain;
    const mirror = await open({ trust: { policy } });
    expect(await mirror.look()).to.equal(false);
    expect(mirror.state).to.include({ size: 0 });
    expect(mirror.state.refusal).to.include({ code: "checkpoint_refused" });
    // The newest checkpoint is ahead of the witnesses. Settlement also gives the newest one that they have cosigned.
    const note = noteOf(ledger, 7);
    const text = parseSignedNote(note).text;
    const witnessed = `${note}${formatSignatureLines([cosign(text, "witness.test/w1", seed, 1_767_300_000)])}`;
    answer.now = (request, response, name) =>
      name === "v1/ledger/checkpoint?witnessed=true"
        ? response.end(witnessed)
        : plain(request, response, name);
    expect(await mirror.look()).to.equal(true);
    expect(mirror.state).to.include({ size: 7 });
    expect(mirror.note).to.equal(witnessed);
  });

  it("accepts more signatures under a checkpoint, and loses none if a source shows other signatures", async () => {
    const ledger = await ledgerOf(10);
    const show = (witnesses: string[]) => {
      const note = noteOf(ledger, 10, { witnesses });
      answer.now = logOf(ledger, { note });
      return note;
    };
    show(["w1"]);
    const mirror = await open();
    await mirror.look();
    const both = show(["w1", "w2"]);
    expect(await mirror.look()).to.equal(true);
    expect(mirror.note).to.equal(both);
    show(["x1", "x2", "x3", "x4"]);
    expect(await mirror.look()).to.equal(true);
    expect(mirror.note).to.equal(both);
  });

  it("is complete for its checkpoint after it ended at any write, and continues", async () => {
    const ledger = await ledgerOf(250);
    answer.now = logOf(ledger);
    await again(await lookedAt());
    await grow(ledger, 800);
    answer.now = logOf(ledger);
    const { putTile, publish } = LogFolder.prototype;
    try {
      for (let most = 0; ; most++) {
        let writes = 0;
        const dies = () => {
          if (writes++ >= most) throw new Error("killed");
        };
        LogFolder.prototype.putTile = function (...args) {
          dies();
          return putTile.apply(this, args);
        };
        LogFolder.prototype.publish = function (...args) {
          dies();
          return publish.apply(this, args);
        };
        const ended = await again(mirrors[0] as Mirror);
        if (await ended.look()) break;
        expect(await verified(), String(most)).to.equal(250);
        expect(ended.state.size).to.equal(250);
      }
    } finally {
      Object.assign(LogFolder.prototype, { putTile, publish });
    }
    expect(await verified()).to.equal(800);
  });

  it("copies a log that has grown since its checkpoint only up to the checkpoint", async () => {
    const ledger = await ledgerOf(600);
    const grown = logOf(ledger, { note: noteOf(ledger, 300) });
    answer.now = (request, response, name) =>
      name.includes(".p/") ? response.writeHead(404).end() : grown(request, response, name);
    const mirror = await open();
    expect(await mirror.look()).to.equal(true);
    expect(mirror.state.size).to.equal(300);
    for (const name of ["entries/001.p/44", "0/001.p/44", "1/000.p/1", "entries/000", "0/000"]) {
      const bytes = await readTile(ledger, parseTilePath(name)!);
      expect(readFileSync(path.join(folder(), "tile", name)).equals(bytes!), name).to.equal(true);
    }
    expect(files().filter((file) => file.startsWith("tile/"))).to.have.length(5);
    // A whole log also has all tiles of its hashes, on every level.
    await grow(ledger, 1_100);
    answer.now = logOf(ledger);
    expect(await mirror.look()).to.equal(true);
    expect(files().filter((file) => /^tile\/[01]/.test(file))).to.deep.equal([
      ...["tile/0/000", "tile/0/001", "tile/0/002", "tile/0/003", "tile/0/004.p/76"],
      "tile/1/000.p/1",
      "tile/1/000.p/4",
    ]);
  });

  it("asks for no more than four parts ahead", async () => {
    const ledger = await ledgerOf(2_000);
    const good = logOf(ledger);
    const parts = () => [...new Set(asked.filter((name) => name.startsWith("tile/entries/")))];
    answer.now = async (request, response, name) => {
      if (name !== "tile/entries/000") return good(request, response, name);
      while (parts().length < 4) await sleep(5);
      await sleep(300);
      return response.destroy();
    };
    const mirror = await open();
    expect(await mirror.look()).to.equal(false);
    expect(parts()).to.have.members([0, 1, 2, 3].map((n) => `tile/entries/00${n}`));
  });

  it("continues, without an unhandled error, after several of the parts that it asked for ahead were missing", async () => {
    const ledger = await ledgerOf(2_000);
    const good = logOf(ledger);
    answer.now = (request, response, name) =>
      name.startsWith("tile/") ? response.writeHead(404).end() : good(request, response, name);
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      const mirror = await open();
      expect(await mirror.look()).to.equal(false);
      await new Promise((resolve) => setTimeout(resolve, 50));
      answer.now = good;
      expect(await mirror.look(), mirror.state.refusal?.message).to.equal(true);
      expect(await verified()).to.equal(2_000);
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("does not fetch verified files of an earlier run again", async () => {
    const ledger = await ledgerOf(1_500);
    const good = logOf(ledger);
    let left = 4;
    answer.now = (request, response, name) => {
      if (name.startsWith("tile/entries") && left-- <= 0) return response.writeHead(404).end();
      return good(request, response, name);
    };
    const mirror = await open();
    expect(await mirror.look()).to.equal(false);
    answer.now = good;
    asked.length = 0;
    const next = await again(mirror);
    expect(await next.look()).to.equal(true);
    expect(asked.filter((name) => name.startsWith("tile/entries/"))).to.deep.equal([
      "tile/entries/004",
      "tile/entries/005.p/220",
    ]);
    expect(await verified()).to.equal(1_500);
  });

  it("finds at its start that its last files are damaged, and repairs anything by reading everything again", async () => {
    const ledger = await ledgerOf(1_000);
    answer.now = logOf(ledger);
    let mirror = await open();
    await mirror.look();
    await grow(ledger, 1_200);
    for (const [name, harm] of [
      ["tile/0/003.p/232", (file: string) => truncateSync(file, 100)],
      ["tile/0/003.p/232", (file: string) => writeFileSync(file, Buffer.alloc(32 * 232))],
      ["tile/1/000.p/3", (file: string) => rmSync(file)],
      ["tile/entries/003.p/232", (file: string) => truncateSync(file, 5_000)],
      ["tile/entries/003.p/232", (file: string) => rmSync(file)],
    ] as const) {
      harm(path.join(folder(), name));
      const code = await again(mirror).then(
        () => "opened",
        (error) => error.code,
      );
      expect(code, name).to.equal("mirror_damaged");
      mirror = await open({ recheck: true });
      answer.now = logOf(ledger, { size: 1_000 });
      expect(await mirror.look(), name).to.equal(true);
      expect(await verified(), name).to.equal(1_000);
    }
    // The start does not read old entries again, so the mirror serves them without a new check.
    const deep = path.join(folder(), "tile/entries/001");
    const bytes = readFileSync(deep);
    bytes[50]! ^= 1;
    writeFileSync(deep, bytes);
    mirror = await again(mirror, { recheck: true });
    expect(await mirror.look()).to.equal(true);
    expect(await verified()).to.equal(1_000);
    // A source that forks while everything is read again changes nothing.
    writeFileSync(deep, bytes);
    const forged = await ledgerOf(1_000, "forged");
    mirror = await again(mirror, { recheck: true });
    answer.now = logOf(forged);
    expect(await mirror.look()).to.equal(false);
    answer.now = logOf(ledger);
    expect(await mirror.look()).to.equal(true);
    expect([mirror.state.size, await verified()]).to.deep.equal([1_200, 1_200]);
  });

  it("has one process and one log for each folder", async () => {
    const ledger = await ledgerOf(5);
    answer.now = logOf(ledger);
    const mirror = await open();
    await mirror.look();
    const codeOf = (more: Partial<OpenMirrorParameters> = {}) =>
      open(more).then(
        () => "opened",
        (error) => error.code,
      );
    expect(await codeOf()).to.equal("ledger_locked");
    await mirror.close();
    mirrors.splice(0);
    expect(await codeOf({ trust: { keys: [{ ...key, name: "other.test/log" }] } })).to.equal(
      "mirror_of_another",
    );
    expect(await codeOf()).to.equal("opened");
  });

  it("goes on after its disk was full", async function () {
    if (process.getuid?.() !== 0) this.skip();
    const small = path.join(temporary.path, "small");
    execFileSync("mkdir", ["-p", small]);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=300k", "tmpfs", small], { stdio: "ignore" });
    } catch {
      this.skip();
    }
    try {
      const ledger = await ledgerOf(2_000);
      answer.now = logOf(ledger);
      const mirror = await open({ folder: path.join(small, "mirror") });
      expect(await mirror.look()).to.equal(false);
      expect(mirror.state.refusal).to.include({ code: "mirror_unwritable" });
      execFileSync("mount", ["-o", "remount,size=4m", small]);
      expect(await mirror.look()).to.equal(true);
      expect(mirror.state.size).to.equal(2_000);
      await mirror.close();
      mirrors.splice(0);
    } finally {
      execFileSync("umount", [small]);
    }
  });
});
