import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import { foldLog } from "tallystick-derive/foldLog";
import { type LogPart, readParts } from "tallystick-derive/logParts";
import { LogReader } from "tallystick-derive/logReader";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { snapshotOf } from "tallystick-derive/snapshot";
import { isSignedBy } from "tallystick-protocol/records/record";
import { KnownSigners } from "tallystick-protocol/signatures/knownSigners";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import type { RecoverPublicKey } from "tallystick-protocol/signatures/recoverPublicKey";
import { remembered } from "tallystick-protocol/signatures/remembered";
import { readSignatureHere } from "tallystick-runtime/signatures/readSignature";
import { type Question, SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { recoverAhead } from "../../../scripts/eventLog/recoverAhead.ts";
import { writeLog } from "../../../tools/bench/derive/writeLog.ts";

type Threads = Parameters<typeof recoverAhead>[1];

async function* textsOf(lines: readonly string[]): AsyncGenerator<string> {
  yield lines.join("\n");
}

const statusesOf = (store: MemoryStore) => [...store.rows("record").values()].map((it) => it.status);

describe("signers of a log that are recovered ahead", () => {
  let recover: RecoverPublicKey;
  let lines: string[];
  let expected: MemoryStore;
  before(async () => {
    recover = await recoverByWasm();
    const folder = await mkdtemp(path.join(tmpdir(), "tallystick-ahead-"));
    try {
      await writeLog({ transfers: 1_000, agents: 150, rings: [4] }, path.join(folder, "log"));
      lines = (await readFile(path.join(folder, "log"), "utf8")).trimEnd().split("\n").map(spoilSome);
    } finally {
      await rm(folder, { recursive: true });
    }
    ({ store: expected } = await foldLog(textsOf(lines), { recover }));
    expect(new Set(statusesOf(expected))).to.deep.equal(new Set(["valid", "invalid", "unread"]));
  });

  /** Spoils some records: another signer, no signature, a body that cannot be signed, an error, or another type. */
  function spoilSome(line: string, n: number): string {
    const event = JSON.parse(line) as DeriveEvent;
    if (event.kind !== "record") return line;
    const spoiled: { [rest: number]: Partial<RecordEvent> } = {
      3: { signer: `0x${"00".repeat(20)}` },
      5: { signature: "0x" },
      7: { body: { ...event.body, n: 0.5 } },
      8: { error: "was no record" },
      9: { erc1271: true },
      11: { body: { ...event.body, buyer_signature: event.signature, payee_signature: event.signature } },
      12: { type: "toString" },
    };
    return JSON.stringify({ ...event, ...spoiled[n % 13] });
  }

  const answer = async (questions: Question[]) =>
    questions.map((question) => readSignatureHere(recover)(...question));

  /** Derives with threads that are always ready, and gives the number of signers that the main thread recovered. */
  async function derive(ask: Threads["ask"], ready = 1) {
    let here = 0;
    const counting = remembered((...question) => {
      here++;
      return recover(...question);
    });
    const threads = { start: () => {}, withAtMost: () => ready, ask };
    const { store } = await foldLog(textsOf(lines), {
      recover: counting,
      ahead: (parts) => recoverAhead(parts, threads, counting.known),
    });
    expect(snapshotOf(store)).to.deep.equal(snapshotOf(expected));
    expect([...store.rows("record").values()]).to.deep.equal([...expected.rows("record").values()]);
    return here;
  }

  it("leave nothing for the check to recover, and change no row", async () => {
    expect(await derive(answer)).to.equal(0);
  });

  it("are recovered in the check when threads answer never, not always, or are busy; late answers are awaited", async () => {
    const late = async (questions: Question[]) => {
      await new Promise((resolve) => setTimeout(resolve, questions.length % 7));
      return answer(questions);
    };
    expect(await derive(late)).to.equal(0);
    let asked = 0;
    const all = await derive(async () => null);
    const some = await derive(async (questions) => (asked++ % 2 === 0 ? answer(questions) : null));
    expect(some).to.be.above(0).and.below(all);
    expect(await derive(() => expect.fail("a busy thread was asked"), 0)).to.equal(all);
  });

  it("come from real threads with the same result", async () => {
    const { store } = await deriveLog(textsOf(lines));
    expect(snapshotOf(store)).to.deep.equal(snapshotOf(expected));
    expect(statusesOf(store)).to.deep.equal(statusesOf(expected));

    const reasons: string[] = [];
    const threads = new SignatureThreads({ most: 1, onEnd: (reason) => reasons.push(reason) });
    try {
      threads.start();
      while (threads.ready === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const known = new KnownSigners();
      let [found, missing] = [0, 0];
      for await (const { events } of recoverAhead(readParts(textsOf(lines), new LogReader()), threads, known))
        for (const event of events) {
          if (event?.kind !== "record") continue;
          const signer = known.get(event.body, event.signature);
          if (signer === undefined) missing++;
          else {
            found++;
            expect(signer === event.signer).to.equal(
              isSignedBy(event.body, event.signature, event.signer, recover),
            );
          }
        }
      expect(found).to.be.above(missing);
    } finally {
      await threads.close();
    }
    expect(reasons).to.deep.equal([]);
  });

  it("are recovered a limited number of parts ahead, and in order, and nothing is read after the reader stops", async () => {
    let [read, given, isClosed] = [0, 0, false];
    const sizeOf = (n: number) => 1 << (n % 23);
    const charactersBetween = (from: number, to: number) => {
      let sum = 0;
      for (let n = from; n <= to; n++) sum += sizeOf(n);
      return sum;
    };
    async function* parts(): AsyncGenerator<LogPart> {
      try {
        for (; ; read++) yield { first: read, events: [], size: sizeOf(read), failure: undefined };
      } finally {
        isClosed = true;
      }
    }
    const threads: Threads = { start: () => {}, withAtMost: () => 1, ask: async () => null };
    let ahead = 0;
    for await (const { first } of recoverAhead(parts(), threads, new KnownSigners())) {
      expect(first).to.equal(given++);
      expect(read - first).to.be.most(12);
      expect(charactersBetween(first + 1, read)).to.be.most((8 << 20) + (1 << 22));
      ahead = Math.max(ahead, read - first);
      if (given === 100) break;
    }
    expect(ahead).to.be.above(3);
    expect(isClosed).to.equal(true);
  });

  it("report the first fault of a log, whatever is wrong after it", async () => {
    const [first = "", ...others] = lines.slice(0, 3);
    const released = `{"block":0,"time":1767225600,"log":1,"kind":"escrow.released","escrowId":"0x${"1".repeat(64)}","toSeller":"1","toBuyer":"0","fee":"0"}`;
    for (const [log, message] of [
      [[first, released, "{", ...others], /^Line 2 contradicts/],
      [[first, "", "{", released, ...others], /^Line 3 is not an event/],
      [[...lines, "{"], new RegExp(`^Line ${lines.length + 1} is not an event`)],
    ] as const) {
      const error = await deriveLog(textsOf(log)).then(
        () => expect.fail("it was derived"),
        (it) => it,
      );
      expect(error.message).to.match(message);
    }
    // Lines after the last requested block are not read.
    const { store } = await deriveLog(textsOf([...lines, "{"]), { atBlock: 3 });
    expect(snapshotOf(store).asOf.block).to.be.most(3);
  });
});
