import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { canonicalBody } from "tallystick-protocol/json/recordBody";
import { recordDigest, signBody } from "tallystick-protocol/records/record";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { readSignatureHere, type SignatureReading } from "tallystick-runtime/signatures/readSignature";
import {
  SignatureReaders,
  type SignatureReadersParameters,
} from "../../../services/settlement/signatures/signatureReaders.ts";
import { listingBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("readers of signatures", () => {
  const folder = temporaryFolder();
  let here: (canonicalBody: string, signature: string) => SignatureReading;
  let readHere: number;
  let log: string[];
  let readers: SignatureReaders;
  let asked: [canonical: string, signature: string][];

  before(async () => {
    const read = readSignatureHere(await recoverByWasm());
    here = (...question) => {
      readHere++;
      return read(...question);
    };
    const bodies = Array.from({ length: 6 }, (_, i) => listingBody({ max_latency_ms: i, text: "caf\u00e9" }));
    asked = await Promise.all(
      bodies.map(async (body) => [canonicalBody(body), await signBody(body, { account: seller })]),
    );
    asked.push(
      ["{}", "0x"],
      ["{}", `0x${"00".repeat(65)}`],
      ["{}", `0x${"ff".repeat(64)}1b`],
      ["{}", "0xzz"],
    );
  });
  const create = (parameters: Partial<SignatureReadersParameters> = {}): void => {
    [readHere, log] = [0, []];
    readers = new SignatureReaders({
      here,
      log: (sentence) => log.push(sentence),
      threads: 1,
      ...parameters,
    });
  };
  afterEach(() => readers.close());

  const readAll = () => Promise.all(asked.map((question) => readers.read(...question)));
  const expected = () => asked.map((question) => here(...question));
  async function untilThreadsWork(): Promise<void> {
    await readAll();
    while (readers.threads === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    readHere = 0;
  }

  it("give each caller its own answer, on threads for many concurrent callers and directly for one", async () => {
    create();
    expect(await readAll()).to.deep.equal(expected());
    await untilThreadsWork();
    const answers = await Promise.all([readAll(), readAll()]);
    expect(readHere).to.equal(0);
    expect(answers).to.deep.equal([expected(), expected()]);
    readHere = 0;
    const [question] = asked;
    expect(await readers.read(...question!)).to.deep.equal({
      digest: recordDigest(listingBody({ max_latency_ms: 0, text: "caf\u00e9" })),
      signer: seller.address.toLowerCase(),
    });
    expect(readHere).to.equal(1);
    expect(log).to.deep.equal([]);
  });

  const program = (source: string) =>
    new URL(`data:text/javascript,import { parentPort } from "node:worker_threads"; ${source}`);

  it("send a busy thread a second batch when enough signatures wait, and each later batch after the thread has finished one", async () => {
    // Every answer contains the number of questions in its batch. The thread answers nothing while the file
    // exists.
    const hold = path.join(folder.path, "hold");
    const source = `
      import { existsSync } from "node:fs";
      const batches = [];
      const answer = () => {
        if (existsSync(${JSON.stringify(hold)})) return setTimeout(answer, 5);
        for (const { length } of batches.splice(0))
          parentPort.postMessage(Array.from({ length }, () => ({ digest: length })));
      };
      parentPort.on("message", (batch) => { if (batches.push(batch) === 1) answer(); });
      parentPort.postMessage("ready");`;
    create({ program: program(source) });
    await untilThreadsWork();
    writeFileSync(hold, "");
    const answers: Promise<SignatureReading>[] = [];
    for (const count of [2, 3, 4, 5, 38]) {
      for (let i = 0; i < count; i++) answers.push(Promise.resolve(readers.read("{}", "0x")));
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
    rmSync(hold);
    const sizes = (await Promise.all(answers)).map(({ digest }) => Number(digest));
    expect(sizes).to.deep.equal([2, 12, 32, 6].flatMap((size) => Array(size).fill(size)));
    expect(readHere).to.equal(0);
  });

  it("read in this thread what another thread did not answer before it ended", async () => {
    const source = 'parentPort.on("message", () => process.exit(3)); parentPort.postMessage("ready");';
    create({ program: program(source) });
    await untilThreadsWork();
    expect(await readAll()).to.deep.equal(expected());
    expect(log).to.have.length(1);
  });

  it("read in this thread what another thread does not answer", async () => {
    // The thread reports that it is ready, and hangs. A client that settles a record must not wait for it forever.
    const source = 'parentPort.on("message", () => {}); parentPort.postMessage("ready");';
    create({ program: program(source), patienceMs: 200 });
    await untilThreadsWork();
    expect(await readAll()).to.deep.equal(expected());
    expect(log).to.have.length(1);
  });

  it("read everything in this thread if threads cannot be started, and try to start them only once", async () => {
    create({ program: program('throw new Error("no");') });
    while (log.length === 0) {
      expect(await readAll()).to.deep.equal(expected());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await readAll()).to.deep.equal(expected());
    expect([readers.threads, log.length]).to.deep.equal([0, 1]);
  });

  it("leave nobody without an answer when they are closed", async () => {
    create();
    await untilThreadsWork();
    const answers = [readAll(), readAll()];
    await new Promise((resolve) => setImmediate(resolve));
    await readers.close();
    expect(await Promise.all(answers)).to.deep.equal([expected(), expected()]);
    expect(await readAll()).to.deep.equal(expected());
  });
});
