import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { expect } from "chai";
import fc from "fast-check";
import { toHex } from "tallystick-protocol/hex";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { messageHash, textDigest } from "tallystick-protocol/signatures/signedText";
import { readSignatureHere } from "tallystick-runtime/signatures/readSignature";
import {
  type Question,
  SignatureThreads,
  type SignatureThreadsParameters,
} from "tallystick-runtime/signatures/signatureThreads";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

const ORDER = secp256k1.Point.Fn.ORDER;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

/** Right signatures, their malleable twins, signatures over another text, signatures with a wrong v, and any other bytes. */
const anyQuestion: fc.Arbitrary<Question> = fc
  .record({
    text: fc.string({ unit: "grapheme" }),
    other: fc.string(),
    secret: bytes32.filter((secret) => secp256k1.utils.isValidSecretKey(secret)),
    kind: fc.constantFrom("right", "v0", "twin", "wrong", "flipped"),
    any: fc.oneof(bytes32.map(toHex), fc.string(), fc.uint8Array({ maxLength: 100 }).map(toHex)),
    isAny: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ text, other, secret, kind, any, isAny }): Question => {
    if (isAny === 0) return [text, any];
    const hash = messageHash(textDigest(kind === "wrong" ? `${text}${other}!` : text));
    const signed = secp256k1.sign(hash, secret, { prehash: false, format: "recovered" });
    const s = BigInt(toHex(signed.subarray(33)));
    const v = (signed[0] as number) ^ (kind === "flipped" || kind === "twin" ? 1 : 0);
    const tail = (kind === "twin" ? ORDER - s : s).toString(16).padStart(64, "0");
    const last = (v + (kind === "v0" ? 0 : 27)).toString(16).padStart(2, "0");
    return [text, `${toHex(signed.subarray(1, 33))}${tail}${last}`];
  });

describe("threads that read signatures", () => {
  let recoverFast: RecoverPublicKey;
  before(async () => {
    recoverFast = await recoverByWasm();
  });
  let open: SignatureThreads[];
  beforeEach(() => {
    open = [];
  });
  afterEach(() => Promise.all(open.map((threads) => threads.close())));
  function create(parameters: Partial<SignatureThreadsParameters> = {}): SignatureThreads {
    const threads = new SignatureThreads({
      most: 2,
      patienceMs: 60_000,
      onEnd: (reason) => expect.fail(reason),
      ...parameters,
    });
    open.push(threads);
    return threads;
  }
  /** Threads that run this program, and the reasons why they ended. */
  const withProgram = ({ source, ...others }: { source: string; patienceMs?: number; most?: number }) => {
    const reasons: [string, boolean][] = [];
    const program = new URL(
      `data:text/javascript,import { parentPort } from "node:worker_threads"; ${source}`,
    );
    return {
      reasons,
      threads: create({ onEnd: (...ended) => reasons.push(ended), program, ...others }),
    };
  };
  const question: Question = ["{}", "0x"];

  it("give the same answer as the main thread for any signature, with WebAssembly and with plain JavaScript", async () => {
    const threads = create();
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyQuestion, { maxLength: 12 }), async (questions) => {
        const answers = await threads.ask(questions);
        for (const recover of [recoverFast, recoverByNoble]) {
          expect(answers).to.deep.equal(questions.map((question) => readSignatureHere(recover)(...question)));
        }
        found += answers?.filter(({ signer }) => signer !== null).length ?? 0;
      }),
      { numRuns: 20 },
    );
    expect(found).to.be.above(0);
  });

  it("give each of many concurrent callers its own answer", async () => {
    const threads = create();
    const lists = fc.sample(fc.array(anyQuestion, { maxLength: 3 }), 20);
    const answers = await Promise.all(lists.map((list) => threads.ask(list)));
    expect(answers).to.deep.equal(
      lists.map((list) => list.map((question) => readSignatureHere(recoverFast)(...question))),
    );
  });

  for (const [what, source, reason] of [
    ["cannot be started", 'throw new Error("no such thing");', "no such thing"],
    ["ends when it is asked", 'parentPort.on("message", () => process.exit(3));', "exit code 3"],
  ] as const) {
    it(`leave the work to the caller when a thread ${what}, and are not started again`, async () => {
      const { threads, reasons } = withProgram({ source });
      expect(await Promise.all([threads.ask([question]), threads.ask([question])])).to.deep.equal([
        null,
        null,
      ]);
      expect(await threads.ask([question])).to.equal(null);
      expect(reasons).to.deep.equal([[reason, true]]);
    });
  }

  it("leave the work to the caller when a thread does not answer", async () => {
    const source =
      'parentPort.on("message", ([[text]]) => text === "hang" || parentPort.postMessage([null]));';
    // Only the thread that must not answer has a short limit. A busy machine may need long to start a thread.
    expect(await withProgram({ source }).threads.ask([question])).to.deep.equal([null]);
    const { threads, reasons } = withProgram({ source, patienceMs: 200 });
    expect(await threads.ask([["hang", "0x"]])).to.equal(null);
    expect(await threads.ask([question])).to.equal(null);
    expect(reasons).to.deep.equal([["no answer within 200 ms", true]]);
  });

  it("are replaced if they ended or became silent after an answer", async () => {
    const source = `
      let isSilent = false;
      parentPort.on("message", ([[text]]) => {
        if (text === "end") process.exit(3);
        isSilent ||= text === "hang";
        if (!isSilent) parentPort.postMessage([text]);
      });
      parentPort.postMessage("ready");`;
    // The test waits until a thread is ready, because a busy machine may need long to start a thread.
    const whenReady = async (threads: SignatureThreads): Promise<SignatureThreads> => {
      threads.start();
      while (threads.ready === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      return threads;
    };
    for (const [what, reason, patienceMs] of [
      ["end", "exit code 3", 60_000],
      ["hang", "no answer within 2000 ms", 2_000],
    ] as const) {
      const { threads, reasons } = withProgram({ source, patienceMs, most: 1 });
      expect(await (await whenReady(threads)).ask([question])).to.deep.equal(["{}"]);
      // The next question gets no answer either, and its caller does not wait forever.
      const asked = [threads.ask([[what, "0x"]]), threads.ask([question])];
      expect(await Promise.all(asked)).to.deep.equal([null, null]);
      expect(reasons).to.deep.equal([[reason, false]]);
      expect(await (await whenReady(threads)).ask([question])).to.deep.equal(["{}"]);
    }
  });

  it("answer all callers with null when they are closed, and afterwards", async () => {
    const { threads, reasons } = withProgram({ source: 'parentPort.on("message", () => {});' });
    const asked = threads.ask([question]);
    await threads.close();
    expect([await asked, await threads.ask([question]), threads.ready, reasons]).to.deep.equal([
      null,
      null,
      0,
      [],
    ]);
  });

  it("report why no thread can be started", async () => {
    const reasons: string[] = [];
    const threads = create({ onEnd: (it) => reasons.push(it), program: new URL("http://nowhere/") });
    expect(await threads.ask([question])).to.equal(null);
    expect(reasons).to.have.length(1);
  });

  it("do not keep a process alive that has no other work", async () => {
    const args = nodeProgram("test/runtime/signatures/support/askOnce.ts");
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: repositoryRoot,
      timeout: 120_000,
    });
    expect(JSON.parse(stdout)).to.deep.equal([readSignatureHere()("{}", "0x")]);
  });
});
