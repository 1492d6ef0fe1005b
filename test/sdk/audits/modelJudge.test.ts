import { expect } from "chai";
import type { AuditCase, JudgeContext } from "tallystick-sdk/auditor/judge";
import type { Opinion } from "tallystick-sdk/modelJudge/modelAnswer";
import { type ModelJudgeParameters, modelJudge } from "tallystick-sdk/modelJudge/modelJudge";
import { rubricOf } from "tallystick-sdk/modelJudge/rubrics";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "../support/tamper.ts";
import { auditedHire, shows, useAuditScene } from "./auditScene.ts";
import {
  type Asked,
  FORMATS,
  nonceIn,
  openVendorServer,
  type Said,
  type VendorServer,
  vendorError,
} from "./vendorServer.ts";

const PASS = { verdict: "pass", reasons: ["meets_request"], explanation: "It is good." };
const FAIL = {
  verdict: "fail",
  reasons: ["fabricated", "off_topic"],
  explanation: "It is about something else.",
};

describe("a judge that is a language model", () => {
  let vendor: VendorServer;
  before(async () => {
    vendor = await openVendorServer();
  });
  beforeEach(() => {
    vendor.asked.length = 0;
  });
  after(() => vendor.close());

  const answering =
    (...answers: object[]): VendorServer["say"] =>
    (asked) => ({
      answer: { nonce: nonceIn(asked), ...answers[(vendor.asked.length - 1) % answers.length] },
    });
  const fresh = (): JudgeContext => {
    const known = new Map<string, unknown>();
    return {
      signal: new AbortController().signal,
      remember: async <T>(name: string, make: () => Promise<T>) => {
        if (!known.has(name)) known.set(name, await make());
        return known.get(name) as T;
      },
    };
  };
  const CASE = {
    capability: "text.translate.en.it",
    params: { text: "Where is the library?" },
    result: { text: "Dov'è la biblioteca?" },
  } as unknown as AuditCase;
  /** The judgement of all models together, and the opinion of each. */
  const judged = async (changes: Partial<ModelJudgeParameters> = {}, context = fresh(), auditCase = CASE) => {
    const opinions: Opinion[] = [];
    const models = [vendor.model("openai chat")];
    const judge = modelJudge({ models, onOpinion: (opinion) => opinions.push(opinion), ...changes });
    return { judgement: await judge(auditCase, context), opinions };
  };

  for (const format of FORMATS) {
    const models = () => [vendor.model(format)];

    it(`sends ${format} rules, data and a schema, all separate, and publishes none of the model's words`, async () => {
      vendor.say = answering(PASS);
      const { judgement, opinions } = await judged({ models: models() });
      expect(judgement).to.deep.equal({
        verdict: "pass",
        reasons: [{ code: "meets_request", detail: "1 of 1 models" }],
      });
      expect(opinions[0]).to.deep.include({ explanation: "It is good.", tokens: 1_000 });
      const [{ rules, users, raw } = {} as Asked] = vendor.asked;
      expect([rules.length, users.length]).to.deep.equal([1, 1]);
      expect(rules[0]).to.contain(rubricOf("text.translate.en.it"));
      expect(rules[0]).not.to.match(/library|biblioteca/);
      expect(raw).to.contain('"enum":["pass","fail","inconclusive"]');
      if (format === "openai responses") expect(JSON.parse(raw).store).to.equal(false);
    });

    it(`accepts no answer of ${format} that is a refusal, is cut off, breaks the schema, or has no nonce`, async () => {
      const nonsense: [Said, RegExp][] = [
        [{ refusal: "I cannot help with that." }, /ended_by|no_answer|not_the_schema/],
        [{ cut: true, text: '{"nonce":"' }, /ended_by_length/],
        [{ text: "The verdict is: pass." }, /not_the_schema|no_answer|ended_by/],
        [{ text: '{"verdict":"pass"' }, /not_the_schema|no_answer|ended_by/],
        [{ answer: { ...PASS, nonce: "0".repeat(32) } }, /not_the_nonce/],
        [{ answer: { ...PASS, nonce: "" } }, /not_the_nonce/],
        [{ answer: PASS }, /not_the_schema|no_answer/],
        [{ answer: { ...PASS, nonce: "x", verdict: "perfect" } }, /not_the_schema|no_answer/],
        [{ answer: { ...PASS, nonce: "x", admin: true } }, /not_the_(schema|nonce)|no_answer/],
      ];
      for (const [said, why] of nonsense) {
        vendor.say = () => said;
        const { judgement, opinions } = await judged({ models: models() });
        expect(judgement?.verdict, JSON.stringify(said)).to.equal("inconclusive");
        expect(opinions[0]?.refused, JSON.stringify(said)).to.match(why);
      }
    });

    it(`fails after one question if ${format} is overloaded or breaks off, so that it is not asked again at once`, async () => {
      const faults: Said[] = [
        vendorError(429, { "retry-after": "1" }),
        vendorError(529),
        vendorError(500),
        vendorError(401),
        {
          fault: (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"id": '),
        },
        { fault: (response) => response.writeHead(200, { "content-type": "application/json" }).end("[]") },
        {
          fault: (response) => {
            response
              .writeHead(200, { "content-type": "application/json", "content-length": "5000" })
              .write('{"id":"');
            setTimeout(() => response.destroy(), 5);
          },
        },
        { fault: (response) => response.destroy() },
      ];
      for (const [at, said] of faults.entries()) {
        vendor.asked.length = 0;
        vendor.say = () => said;
        await rejection(judged({ models: models() }));
        expect(vendor.asked, `fault ${at}`).to.have.length(1);
      }
      vendor.say = () => ({ fault: () => {} });
      const error = await rejection(judged({ models: models(), modelMs: 100 }));
      expect(error.code).to.equal("deadline_passed");
    });
  }

  it("accepts no answer that contradicts itself", async () => {
    vendor.say = answering({ ...FAIL, reasons: ["meets_request"] });
    expect((await judged()).opinions[0]?.refused).to.equal("fail_without_reason");
    vendor.say = answering({ ...PASS, reasons: ["meets_request", "fabricated"] });
    expect((await judged()).opinions[0]?.refused).to.equal("pass_with_faults");
  });

  it("gives a veto to each model, or to a required number of models; an undecided model does not count as a pass", async () => {
    const says: { [letter: string]: object } = { p: PASS, f: FAIL, i: { ...PASS, verdict: "inconclusive" } };
    const three = (["openai chat", "anthropic messages", "openai responses"] as const).map((it) =>
      vendor.model(it),
    );
    const outcome = async (letters: string, vetoes: number) => {
      const order = ["openai chat", "anthropic messages", "openai responses"];
      vendor.say = (asked) => ({
        answer: { nonce: nonceIn(asked), ...says[letters[order.indexOf(asked.format)] ?? "i"] },
      });
      return (await judged({ models: three, vetoes })).judgement;
    };
    const table: [letters: string, vetoes: number, verdict: string][] = [
      ["ppp", 1, "pass"],
      ["ppf", 1, "fail"],
      ["ffi", 1, "fail"],
      ["ppi", 1, "inconclusive"],
      ["iii", 1, "inconclusive"],
      ["ppf", 2, "pass"],
      ["pff", 2, "fail"],
      ["pfi", 2, "inconclusive"],
      ["fff", 3, "fail"],
    ];
    for (const [letters, vetoes, verdict] of table)
      expect((await outcome(letters, vetoes))?.verdict, `${letters} ${vetoes}`).to.equal(verdict);
    expect((await outcome("pff", 1))?.reasons).to.deep.equal([
      { code: "fabricated", detail: "2 of 3 models" },
      { code: "off_topic", detail: "2 of 3 models" },
    ]);
  });

  it("asks a model again only if the model has not answered, even after a crash", async () => {
    const models = [vendor.model("openai chat"), vendor.model("anthropic messages")];
    const context = fresh();
    vendor.say = (asked) =>
      asked.format === "openai chat" ? { answer: { nonce: nonceIn(asked), ...PASS } } : vendorError(529);
    await rejection(judged({ models }, context));
    vendor.say = answering(PASS);
    expect((await judged({ models }, context)).judgement?.verdict).to.equal("pass");
    expect(vendor.asked.map(({ format }) => format)).to.deep.equal([
      "openai chat",
      "anthropic messages",
      "anthropic messages",
    ]);
  });

  it("stops at the day's token limit, counts the reported tokens, and continues on the next day", async () => {
    vendor.say = answering(PASS);
    const store = memoryStore();
    let day = 20_000;
    const limits = { store, tokensPerDay: 20_000, now: () => day * 86_400_000 };
    for (let at = 0; at < 9; at++) await judged(limits);
    expect(await store.get("spent/20000")).to.equal(9_000);
    // Another process counts the spent tokens too. A question is asked only if its highest possible cost is left.
    for (let at = 0; at < 20; at++) await judged(limits).catch(() => {});
    const asked = vendor.asked.length;
    expect(asked).to.be.within(10, 19);
    expect((await rejection(judged(limits))).code).to.equal("tokens_spent");
    expect(vendor.asked.length).to.equal(asked);
    day++;
    await judged(limits);
    expect(await store.keys("spent")).to.deep.equal(["spent/20001"]);
    // The cost of a failed question is unknown, so its highest possible cost is counted.
    vendor.say = () => vendorError(500);
    await rejection(judged(limits));
    expect(await store.get<number>("spent/20001")).to.be.above(5_000);
  });

  it("counts a question that ends after midnight on the day on which it was asked", async () => {
    const store = memoryStore();
    let day = 20_000;
    const limits = { store, tokensPerDay: 20_000, now: () => day * 86_400_000 };
    vendor.say = (asked) => {
      day = 20_001;
      return answering(PASS)(asked);
    };
    await judged(limits);
    expect(await store.get("spent/20000")).to.equal(1_000);
    expect(await store.get("spent/20001")).to.equal(undefined);
  });

  it("does not judge pictures, except with the user's own rubric", async () => {
    vendor.say = answering(PASS);
    const picture = { ...CASE, capability: "image.generate.photorealistic.png" };
    const { judgement } = await judged({}, fresh(), picture);
    expect(judgement?.reasons[0]?.code).to.equal("cannot_judge");
    expect(vendor.asked).to.have.length(0);
    await judged({ rubrics: { "image.generate": "Look at the data." } }, fresh(), picture);
    expect(vendor.asked[0]?.rules[0]).to.contain("Look at the data.");
    expect(rubricOf("text.translate.en.it", { text: "a", "text.translate.en": "b" })).to.equal("b");
    expect(rubricOf("custom.acme.poem")).to.be.a("string");
  });

  it("accepts only models with a provider, because a plain name could be sent to any gateway", () => {
    const bad = [[], ["openai/gpt-5.4"], Array(9).fill(vendor.model("openai chat"))] as never[];
    for (const models of bad)
      expect(() => modelJudge({ models }))
        .to.throw()
        .with.property("code", "invalid_models");
    const two = [vendor.model("openai chat"), vendor.model("openai chat")];
    expect(() => modelJudge({ models: two, vetoes: 3 }))
      .to.throw()
      .with.property("code", "invalid_models");
  });
});

describe("an auditor whose judge is a model", () => {
  const { scene } = useAuditScene();

  it("waits for an overloaded vendor, and publishes codes and counts without the model's words", async () => {
    const vendor = await openVendorServer();
    try {
      const hire = await auditedHire();
      scene().open.push(hire.assignment);
      await scene().hold(hire.seller.address, shows(hire.disclosure));
      const store = memoryStore();
      const models = [vendor.model("openai responses"), vendor.model("anthropic messages")];
      const auditor = scene().auditorOf(hire, { store, judge: modelJudge({ models, store }) });
      vendor.say = () => vendorError(529);
      await auditor.round();
      expect(scene().verdicts()).to.deep.equal([]);
      vendor.say = (asked) => ({
        answer: { nonce: nonceIn(asked), ...FAIL, explanation: "It says: Dov'è la biblioteca?" },
      });
      scene().clock.now += 3_600;
      await auditor.round();
      expect(scene().verdicts()[0]?.body).to.deep.include({
        verdict: "fail",
        reasons: [
          { code: "fabricated", detail: "2 of 2 models" },
          { code: "off_topic", detail: "2 of 2 models" },
        ],
      });
      expect(scene().text()).not.to.contain("biblioteca");
      expect(await store.keys("opinion")).to.deep.equal([]);
    } finally {
      await vendor.close();
    }
  });
});
