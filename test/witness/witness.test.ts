import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import fc from "fast-check";
import { toBase64 } from "tallystick-protocol/base64";
import { bytesEqual } from "tallystick-protocol/hex";
import { cosignedAt, parseCosignerKey } from "tallystick-protocol/note/cosignature";
import {
  formatSignedNote,
  type NoteSignature,
  noteVerifierKey,
  parseSignedNote,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { formatWitnessRequest } from "tallystick-protocol/note/witnessRequest";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { createWitnessApp } from "../../services/witness/app.ts";
import { Witness } from "../../services/witness/witness.ts";
import { WitnessStore } from "../../services/witness/witnessStore.ts";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";
import { LOG_NAME, LOG_SEED, logKey, testLog } from "./support/testLog.ts";

const NAME = "witness.test/w1";
const SEED = new Uint8Array(32).fill(6);
const NOW = 1_767_225_600;

describe("a witness", () => {
  const folder = temporaryFolder();
  const stores: WitnessStore[] = [];
  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });

  let opened = 0;
  function open(at = path.join(folder.path, String(++opened)), logs = [logKey]) {
    const store = new WitnessStore(at);
    stores.push(store);
    const witness = new Witness({ name: NAME, seed: SEED, logs, store, now: () => NOW });
    const faults: unknown[] = [];
    const app = createWitnessApp(witness, (error) => faults.push(error));
    const ask = async (body: string | Uint8Array<ArrayBuffer>, init: RequestInit = {}) => {
      const response = await app.request("/add-checkpoint", { method: "POST", body, ...init });
      return {
        status: response.status,
        type: response.headers.get("content-type"),
        text: await response.text(),
      };
    };
    return { witness, app, ask, faults };
  }

  it("cosigns a log that continues its last cosigned size, from an empty log on", async () => {
    const { ask, witness } = open();
    const log = testLog();
    const key = parseCosignerKey(witness.verifierKey);
    for (const [from, to] of [
      [0, 0],
      [0, 1],
      [1, 1],
      [1, 2],
      [2, 7],
      [7, 64],
      [64, 65],
      [65, 1_000],
    ] as const) {
      const answer = await ask(log.request(from, to));
      expect(answer.status, `${from} to ${to}: ${answer.text}`).to.equal(200);
      expect(answer.text).to.match(/^— witness\.test\/w1 [A-Za-z0-9+/]+=*\n$/);
      expect(cosignedAt(parseSignedNote(log.checkpoint(to) + answer.text), key)).to.equal(NOW);
    }
  });

  it("behaves like a simple model of a witness, for any requests in any order", async () => {
    const request = fc.record({
      history: fc.integer({ min: 0, max: 2 }),
      // Null is the size that the witness knows. Without such requests almost every request would fail at the check
      // of this size.
      old: fc.option(fc.integer({ min: 0, max: 12 }), { freq: 3 }),
      size: fc.integer({ min: 0, max: 12 }),
    });
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 25 }), async (requests) => {
        const { ask } = open();
        // History 1 has the first 5 entries of history 0. History 2 has no entry of the others.
        const logs = [testLog(0), testLog(1, 5), testLog(2)] as const;
        let last = { size: 0, history: 0 };
        const rootAt = (history: number, size: number) => (logs[history] as (typeof logs)[0]).root(size);
        for (const { history, old: told, size } of requests) {
          const old = told ?? last.size;
          const { status, text } = await ask((logs[history] as (typeof logs)[0]).request(old, size));
          const continues =
            last.size <= size && bytesEqual(rootAt(history, last.size), rootAt(last.history, last.size));
          const expected = old > size ? 400 : old !== last.size ? 409 : continues ? 200 : 422;
          expect(status).to.equal(expected);
          if (status === 409) expect(text).to.equal(`${last.size}\n`);
          seen.set(status, (seen.get(status) ?? 0) + 1);
          if (status === 200) last = { size, history };
        }
      }),
      { numRuns: 60, seed: 26 },
    );
    for (const status of [200, 400, 409, 422]) expect(seen.get(status), String(status)).to.be.above(10);
  });

  it("gives its last cosigned size to a client that does not know it", async () => {
    const { ask } = open();
    const log = testLog();
    await ask(log.request(0, 9));
    expect(await ask(log.request(0, 12))).to.deep.equal({
      status: 409,
      type: "text/x.tlog.size",
      text: "9\n",
    });
    expect(await ask(log.request(4, 12))).to.include({ status: 409, text: "9\n" });
    expect(await ask(log.request(9, 12))).to.include({ status: 200 });
    expect(await ask(log.request(9, 9))).to.include({ status: 409, text: "12\n" });
  });

  it("does not cosign another history, with any proof", async () => {
    const { ask, witness } = open();
    await ask(testLog().request(0, 9));
    const before = witness.latest(LOG_NAME);
    const other = testLog(1);
    for (const [old, size] of [
      [9, 9],
      [9, 10],
      [9, 200],
    ] as const) {
      expect((await ask(other.request(old, size))).status).to.equal(422);
    }
    const good = testLog().request(9, 12);
    for (const bad of [
      good.replace(/\n[A-Za-z0-9+/]{43}=\n/, "\n"),
      good.replace("old 9\n", `old 9\n${toBase64(new Uint8Array(32))}\n`),
    ]) {
      expect((await ask(bad)).status).to.equal(422);
    }
    expect(witness.latest(LOG_NAME)).to.deep.equal(before);
  });

  it("accepts no proof from size 0, and only one root of an empty log", async () => {
    const { ask } = open();
    const log = testLog();
    const proof = [new Uint8Array(32)];
    expect(
      (await ask(formatWitnessRequest({ oldSize: 0, proof, checkpoint: log.checkpoint(3) }))).status,
    ).to.equal(422);
    const text = `${LOG_NAME}\n0\n${toBase64(new Uint8Array(32))}\n`;
    const checkpoint = formatSignedNote({ text, signatures: [signNote(text, LOG_NAME, LOG_SEED)] });
    expect((await ask(formatWitnessRequest({ oldSize: 0, proof: [], checkpoint }))).status).to.equal(422);
  });

  it("answers 404 for a log that it does not follow, and 403 without a good signature by the log's key", async () => {
    const { ask, witness } = open();
    const log = testLog();
    const text = parseSignedNote(log.checkpoint(3)).text;
    const mine = signNote(text, LOG_NAME, LOG_SEED);
    const foreign = signNote(text, LOG_NAME, new Uint8Array(32).fill(8));
    const bent = { ...mine, signature: mine.signature.map((byte, at) => (at === 3 ? byte ^ 1 : byte)) };
    const sent = (signatures: (typeof mine)[]) =>
      ask(
        formatWitnessRequest({ oldSize: 0, proof: [], checkpoint: formatSignedNote({ text, signatures }) }),
      );
    expect((await ask(log.request(0, 3).replaceAll(LOG_NAME, "elsewhere.test/log"))).status).to.equal(404);
    expect((await sent([foreign])).status).to.equal(403);
    expect((await sent([bent])).status).to.equal(403);
    // A line with the name of our key and a broken signature makes the whole note malformed, even beside a good line.
    expect((await sent([bent, mine])).status).to.equal(403);
    expect((await sent(Array.from({ length: 100 }, () => bent))).status).to.equal(403);
    expect(witness.latest(LOG_NAME)).to.equal(undefined);
    expect((await sent([foreign, mine])).status).to.equal(200);
    const kept = parseSignedNote(witness.latest(LOG_NAME)!.note);
    expect(kept.signatures.map(({ name }) => name)).to.deep.equal([LOG_NAME, NAME]);
  });

  it("needs one signature by any key of the log, and refuses a bad one by another key of the log", async () => {
    const seed = LOG_SEED.map(() => 9);
    const keys = [logKey, noteVerifierKey(LOG_NAME, ed25519.getPublicKey(seed))];
    const { text } = parseSignedNote(testLog().checkpoint(3));
    const [first, second] = [signNote(text, LOG_NAME, LOG_SEED), signNote(text, LOG_NAME, seed)];
    const bent = (it: NoteSignature) => ({ ...it, signature: it.signature.map((byte) => byte ^ 1) });
    const statusOf = async (...signatures: NoteSignature[]) => {
      const checkpoint = formatSignedNote({ text, signatures });
      const { ask } = open(undefined, keys);
      return (await ask(formatWitnessRequest({ oldSize: 0, proof: [], checkpoint }))).status;
    };
    for (const good of [[first], [second], [first, second]]) expect(await statusOf(...good)).to.equal(200);
    expect(await statusOf(bent(first), second)).to.equal(403);
    expect(await statusOf(first, bent(second))).to.equal(403);
  });

  for (const [what, body] of [
    ["nothing", ""],
    ["no empty line", "old 0\nabc\n"],
    ["no checkpoint", "old 0\n\n"],
    ["a size with a leading zero", testLog().request(0, 1).replace("old 0", "old 00")],
    ["a size with a sign", testLog().request(0, 1).replace("old 0", "old -0")],
    ["a size that is not a safe integer", testLog().request(0, 1).replace("old 0", "old 9007199254740993")],
    ["a proof that is not base 64", testLog().request(0, 1).replace("old 0\n", "old 0\n????\n")],
    [
      "a proof of 31 bytes",
      testLog()
        .request(0, 1)
        .replace("old 0\n", `old 0\n${toBase64(new Uint8Array(31))}\n`),
    ],
    [
      "64 proof lines",
      testLog()
        .request(0, 1)
        .replace("old 0\n", `old 0\n${`${toBase64(new Uint8Array(32))}\n`.repeat(64)}`),
    ],
    ["a checkpoint without a signature", `old 0\n\n${LOG_NAME}\n1\nAAAA\n`],
    ["carriage returns", testLog().request(0, 1).replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${testLog().request(0, 1)}`],
  ] as const) {
    it(`answers 400 to ${what}`, async () => {
      const { ask, faults } = open();
      expect((await ask(body)).status).to.equal(400);
      expect(faults).to.deep.equal([]);
    });
  }

  it("answers 400 to bytes that are not UTF-8, and 413 to a request above the limit", async () => {
    const { ask } = open();
    expect((await ask(Uint8Array.of(0xff, 0xfe, 0x0a))).status).to.equal(400);
    expect((await ask("x".repeat(200_000))).status).to.equal(413);
  });

  it("gives its last checkpoint to monitors, by the hash of the origin", async () => {
    const { app, ask, witness } = open();
    const about = (await (await app.request("/")).json()) as { logs: { checkpoint: string }[] };
    const at = about.logs[0]!.checkpoint;
    expect((await app.request(at)).status).to.equal(404);
    await ask(testLog().request(0, 3));
    const note = parseSignedNote(await (await app.request(at)).text());
    expect(cosignedAt(note, parseCosignerKey(witness.verifierKey))).to.equal(NOW);
    expect((await app.request(`/${"0".repeat(64)}/checkpoint`)).status).to.equal(404);
    expect(await (await app.request("/metrics")).text()).to.match(
      /tallystick_witness_size\{origin="tallystick.test\/log"\} 3/,
    );
  });

  it("lets only one of two processes on one folder continue from a size", async () => {
    const at = path.join(folder.path, "shared");
    const [one, two] = [open(at), open(at)];
    await one.ask(testLog().request(0, 5));
    const answers = await Promise.all([
      one.ask(testLog().request(5, 6)),
      two.ask(testLog(1, 5).request(5, 6)),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
  });

  it("still has everything that it acknowledged after a kill at any moment", async () => {
    const at = path.join(folder.path, "shared");
    let known = 0;
    for (const after of [1, 7, 23]) {
      const child = spawn(
        process.execPath,
        nodeProgram("test/witness/support/witnessProcess.ts", [at, String(known)]),
        {
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      let answered = known;
      let rest = "";
      for await (const chunk of child.stdout) {
        const lines = `${rest}${chunk}`.split("\n");
        rest = lines.pop() as string;
        for (const line of lines) answered = Number(line);
        if (answered >= known + after) break;
      }
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      const { witness } = open(at);
      expect(witness.latest(LOG_NAME)!.size).to.be.at.least(answered);
      known = witness.latest(LOG_NAME)!.size;
    }
  }).timeout(600_000);
});
