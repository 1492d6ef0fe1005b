import { expect } from "chai";
import { auditToken } from "tallystick-protocol/records/auditToken";
import { isSignedBy } from "tallystick-protocol/records/record";
import type { Judge } from "tallystick-sdk/auditor/judge";
import { everyJudge } from "tallystick-sdk/auditor/judge";
import { personJudge } from "tallystick-sdk/auditor/personJudge";
import { programJudge } from "tallystick-sdk/auditor/programJudge";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { endAtEveryWrite } from "../../support/endAtEveryWrite.ts";
import { rejection } from "../support/tamper.ts";
import {
  type AuditScene,
  auditedHire,
  DAY,
  openAuditScene,
  passes,
  refuses,
  shows,
  useAuditScene,
} from "./auditScene.ts";

describe("an auditor", () => {
  const { scene: current, ledger } = useAuditScene();
  let scene: AuditScene;
  beforeEach(() => {
    scene = current();
  });

  it("gets the work from the seller, with a proof, and signs one verdict with the receipt's hashes", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    const seller = await scene.hold(hire.seller.address, shows(hire.disclosure));
    const buyer = await scene.hold(hire.buyer.address, shows(hire.disclosure));
    const seen: unknown[] = [];
    const judge: Judge = async (auditCase, context) => {
      seen.push(auditCase.params, auditCase.result);
      return passes(auditCase, context);
    };
    const store = memoryStore();
    const auditor = scene.auditorOf(hire, { judge, store });
    await auditor.round();
    await auditor.round();

    expect(seen).to.deep.equal([{ text: "Where is the library?" }, { text: "Dov'è la biblioteca?" }]);
    const [verdict, ...more] = scene.verdicts();
    expect(more).to.deep.equal([]);
    const { round, attempt, paramsHash, resultHash } = hire.assignment;
    expect(verdict.body).to.deep.include({
      hire: hire.assignment.hire,
      round,
      attempt,
      verdict: "pass",
      params_hash: paramsHash,
      result_hash: resultHash,
    });
    expect(isSignedBy(verdict.body, verdict.signature, hire.auditor.address)).to.equal(true);
    expect([seller.asked.length, buyer.asked.length]).to.deep.equal([1, 0]);
    expect(seller.asked[0]?.url).to.equal(`/audits/${hire.assignment.hire}`);
    // The auditor deletes the shown work when the verdict is settled. Nothing of the work is in the ledger.
    expect(await store.keys("bytes")).to.deep.equal([]);
    expect(scene.text()).not.to.match(/library|biblioteca/);
    const [work] = await auditor.works();
    expect(work).to.include({ stage: "posted", token: auditToken(hire.assignment) });
    // When nobody waits for the audit and its time is over, the auditor forgets it completely.
    scene.open.pop();
    await auditor.round();
    expect(await auditor.works()).to.have.length(1);
    scene.clock.now += 3 * DAY;
    await auditor.round();
    expect(await auditor.works()).to.deep.equal([]);
    for (const folder of ["work", "verdict", "opinion"]) expect(await store.keys(folder)).to.deep.equal([]);
  });

  it("uses the buyer's copy if the seller shows nothing or other work", async () => {
    for (const answer of [refuses(), shows({ request: "{}", result: "1" })]) {
      const hire = await auditedHire();
      scene.open.push(hire.assignment);
      const seller = await scene.hold(hire.seller.address, answer);
      await scene.hold(hire.buyer.address, shows(hire.disclosure));
      await scene.auditorOf(hire).round();
      expect(seller.asked).to.have.length(1);
      expect(scene.verdicts().at(-1)?.body).to.include({
        hire: hire.assignment.hire,
        verdict: "pass",
      });
    }
  });

  it("ignores assignments that are not final, and assignments that are no longer open", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    const seller = await scene.hold(hire.seller.address, refuses());
    const auditor = scene.auditorOf(hire);
    scene.setFinal(hire.assignment.block - 1);
    await auditor.round();
    expect(seller.asked).to.have.length(0);
    scene.setFinal(hire.assignment.block);
    await auditor.round();
    expect(seller.asked).to.have.length(1);
    // The assignment is no longer open: after a reorganization, or because another auditor is assigned now.
    scene.open.pop();
    seller.answer = shows(hire.disclosure);
    scene.clock.now += DAY;
    await auditor.round();
    expect(seller.asked).to.have.length(1);
    expect(scene.verdicts()).to.deep.equal([]);
  });

  it("resumes an audit that a restarted node did not list for a while, and signs no second verdict", async () => {
    const [asked, decided] = [await auditedHire(), await auditedHire()];
    decided.assignment.auditor = asked.auditor.address;
    for (const hire of [asked, decided]) scene.open.push(hire.assignment);
    const seller = await scene.hold(asked.seller.address, refuses());
    await scene.hold(decided.seller.address, shows(decided.disclosure));
    let isDown = true;
    const verdicts: string[] = [];
    const fetch: typeof scene.fetch = async (input, init) => {
      if (!input.endsWith("/v1/records")) return await scene.fetch(input, init);
      verdicts.push(String(init?.body));
      return isDown ? new Response("{}", { status: 503 }) : await scene.fetch(input, init);
    };
    let codes = ["fabricated", "off_topic"] as const as readonly ("fabricated" | "off_topic")[];
    const judge: Judge = async () => {
      const [code = "off_topic"] = codes;
      codes = codes.slice(1);
      return { verdict: "fail", reasons: [{ code, detail: "" }] };
    };
    const auditor = scene.auditorOf(asked, { fetch, holderFetch: scene.fetch, judge });
    await auditor.round();
    const listed = scene.open.splice(0);
    await auditor.round();
    expect((await auditor.works()).map(({ stage }) => stage)).to.deep.equal(["over", "over"]);
    scene.open.push(...listed);
    isDown = false;
    seller.answer = shows(asked.disclosure);
    scene.clock.now += 600;
    await auditor.round();
    expect(scene.verdicts()).to.have.length(2);
    const ofDecided = verdicts.filter((text) => text.includes(decided.assignment.hire));
    expect(ofDecided).to.have.length(2);
    expect(ofDecided[0]).to.equal(ofDecided[1]);
  });

  it("asks the node about the hire before it closes an audit that is missing in the node's list", async () => {
    const hire = await auditedHire();
    const seller = await scene.hold(hire.seller.address, refuses());
    let isListed = true;
    const node = {
      ...scene.node,
      openOfAuditor: async () => (isListed ? [hire.assignment] : []),
      openOfHire: async () => [hire.assignment],
    };
    const auditor = scene.auditorOf(hire, { node });
    await auditor.round();
    isListed = false;
    seller.answer = shows(hire.disclosure);
    scene.clock.now += 600;
    await auditor.round();
    expect(scene.verdicts()[0]?.body.verdict).to.equal("pass");
  });

  it("gives the reason undisclosed only after it asked seller and buyer many times in three quarters of the audit's time", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    const seller = await scene.hold(hire.seller.address, refuses(503));
    const buyer = await scene.hold(hire.buyer.address, refuses(404));
    const auditor = scene.auditorOf(hire);
    const { time } = hire.assignment;
    for (; scene.clock.now < time + (DAY * 3) / 4; scene.clock.now += 600) {
      await auditor.round();
      expect(scene.verdicts()).to.deep.equal([]);
    }
    // The pauses between the requests grow to an hour.
    expect(seller.asked.length).to.be.within(18, 30);
    expect(buyer.asked.length).to.equal(seller.asked.length);
    scene.clock.now += 3_600;
    await auditor.round();
    const [verdict] = scene.verdicts();
    expect(verdict.body).to.deep.include({
      verdict: "fail",
      reasons: [{ code: "undisclosed", detail: "seller: status_503; buyer: status_404" }],
    });
  });

  it("does not give the reason undisclosed after its first attempts, even if they are late", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    scene.clock.now = hire.assignment.due - 4 * 3_600;
    const seller = await scene.hold(hire.seller.address, refuses());
    const auditor = scene.auditorOf(hire);
    await auditor.round();
    scene.clock.now += 120;
    await auditor.round();
    expect(scene.verdicts()).to.deep.equal([]);
    seller.answer = shows(hire.disclosure);
    scene.clock.now += 300;
    await auditor.round();
    expect(scene.verdicts()[0]?.body.verdict).to.equal("pass");
  });

  it("does not give the reason undisclosed while its clock differs from the node's clock", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    await scene.hold(hire.seller.address, refuses(400));
    let nodeIsAhead = 70;
    const fetch: typeof scene.fetch = async (input, init) => {
      const response = await scene.fetch(input, init);
      const date = new Date((scene.clock.now + nodeIsAhead) * 1000).toUTCString();
      return new Response(response.body, { status: response.status, headers: { date } });
    };
    const auditor = scene.auditorOf(hire, { fetch, holderFetch: scene.fetch });
    for (let at = 0; at < 4; at++) {
      await auditor.round();
      scene.clock.now += DAY / 4 - 60;
    }
    expect(scene.verdicts()).to.deep.equal([]);
    nodeIsAhead = 0;
    await auditor.round();
    expect(scene.verdicts()[0]?.body.reasons[0].code).to.equal("undisclosed");
  });

  it("asks the operator for challenged work if seller and buyer do not show it", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    const operator = await scene.hold("operator", shows(hire.disclosure));
    const operatorOrigins = { [hire.assignment.operator]: `${operator.origin}/v1` };
    await scene.auditorOf(hire, { operatorOrigins }).round();
    expect(operator.asked[0]?.url).to.equal(`/audits/${hire.assignment.hire}`);
    expect(scene.verdicts()[0]?.body.verdict).to.equal("pass");
  });

  it("does not judge a hire whose receipt lacks one of its hashes, or both", async () => {
    for (const missing of [
      { paramsHash: null, resultHash: null },
      { paramsHash: null },
      { resultHash: null },
    ]) {
      const hire = await auditedHire({ assignment: missing });
      scene.open.push(hire.assignment);
      const auditor = scene.auditorOf(hire);
      await auditor.round();
      expect(await auditor.works(), JSON.stringify(missing)).to.deep.equal([]);
    }
  });

  it("gives the reason undisclosed at once if the receipt's hire id is no hash, because no work can match it", async () => {
    const hire = await auditedHire({ assignment: { hireId: null } });
    scene.open.push(hire.assignment);
    const seller = await scene.hold(hire.seller.address, shows(hire.disclosure));
    await scene.auditorOf(hire).round();
    expect(seller.asked).to.have.length(0);
    const { paramsHash: params_hash, resultHash: result_hash } = hire.assignment;
    const reasons = [{ code: "undisclosed", detail: "the receipt does not name the work" }];
    expect(scene.verdicts()[0]?.body).to.deep.include({ verdict: "fail", reasons, params_hash, result_hash });
  });

  it("signs inconclusive near the end of its time if an error stops every step", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    const node = { ...scene.node, originsOf: async () => Promise.reject(new Error("no answer")) };
    const auditor = scene.auditorOf(hire, { node });
    await auditor.round();
    scene.clock.now = hire.assignment.due - DAY / 5;
    await auditor.round();
    expect(scene.verdicts()).to.deep.equal([]);
    scene.clock.now = hire.assignment.due - DAY / 20;
    await auditor.round();
    expect(scene.verdicts()[0]?.body).to.deep.include({
      verdict: "inconclusive",
      reasons: [{ code: "auditor_error", detail: "the audit could not go on" }],
    });
  });

  it("keeps its judgement also if its disk fails near the end of its time, before the verdict is signed", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    await scene.hold(hire.seller.address, shows(hire.disclosure));
    const store = memoryStore();
    let isFull = true;
    const { putNew } = store;
    store.putNew = async (key, value) => {
      if (isFull && key.startsWith("verdict")) throw new Error("ENOSPC");
      return await putNew(key, value);
    };
    const auditor = scene.auditorOf(hire, { store });
    await auditor.round();
    scene.clock.now = hire.assignment.due - DAY / 20;
    await auditor.round();
    expect(scene.verdicts()).to.deep.equal([]);
    isFull = false;
    await auditor.round();
    expect(scene.verdicts()[0]?.body).to.deep.include({ verdict: "pass" });
  });

  it("asks a failing judge again while it has time, and then signs inconclusive, so that another auditor is asked", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    await scene.hold(hire.seller.address, shows(hire.disclosure));
    let times = 0;
    const auditor = scene.auditorOf(hire, {
      judge: async () => {
        times++;
        throw new Error("overloaded");
      },
    });
    for (; scene.clock.now < hire.assignment.due; scene.clock.now += 1_800) await auditor.round();
    expect(times).to.be.within(15, 40);
    expect(scene.verdicts()[0]?.body).to.deep.include({
      verdict: "inconclusive",
      reasons: [{ code: "auditor_error", detail: "no judgement came in time" }],
    });
  });

  it("stops a judge that hangs, and meanwhile judges the other audits", async () => {
    const [stuck, other] = [await auditedHire(), await auditedHire()];
    other.auditor = stuck.auditor;
    other.assignment.auditor = stuck.auditor.address;
    for (const hire of [stuck, other]) {
      scene.open.push(hire.assignment);
      await scene.hold(hire.seller.address, shows(hire.disclosure));
    }
    const judge: Judge = (auditCase, context) =>
      auditCase.assignment.hire === stuck.assignment.hire
        ? new Promise(() => {})
        : passes(auditCase, context);
    await scene.auditorOf(stuck, { judge, judgeMs: 50, atOnce: 2 }).round();
    expect(scene.verdicts().map(({ body }) => body.hire)).to.deep.equal([other.assignment.hire]);
  });

  it("accepts no more audits than its limit", async () => {
    const first = await auditedHire();
    for (let at = 0; at < 5; at++)
      scene.open.push((await auditedHire({ auditor: first.auditor })).assignment);
    const auditor = scene.auditorOf(first, { maxOpen: 3 });
    await auditor.round();
    await auditor.round();
    expect(await auditor.works()).to.have.length(3);
  });

  it("does not publish a judge's text that quotes the work, and refuses invalid judgements", async () => {
    const secret = "the patient in room seven has recovered";
    const hire = await auditedHire({ params: { text: `Say that ${secret}.` } });
    scene.open.push(hire.assignment);
    await scene.hold(hire.seller.address, shows(hire.disclosure));
    const reasons = [
      { code: "factual_error", detail: `It leaves out "The  Patient in room\nseven has recovered".` },
      { code: "truncated", detail: "The last sentence is missing." },
    ] as const;
    let says: unknown = { verdict: "perfect", reasons: [] };
    const auditor = scene.auditorOf(hire, { judge: async () => says as never });
    await auditor.round();
    expect(scene.verdicts()).to.deep.equal([]);
    says = { verdict: "fail", reasons };
    scene.clock.now += 3_600;
    await auditor.round();
    expect(scene.verdicts()[0]?.body.reasons).to.deep.equal([
      { code: "factual_error", detail: "" },
      { code: "truncated", detail: "The last sentence is missing." },
    ]);
    expect(scene.text()).not.to.contain("patient");
  });

  it("keeps nothing of the work for more than 30 days, even without a verdict", async () => {
    const hire = await auditedHire({ assignment: { due: 1_767_225_600 + 90 * DAY } });
    scene.open.push(hire.assignment);
    await scene.hold(hire.seller.address, shows(hire.disclosure));
    const store = memoryStore();
    const judge: Judge = async (_, { remember }) => {
      await remember("model", async () => "said something of it");
      return undefined;
    };
    const auditor = scene.auditorOf(hire, { store, judge });
    await auditor.round();
    expect([await store.keys("bytes"), await store.keys("opinion")].flat()).to.have.length(2);
    scene.clock.now += 30 * DAY - 60;
    await auditor.round();
    for (const folder of ["bytes", "opinion", "verdict"]) expect(await store.keys(folder)).to.deep.equal([]);
  });

  it("can add itself to an operator's rosters and remove itself", async () => {
    const hire = await auditedHire();
    const auditor = scene.auditorOf(hire);
    const offer = {
      operator: hire.assignment.operator,
      capabilities: ["text.translate.en.it"],
      endpoint: "https://auditor.example",
    };
    await auditor.offer(offer);
    scene.clock.now++;
    await auditor.offer({ ...offer, active: false });
    const lines = scene
      .text()
      .split("\n")
      .filter((line) => line.includes('"auditor"'));
    expect(lines.map((line) => JSON.parse(line).payload.body.active)).to.deep.equal([true, false]);
    expect(await rejection(auditor.offer({ ...offer, capabilities: Array(33).fill("a.b") }))).to.include({
      code: "invalid_input",
    });
  });

  it("signs one verdict even if its process ends at any write, and keeps nothing of the work", async () => {
    let times = 0;
    const flow = {
      open: async () => {
        const inner = await openAuditScene(ledger());
        const hire = await auditedHire();
        inner.open.push(hire.assignment);
        await inner.hold(hire.seller.address, shows(hire.disclosure));
        return { inner, hire, store: memoryStore() };
      },
      // Each process gets another judgement. Only the judgement that was stored first may ever be sent.
      judge: (async (_, { remember }) => {
        await remember("model", async () => times);
        const code = times++ % 2 === 0 ? "fabricated" : "off_topic";
        return { verdict: "fail", reasons: [{ code, detail: "" }] };
      }) as Judge,
    };
    const writes = await endAtEveryWrite({
      open: flow.open,
      run: async ({ inner, hire, store }, process) => {
        const cut = process.cut(inner.fetch) as typeof inner.fetch;
        const { judge } = flow;
        const auditor = inner.auditorOf(hire, {
          store: process.store(store),
          judge,
          fetch: cut,
          holderFetch: cut,
        });
        await auditor.round();
      },
      resume: async ({ inner, hire, store }) => {
        const auditor = inner.auditorOf(hire, { store, judge: flow.judge });
        await auditor.round();
        await auditor.round();
      },
      check: async ({ inner, store }, at) => {
        expect(inner.verdicts(), at).to.have.length(1);
        for (const folder of ["bytes", "opinion"]) expect(await store.keys(folder), at).to.deep.equal([]);
        await inner.close();
      },
    });
    expect(writes).to.be.within(6, 20);
  });
});

