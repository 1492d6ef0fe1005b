import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { expect } from "chai";
import fc from "fast-check";
import { toHex } from "tallystick-protocol/hex";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { messageHash, signerOfText, textDigest } from "tallystick-protocol/signatures/signedText";
import { type Question, SignerThreads } from "../../../indexer/src/segments/signerThreads.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

const ORDER = secp256k1.Point.Fn.ORDER;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

/** Signatures as they come: right ones, their malleable twins, ones over something else, those of contracts, no signatures. */
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
  const failing = (parameters: { source: string; patienceMs?: number }) => {
    const reasons: string[] = [];
    const { source, ...others } = parameters;
    const program = new URL(
      `data:text/javascript,import { parentPort } from "node:worker_threads"; ${source}`,
    );
    return { reasons, threads: new SignerThreads({ onEnd: (it) => reasons.push(it), program, ...others }) };
  };
  const question: Question = ["{}", "0x"];

  it("say of any signature what the main thread says, by WebAssembly and in plain JavaScript", async () => {
    const threads = new SignerThreads({ onEnd: (reason) => expect.fail(reason) });
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyQuestion, { maxLength: 12 }), async (questions) => {
        const answers = await threads.ask(questions);
        for (const recover of [recoverFast, recoverByNoble]) {
          expect(answers).to.deep.equal(
            questions.map(([text, signature]) => signerOfText(text, signature, recover)),
          );
        }
        found += answers?.filter((it) => it !== null).length ?? 0;
      }),
      { numRuns: 20 },
    );
    expect(found).to.be.above(0);
  });

  it("answer many who ask at once each with its own", async () => {
    const threads = new SignerThreads({ onEnd: (reason) => expect.fail(reason) });
    const lists = fc.sample(fc.array(anyQuestion, { maxLength: 3 }), 20);
    const answers = await Promise.all(lists.map((list) => threads.ask(list)));
    expect(answers).to.deep.equal(
      lists.map((list) => list.map(([text, signature]) => signerOfText(text, signature, recoverFast))),
    );
  });

  for (const [what, source, reason] of [
    ["cannot be started", 'throw new Error("no such thing");', "no such thing"],
    ["ends when it is asked", 'parentPort.on("message", () => process.exit(3));', "exit code 3"],
  ] as const) {
    it(`leave the asker to itself when one ${what}, and are not started again`, async () => {
      const { threads, reasons } = failing({ source });
      expect(await Promise.all([threads.ask([question]), threads.ask([question])])).to.deep.equal([
        null,
        null,
      ]);
      expect(await threads.ask([question])).to.equal(null);
      expect(reasons).to.deep.equal([reason]);
    });
  }

  it("leave the asker to itself when one does not answer", async () => {
    const source =
      'parentPort.on("message", ([[text]]) => text === "hang" || parentPort.postMessage([null]));';
    // Only the one that is to give up has little patience: a busy machine may need long to start a thread.
    expect(await failing({ source }).threads.ask([question])).to.deep.equal([null]);
    const { threads, reasons } = failing({ source, patienceMs: 200 });
    expect(await threads.ask([["hang", "0x"]])).to.equal(null);
    expect(await threads.ask([question])).to.equal(null);
    expect(reasons).to.deep.equal(["no answer within 200 ms"]);
  });

  it("say why when the process may not have any", async () => {
    const reasons: string[] = [];
    const threads = new SignerThreads({
      onEnd: (it) => reasons.push(it),
      program: new URL("http://nowhere/"),
    });
    expect(await threads.ask([question])).to.equal(null);
    expect(reasons).to.have.length(1);
  });

  it("do not hold a process that has nothing else to do", async () => {
    const args = nodeProgram("test/indexer/segments/support/askOnce.ts");
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: repositoryRoot,
      timeout: 15_000,
    });
    expect(stdout).to.equal("[null]\n");
  });
});
