import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { cosign, cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import { formatSignatureLines, parseSignedNote } from "tallystick-protocol/note/signedNote";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import type { Fetch } from "tallystick-sdk/requestService";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import { Witnesses } from "../../../services/settlement/witnessing/witnesses.ts";
import { createWitnessApp } from "../../../services/witness/app.ts";
import { Witness } from "../../../services/witness/witness.ts";
import { WitnessStore } from "../../../services/witness/witnessStore.ts";
import { LOG_NAME, logKey, testLog } from "../../witness/support/testLog.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const NOW = 1_767_225_600;
const NAMES = ["w1", "w2", "w3"] as const;
type Name = (typeof NAMES)[number];
const seedOf = (name: Name): Uint8Array => new Uint8Array(32).fill(Number(name[1]));
const keyOf = (name: Name) => cosignerKey(`witness.test/${name}`, ed25519.getPublicKey(seedOf(name)));

/** The policy requires two of the three witnesses. */
const policy = parseTrustPolicy(
  `${NAMES.map((name) => `witness ${name} ${formatCosignerKey(keyOf(name))} https://${name}.test/in/`).join("\n")}
group two 2 ${NAMES.join(" ")}
quorum two`,
);

describe("the witnesses of a ledger", () => {
  const folder = temporaryFolder();
  const closes: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
  });

  /**
   * Three real witnesses, a ledger, and the connections between them. `faults` has the answers that replace a
   * witness's own answers.
   */
  function setUp(options: { required?: boolean; anchorMs?: number; answerMs?: number } = {}) {
    const faults = new Map<Name, Fault>();
    const asked: { name: Name; old: number }[] = [];
    const apps = new Map(
      NAMES.map((name) => {
        const store = new WitnessStore(path.join(folder.path, name));
        closes.push(() => store.close());
        const witness = new Witness({
          name: `witness.test/${name}`,
          seed: seedOf(name),
          logs: [logKey],
          store,
          now: () => NOW,
        });
        return [name, createWitnessApp(witness, () => {})];
      }),
    );
    const fetch: Fetch = async (input, init) => {
      const url = new URL(input);
      const name = url.hostname.slice(0, 2) as Name;
      expect(url.pathname).to.equal("/in/add-checkpoint");
      const body = String(init?.body);
      asked.push({ name, old: Number(/^old ([0-9]+)/.exec(body)?.[1]) });
      const answer = await faults.get(name)?.(body, init?.signal as AbortSignal);
      if (answer !== undefined) return answer;
      if (init?.signal?.aborted) throw new Error("aborted");
      return await apps.get(name)!.request("/add-checkpoint", { method: "POST", body });
    };
    const log = testLog();
    const start = (own = log, size = 0) => {
      const logged: string[] = [];
      const fields: { cause?: unknown }[] = [];
      const cosigned = new Map<number, string[]>();
      const witnessed: number[] = [];
      const gate = new LedgerGate((sentence) => logged.push(sentence));
      own.root(size);
      const witnesses = new Witnesses({
        config: {
          policy,
          required: options.required ?? false,
          witnesses: policy.witnesses.map((one) => ({ ...one, url: one.url as string })),
        },
        tree: own.tree,
        gate,
        log: (sentence, more = {}) => {
          logged.push(sentence);
          fields.push(more);
        },
        onCosigned: (at, signatures) =>
          cosigned.set(at, [...(cosigned.get(at) ?? []), ...signatures.map(({ name }) => name)]),
        onWitnessed: (at) => witnessed.push(at),
        fetch,
        now: () => NOW,
        times: {
          answerMs: options.answerMs ?? 60_000,
          roundMs: 60_000,
          firstBackoffMs: 5,
          maxBackoffMs: 20,
          anchorMs: options.anchorMs ?? 60_000,
        },
      });
      closes.push(() => witnesses.stop());
      const offer = (at: number) => witnesses.offer({ size: at, note: own.checkpoint(at) });
      return { witnesses, gate, offer, logged, fields, cosigned, witnessed };
    };
    return { start, faults, asked, log };
  }

  it("cosign every checkpoint, and the quorum is reported once for each", async () => {
    const { start, asked } = setUp();
    const { witnesses, offer, cosigned, witnessed } = start();
    for (const size of [3, 4, 90]) {
      offer(size);
      expect(await witnesses.sizeToAnchor(0, size)).to.equal(size);
      await witnesses.firstAnswers();
    }
    expect(witnessed).to.deep.equal([3, 4, 90]);
    expect(cosigned.get(90)!.sort()).to.deep.equal(["witness.test/w1", "witness.test/w2", "witness.test/w3"]);
    expect(asked).to.have.length(9);
    expect(witnesses.states.map(({ size, time, error }) => ({ size, time, error }))).to.deep.equal(
      NAMES.map(() => ({ size: 90, time: NOW, error: null })),
    );
  });

  it("are asked again with the size that they name, if this process does not know it", async () => {
    const { start, asked, log } = setUp();
    const first = start();
    first.offer(7);
    await first.witnesses.sizeToAnchor(0, 7);
    await first.witnesses.firstAnswers();
    asked.length = 0;
    const second = start(log, 7);
    second.offer(9);
    expect(await second.witnesses.sizeToAnchor(0, 9)).to.equal(9);
    await second.witnesses.firstAnswers();
    expect(asked.map(({ old }) => old).sort()).to.deep.equal([0, 0, 0, 7, 7, 7]);
  });

  it("make a quorum without one of them, which is asked again until it is back", async () => {
    const { start, faults } = setUp();
    const { witnesses, offer, witnessed, logged } = start();
    faults.set("w2", () => new Response("busy", { status: 503 }));
    offer(5);
    expect(await witnesses.sizeToAnchor(0, 5)).to.equal(5);
    await until(() => witnesses.states[1]!.failures >= 3);
    expect(witnesses.states[1]!.error).to.match(/w2 has not cosigned: it answered 503/);
    faults.clear();
    await until(() => witnesses.states[1]!.size === 5);
    expect(witnessed).to.deep.equal([5]);
    expect(logged.filter((line) => /does not cosign/.test(line))).to.have.length(1);
    expect(logged.filter((line) => /cosigns again/.test(line))).to.have.length(1);
  });

  for (const [what, fault] of [
    ["does not answer", hang],
    ["gives an empty answer", () => new Response("")],
    ["gives an answer that is too long", () => new Response("x".repeat(20_000))],
    ["answers with an HTML page", () => new Response("<html>")],
    ["answers 200 with the signature of another witness", (body: string) => answerAs("w1", body, {})],
    [
      "answers 200 with a signature over another text",
      (body: string) => answerAs("w3", body, { text: "other\n1\nAA\n" }),
    ],
    ["answers 200 with an old time", (body: string) => answerAs("w3", body, { time: NOW - 601 })],
    ["answers 200 with a future time", (body: string) => answerAs("w3", body, { time: NOW + 601 })],
    ["answers 409 without a size", () => new Response("?", { status: 409, headers: SIZE })],
    ["answers 409 as a proxy would", () => new Response("conflict", { status: 409 })],
    ["names another size at each request", sizes()],
    ["answers 422 to a ledger that it has not seen", () => new Response("", { status: 422 })],
    ["answers 403", () => new Response("", { status: 403 })],
    ["redirects", () => Promise.reject(new TypeError("redirected"))],
  ] as const) {
    it(`do not stop anything if one ${what}`, async () => {
      const { start, faults, asked } = setUp(fault === hang ? { answerMs: 200 } : {});
      const { witnesses, gate, offer, cosigned } = start();
      // w3 fails from the first request on, and is asked whatever the other two do. These two make the quorum.
      faults.set("w3", fault);
      offer(20);
      expect(await witnesses.sizeToAnchor(0, 20)).to.equal(20);
      await until(() => witnesses.states[2]!.failures > 0);
      expect(gate.refusal).to.equal(undefined);
      expect(cosigned.get(20)).to.have.members(["witness.test/w1", "witness.test/w2"]);
      const before = asked.length;
      await new Promise((resolve) => setTimeout(resolve, 60));
      // It is asked again, with pauses between the requests.
      expect(asked.length - before).to.be.below(20);
    });
  }

  it("do not choose the words that submitters and readers of the health get; the log has them", async () => {
    const { start, faults } = setUp({ required: true, anchorMs: 1 });
    const { witnesses, offer, fields } = start();
    for (const name of NAMES) faults.set(name, () => Promise.reject(new Error("words of another")));
    offer(5);
    await until(() => witnesses.states.every(({ failures }) => failures > 0));
    expect(witnesses.states[0]!.error).to.equal("The witness w1 has not cosigned: it gave no whole answer.");
    const missing = await witnesses.sizeToAnchor(0, 5).catch((error: Error) => error);
    expect(String(missing)).to.contain("in time").and.not.to.contain("words of another");
    expect(String(fields[0]?.cause)).to.contain("words of another");
  });

  it("stop all writes if one has more of the ledger than this copy", async () => {
    const { start, log } = setUp();
    const first = start();
    first.offer(30);
    await first.witnesses.sizeToAnchor(0, 30);
    await first.witnesses.firstAnswers();
    await first.witnesses.stop();

    // An older copy of the ledger.
    const copy = testLog();
    const { witnesses, gate, offer, logged } = start(copy, 12);
    offer(12);
    await witnesses.firstAnswers();
    expect(gate.refusal).to.include({ code: "witness_ahead" });
    expect(gate.refusal?.message).to.match(/has cosigned 30 entries, but there are only 12 here/);
    expect(gate.maySign).to.equal(false);
    expect(() => gate.requireWrites())
      .to.throw()
      .with.property("code", "witness_ahead");
    expect(() => gate.requireSignatures())
      .to.throw()
      .with.property("code", "witness_ahead");
    let refused: unknown;
    await witnesses.sizeToAnchor(0, 12).catch((error) => {
      refused = error;
    });
    expect(refused).to.include({ code: "witness_ahead" });
    expect(logged.filter((line) => /refused/.test(line))).to.have.length(1);
    expect(log.tree.size).to.be.above(12);
  });

  for (const [what, size] of [
    ["the same size", 30],
    ["a larger size", 31],
  ] as const) {
    it(`stop all writes if one has seen other entries, at ${what}`, async () => {
      const { start } = setUp();
      const first = start();
      first.offer(30);
      await first.witnesses.sizeToAnchor(0, 30);
      await first.witnesses.firstAnswers();
      await first.witnesses.stop();
      const { witnesses, gate, offer } = start(testLog(1, 29), size);
      offer(size);
      await witnesses.firstAnswers();
      expect(gate.refusal).to.include({ code: "witness_ahead" });
      expect(gate.refusal?.message).to.match(/does not find that 3[01] entries continue/);
    });
  }

  it("are understood also in the protocol's first edition, where another root at the same size gets 409", async () => {
    const { start, faults } = setUp();
    const { witnesses, gate, offer } = start();
    offer(4);
    await witnesses.sizeToAnchor(0, 4);
    await witnesses.firstAnswers();
    faults.set("w1", (body) =>
      body.startsWith("old 5") ? new Response("5\n", { status: 409, headers: SIZE }) : sizeAnswer(5),
    );
    offer(5);
    await until(() => gate.refusal !== undefined);
    expect(gate.refusal).to.include({ code: "witness_ahead" });
  });

  it("let the anchor continue without them if no quorum comes in time, and the log reports this", async () => {
    const { start, faults } = setUp({ anchorMs: 40 });
    const { witnesses, offer, logged } = start();
    for (const name of ["w1", "w2"] as const) faults.set(name, () => new Response("", { status: 500 }));
    offer(8);
    expect(await witnesses.sizeToAnchor(0, 8)).to.equal(8);
    expect(logged.join("\n")).to.match(/Anchoring without the quorum of witnesses/);
    // After a long time without a quorum, an anchor does not wait again.
    offer(9);
    const waits = new Promise((resolve) => setImmediate(() => resolve("it waits")));
    expect(await Promise.race([witnesses.sizeToAnchor(8, 9), waits])).to.equal(9);
  });

  it("delay the anchor if a quorum is required", async () => {
    const { start, faults } = setUp({ required: true, anchorMs: 40 });
    const { witnesses, offer } = start();
    for (const name of ["w1", "w2"] as const) faults.set(name, () => new Response("", { status: 500 }));
    offer(8);
    let refused: unknown;
    await witnesses.sizeToAnchor(0, 8).catch((error) => {
      refused = error;
    });
    expect(refused).to.include({ code: "witness_quorum_missing" });
    faults.clear();
    await until(() => witnesses.witnessedSize === 8);
    expect(await witnesses.sizeToAnchor(0, 8)).to.equal(8);
  });

  it("limit the anchor to the cosigned entries", async () => {
    const { start, faults } = setUp({ anchorMs: 60 });
    const { witnesses, offer } = start();
    offer(8);
    await witnesses.sizeToAnchor(0, 8);
    await witnesses.firstAnswers();
    for (const name of NAMES) faults.set(name, () => new Response("", { status: 500 }));
    offer(11);
    expect(await witnesses.sizeToAnchor(4, 11)).to.equal(8);
  });

  it("cosign a common checkpoint although their speeds differ", async () => {
    const { start, faults } = setUp();
    const { witnesses, offer, witnessed } = start();
    const slow = (ms: number) => async () => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return undefined as unknown as Response;
    };
    faults.set("w1", slow(2));
    faults.set("w2", slow(13));
    faults.set("w3", slow(29));
    for (let size = 1; size <= 60; size++) {
      offer(size);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(await witnesses.sizeToAnchor(0, 60)).to.equal(60);
    expect(witnessed.length).to.be.above(5);
    expect(witnessed).to.deep.equal([...witnessed].sort((a, b) => a - b));
  });

  it("get no requests after the service stops", async () => {
    const { start, faults } = setUp();
    const { witnesses, offer } = start();
    for (const name of NAMES) faults.set(name, hang);
    offer(3);
    const anchor = witnesses.sizeToAnchor(0, 3).catch((error) => error.code);
    await witnesses.stop();
    expect(await anchor).to.equal("witness_quorum_missing");
  });
});

const SIZE = { "content-type": "text/x.tlog.size" };

function sizeAnswer(size: number): Response {
  return new Response(`${size}\n`, { status: 409, headers: SIZE });
}

/** Answers in place of a witness. With undefined the witness answers itself. */
type Fault = (body: string, signal: AbortSignal) => Response | Promise<Response> | undefined;

function hang(_: string, signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** A witness that names another size at each request, also when the request begins at the size that it named before. */
function sizes(): () => Response {
  let size = 0;
  return () => sizeAnswer(++size % 19);
}

function answerAs(
  name: Name,
  body: string,
  { text, time = NOW }: { text?: string; time?: number },
): Response {
  const note = parseSignedNote(body.slice(body.indexOf("\n\n") + 2));
  expect(note.text).to.match(new RegExp(`^${LOG_NAME}`));
  const signature = cosign(text ?? note.text, `witness.test/${name}`, seedOf(name), time);
  return new Response(formatSignatureLines([signature]));
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error("it has not come to that");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