describe("judges", () => {
  const { scene: current } = useAuditScene();
  let scene: AuditScene;
  beforeEach(() => {
    scene = current();
  });

  it("may be persons: the work waits at a desk, where another process on the same store shows and judges it", async () => {
    const hire = await auditedHire();
    scene.open.push(hire.assignment);
    await scene.hold(hire.seller.address, shows(hire.disclosure));
    const store = memoryStore();
    const auditor = scene.auditorOf(hire, { store, judge: personJudge(store).judge });
    await auditor.round();
    const desk = personJudge(store);
    const [work] = await desk.waiting();
    const token = work?.token ?? "";
    expect(await desk.show(token)).to.deep.include({
      params: { text: "Where is the library?" },
      result: { text: "Dov'è la biblioteca?" },
    });
    expect(scene.verdicts()).to.deep.equal([]);
    for (const bad of ["audt_", "../work/x", "audt_00000000000000000000000000"]) {
      expect(await rejection(desk.show(bad))).to.include({ code: "unknown_audit" });
    }
    const reasons = [{ code: "meets_request" as const, detail: "" }];
    expect(await rejection(desk.decide(token, { verdict: "fail", reasons }))).to.include({
      field: "judgement.reasons",
    });
    expect(await rejection(desk.decide(token, { verdict: "good" as "pass", reasons }))).to.include({
      field: "judgement.verdict",
    });
    await desk.decide(token, { verdict: "pass", reasons });
    await auditor.round();
    expect(scene.verdicts()[0]?.body.verdict).to.equal("pass");
    expect(await desk.waiting()).to.deep.equal([]);
  });

  it("may be programs: the capability's verifier in a stricter version than the listing's", async () => {
    const verdictOf = async (result: number, capability = "compute.statistics.mean", version?: string) => {
      const auditCase = { capability, params: { data: [1, 2, 6] }, result: { result } };
      const judge = version === undefined ? programJudge() : programJudge({ version });
      const context = {
        signal: new AbortController().signal,
        remember: <T>(_: string, make: () => Promise<T>) => make(),
      };
      return await judge(auditCase as never, context);
    };
    expect((await verdictOf(3))?.verdict).to.equal("pass");
    expect(await verdictOf(4)).to.deep.equal({
      verdict: "fail",
      reasons: [{ code: "wrong_format", detail: "failed: matches_recomputation" }],
    });
    // The permissive version accepts the same wrong result.
    expect((await verdictOf(4, "compute.statistics.mean", "v0"))?.verdict).to.equal("pass");
    expect((await verdictOf(3, "custom.acme.poem"))?.reasons[0]?.code).to.equal("cannot_judge");
  });

  it("may be combined: the first judge that does not give pass decides, and later judges are not asked", async () => {
    const asked: string[] = [];
    const says =
      (name: string, verdict: "pass" | "fail" | undefined): Judge =>
      async (_, { remember }) => {
        asked.push(await remember("name", async () => name));
        return (
          verdict && {
            verdict,
            reasons: [{ code: verdict === "pass" ? "meets_request" : "unsafe", detail: name }],
          }
        );
      };
    const memory = new Map<string, unknown>();
    const context = {
      signal: new AbortController().signal,
      remember: async <T>(name: string, make: () => Promise<T>) => {
        if (!memory.has(name)) memory.set(name, await make());
        return memory.get(name) as T;
      },
    };
    const all = (...judges: Judge[]) => everyJudge(...judges)({} as never, context);
    expect((await all(says("a", "pass"), says("b", "pass")))?.reasons[0]?.detail).to.equal("b");
    expect((await all(says("a", "fail"), says("b", "pass")))?.reasons[0]?.detail).to.equal("a");
    expect(await all(says("a", undefined), says("b", "fail"))).to.equal(undefined);
    expect(asked).to.deep.equal(["a", "b", "a", "a"]);
  });
});
