import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { parseDollars } from "../../services/dispatch/models/money.ts";
import { taskKey } from "../../services/dispatch/tasks/taskFile.ts";
import { API_KEY } from "../settlement/support/testService.ts";
import {
  type DispatchScene,
  modelsYaml,
  openDispatchScene,
  partOf,
  SHADOW,
} from "./support/dispatchScene.ts";

const TASK = { task_id: "task-1", goal: "Name the capital of Italy.", key: "capital" };
const COST_SMALL = "0.000018";

describe("a task of a dispatcher", () => {
  let scene: DispatchScene;
  beforeEach(async () => {
    scene = await openDispatchScene();
    scene.models.say = () => ({ answer: "Rome" });
  });
  afterEach(() => scene.close());

  it("is settled with the cheapest model of its tier, and its entry contains everything that was done", async () => {
    const outcome = await scene.dispatcher().dispatch(TASK);
    expect(outcome).to.deep.include({
      status: "SETTLED",
      index: 0,
      answer: "Rome",
      tier: "thrifty",
      cost_usd: COST_SMALL,
      calls: 1,
      escalations: 0,
      shadowed: false,
    });
    const [{ payload, task_id }] = await scene.entries();
    expect(task_id).to.equal("task-1");
    expect(payload.data_update).to.deep.equal({ capital: "Rome" });
    expect(payload.confidence_score).to.equal(0.95);
    const { model, dispatch } = payload.agent_metadata;
    expect(model).to.equal("small-2026");
    expect(dispatch).to.deep.include({
      form: 1,
      kind: "general",
      client: "library",
      tier: "thrifty",
      escalations: [],
    });
    expect(dispatch.confidence).to.deep.equal({ from: "model", samples: 1 });
    const [call] = dispatch.calls;
    expect(call).to.deep.include({
      role: "execute",
      model: "small",
      answered_by: "small-2026",
      tokens: { input: 100, cached_input: 0, output: 20, reasoning: 0 },
      cost_usd: COST_SMALL,
      cost_from: "tokens",
      ended: "answered",
      retries: 0,
    });
    expect(Object.keys(dispatch.prices.models)).to.have.members(["small", "large"]);
    expect(await scene.dispatcher().budget.today()).to.deep.equal({ spent: 18_000_000n, reserved: 0n });
  });

  it("goes to the next tier after an answer of a wrong form, and after an answer that settlement's rules refuse", async () => {
    await scene.reopen({ types: { "*": { type: "object", properties: { capital: { enum: ["Rome"] } } } } });
    scene.models.say = ({ model }) =>
      model === "small"
        ? { text: "It is Rome!" }
        : model === "middle"
          ? { answer: "Milan" }
          : { answer: "Rome" };
    const outcome = await scene.dispatcher().dispatch(TASK);
    expect(outcome).to.include({ status: "SETTLED", tier: "premium", escalations: 2, calls: 3 });
    const [{ payload }] = await scene.entries();
    const { escalations, calls } = payload.agent_metadata.dispatch;
    expect(escalations.map((it: { from: string }) => it.from)).to.deep.equal(["thrifty", "standard"]);
    expect(escalations[0].why).to.contain("malformed_json");
    expect(escalations[1].why).to.contain("rules version 1");
    expect(calls.map((it: { ended: string }) => it.ended)).to.deep.equal([
      "malformed_json",
      "answered",
      "answered",
    ]);
  });

  it("goes to the next tier after an unsure answer", async () => {
    scene.models.say = ({ model }) => ({ answer: "Rome", confidence: model === "small" ? 0.2 : 0.95 });
    const outcome = await scene.dispatcher().dispatch(TASK);
    expect(outcome).to.include({ status: "SETTLED", tier: "standard", escalations: 1, calls: 2 });
    const [{ payload }] = await scene.entries();
    const { escalations } = payload.agent_metadata.dispatch;
    expect(escalations.map((it: { from: string }) => it.from)).to.deep.equal(["thrifty"]);
    expect(escalations[0].why).to.contain("Confidence 0.2");
  });

  it("ends with a closing entry when no tier can do it; the entry has the total cost and no answer", async () => {
    scene.models.say = () => ({ answer: "Rome", confidence: 0.2 });
    const outcome = await scene.dispatcher().dispatch(TASK);
    expect(outcome).to.include({ status: "REJECTED", calls: 3, cost_usd: "0.001098" });
    const [{ payload, current_hash }] = await scene.entries();
    expect(payload.data_update).to.deep.equal({});
    expect(payload.agent_metadata.dispatch.closing).to.deep.include({ status: "REJECTED", held: null });
    expect(payload.agent_metadata.dispatch.calls).to.have.length(3);
    expect(outcome).to.have.property("closing", current_hash);
  });

  it("is proposed again without another call when other state changes, and is done again when its own state changes", async () => {
    const settleOther = async (update: object) => {
      const answer = await scene.service.post(
        "/v1/settle",
        {
          header: { task_id: "other", parent_hash: scene.service.ledger.head },
          payload: { data_update: update, confidence_score: 1 },
        },
        { authorization: `Bearer ${API_KEY}` },
      );
      expect(answer.json.status).to.equal("SETTLED");
    };
    const drift: object[] = [{ elsewhere: 1 }, { elsewhere: 2 }];
    scene.models.say = async () => {
      const next = drift.shift();
      if (next) await settleOther(next);
      return { answer: "Rome" };
    };
    const dispatcher = scene.dispatcher();
    expect(await dispatcher.dispatch(TASK)).to.include({ status: "SETTLED", index: 1, calls: 1 });
    drift.splice(0, 1, { price: 5 });
    scene.models.asked.length = 0;
    const again = await dispatcher.dispatch({ ...TASK, task_id: "task-2", keywords: ["price"] });
    expect(again).to.include({ status: "SETTLED", calls: 2 });
    expect(scene.models.asked.map(({ user }) => partOf(user, "CONTEXT"))).to.deep.equal([
      undefined,
      { price: 5 },
    ]);
  });

  it("waits for review with both answers when its shadow answers differently, and its cost is recorded at once", async () => {
    scene.models.say = ({ model }) => ({ answer: model === "watch" ? "Milan" : "Rome" });
    const yaml = modelsYaml(scene.models.url, SHADOW.replace("share: 0", "share: 1"));
    const outcome = await scene.dispatcher({}, yaml).dispatch(TASK);
    expect(outcome).to.include({ status: "ESCROWED", divergence: 1, calls: 2 });
    const headers = { authorization: `Bearer ${API_KEY}` };
    const held = "held" in outcome ? outcome.held : "";
    const review = await (await scene.service.app.request(`/v1/reviews/${held}`, { headers })).json();
    expect(review.proposal.data_update).to.deep.equal({ capital: "Rome" });
    expect(review.shadow).to.deep.equal({ capital: "Milan" });
    const [{ payload }] = await scene.entries();
    const { closing, calls, shadow } = payload.agent_metadata.dispatch;
    expect(closing).to.deep.include({ status: "ESCROWED", held });
    expect(calls.map((it: { role: string }) => it.role)).to.deep.equal(["execute", "shadow"]);
    expect(shadow).to.deep.equal({ why: ["drawn"], share: 1, model: "watch" });
  });

  it("gets a shadow of another family when its action or tier requires it, and never when it is private", async () => {
    await scene.reopen({ actions: { "*": { allow: true }, "Pay-Out": { allow: true, shadow: true } } });
    const yaml = modelsYaml(scene.models.url, SHADOW.replace("tiers: []", "tiers: [premium]"));
    const dispatcher = scene.dispatcher({}, yaml);
    const shadowOf = async (task: object) => {
      const outcome = await dispatcher.dispatch({ ...TASK, ...task });
      expect(outcome.status).to.equal("SETTLED");
      return (await scene.entries()).at(-1).payload.agent_metadata.dispatch.shadow;
    };
    expect(await shadowOf({ task_id: "a" })).to.equal(null);
    expect(await shadowOf({ task_id: "b", action: "pay_out" })).to.deep.include({
      why: ["action"],
      model: "watch",
    });
    expect(await shadowOf({ task_id: "c", action: "pay_out", private: true })).to.equal(null);
    const hard = Array.from({ length: 20 }, (_, at) => `${at}. Then prove why ${at} is ${at}.5;`).join("\n");
    expect(await shadowOf({ task_id: "d", goal: hard })).to.deep.include({ why: ["tier"] });
    expect(await shadowOf({ task_id: "e", goal: hard, private: true })).to.equal(null);
    expect(scene.models.asked.filter(({ model }) => model === "watch")).to.have.length(2);
  });

  it("ends before the first call that its budget cannot pay, and its entry has the cost of earlier calls", async () => {
    scene.models.say = () => ({ text: "no" });
    const outcome = await scene.dispatcher().dispatch({ ...TASK, max_cost_usd: "0.002" });
    expect(outcome).to.include({ status: "BUDGET", calls: 1 });
    expect(scene.models.asked).to.have.length(1);
    const [{ payload }] = await scene.entries();
    expect(payload.agent_metadata.dispatch.closing.status).to.equal("BUDGET");
    const day = scene.dispatcher({ perDay: parseDollars("0.0001", "perDay") });
    expect(await day.dispatch({ ...TASK, task_id: "task-3" })).to.include({ status: "BUDGET", calls: 0 });
  });

  it("ends after 24 requests to models, even if more tiers and retries remain", async () => {
    // Four requests for samples are repeated. So 3 × 7 samples need 25 requests.
    const isBusy = () => [1, 3, 5, 7].includes(scene.models.asked.length);
    scene.models.say = () => (isBusy() ? { status: 503 } : { text: "no" });
    const outcome = await scene.dispatcher().dispatch({ ...TASK, samples: 7 });
    expect(outcome).to.include({ status: "FAILED", reason: "24 requests to models were not enough" });
    expect(scene.models.asked).to.have.length(24);
  });

  it("waits while as many others run as may run at once, and is refused if as many wait as may wait", async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    scene.models.say = async () => {
      asked.resolve();
      await answer.promise;
      return { answer: "Rome" };
    };
    const dispatcher = scene.dispatcher({ atOnce: 1, waiting: 1 });
    const submit = (n: number) => dispatcher.submit({ ...TASK, task_id: `task-${n}`, key: `capital ${n}` });
    const first = await submit(1);
    await asked.promise;
    const second = await submit(2);
    expect(dispatcher.load()).to.deep.equal({ running: 1, waiting: 1 });
    expect(await submit(3).catch((error) => error)).to.include({ code: "dispatcher_busy" });
    expect(await dispatcher.cancel("task-2", "somebody"), "another client cannot cancel it").to.equal(false);
    answer.resolve();
    for (const { outcome } of [first, second]) expect(await outcome).to.include({ status: "SETTLED" });
    expect(await (await submit(3)).outcome).to.include({ status: "SETTLED" });
  });

  it("does not go to the next tier if the ledger changes before each of its proposals: no model is at fault", async () => {
    const inner = scene.fetch;
    const reason = "State drift detected. Re-base required.";
    scene.fetch = async (input, init) => {
      const { capital } = input.endsWith("/v1/settle")
        ? JSON.parse(String(init?.body)).payload.data_update
        : {};
      return capital === undefined ? await inner(input, init) : Response.json({ status: "REJECTED", reason });
    };
    const outcome = await scene.dispatcher().dispatch(TASK);
    expect(outcome).to.include({ status: "REJECTED", reason, tier: "thrifty", calls: 1, escalations: 0 });
  });

  it("is drawn for a shadow once, also if another process continues it", async () => {
    const file = { taskId: TASK.task_id, owner: "library", request: "", given: TASK, acceptedAt: Date.now() };
    await scene.store.put(`task/${taskKey(TASK.task_id)}`, {
      ...{
        ...file,
        deadlineAt: Date.now() + 60_000,
        phase: "running",
        calls: {},
        proposedOn: [],
        closedOn: [],
      },
      draws: { shadow: 0.999 },
    });
    const yaml = modelsYaml(scene.models.url, SHADOW.replace("share: 0", "share: 0.5"));
    const next = scene.dispatcher({ random: () => 0 }, yaml);
    expect(await next.resume()).to.equal(1);
    expect(await next.outcome(TASK.task_id)).to.include({ status: "SETTLED", shadowed: false, calls: 1 });
  });

  it("gets its confidence from the agreement of samples, or from a capability's checks", async () => {
    const answers = ["Rome", "Milan", "Rome", "Rome", "Rome", "Rome", "Rome"];
    scene.models.say = () => ({ answer: answers[scene.models.asked.length - 1] });
    const dispatcher = scene.dispatcher();
    expect(await dispatcher.dispatch({ ...TASK, samples: 7 })).to.include({ status: "SETTLED", calls: 7 });
    const [{ payload }] = await scene.entries();
    expect(payload.confidence_score).to.equal(0.857);
    expect(payload.agent_metadata.dispatch.confidence).to.deep.equal({ from: "samples", samples: 7 });
    scene.models.say = ({ model }) => ({ answer: { result: model === "small" ? 4 : 3 }, confidence: 0.1 });
    const mean = {
      task_id: "mean",
      capability: "compute.statistics.mean",
      params: { data: [1, 2, 6] },
      key: "mean",
    };
    expect(await dispatcher.dispatch(mean)).to.include({ status: "SETTLED", tier: "standard" });
    const last = (await scene.entries()).at(-1).payload;
    expect(last.data_update).to.deep.equal({ mean: { result: 3 } });
    expect(last.agent_metadata.dispatch.confidence.from).to.equal("verifier");
  });

  it("is the same task when it is sent again, and another task with its id is refused", async () => {
    const dispatcher = scene.dispatcher();
    const [first, second] = await Promise.all([dispatcher.dispatch(TASK), dispatcher.dispatch(TASK)]);
    expect(second).to.deep.equal(first);
    expect(await dispatcher.dispatch(TASK)).to.deep.equal(first);
    expect(scene.models.asked).to.have.length(1);
    const error = await dispatcher.dispatch({ ...TASK, goal: "Something else." }).catch((it) => it);
    expect(error).to.include({ code: "conflicting_task" });
    expect(await dispatcher.state("task-1", "somebody")).to.equal(undefined);
  });

  it("is read only once by the next process after its end, and a damaged file does not stop other tasks", async () => {
    const first = scene.dispatcher();
    await first.dispatch(TASK);
    await first.close();
    const open = { ...TASK, task_id: "task-2", key: "two" };
    const file = await scene.store.get<object>(`task/${taskKey("task-1")}`);
    const fresh = {
      taskId: "task-2",
      phase: "running",
      given: open,
      calls: {},
      draws: {},
      proposedOn: [],
      closedOn: [],
    };
    const deadlineAt = Date.now() + 60_000;
    await scene.store.put(`task/${taskKey("task-2")}`, { ...file, ...fresh, deadlineAt, outcome: undefined });
    writeFileSync(path.join(scene.folder, "state/task/damaged.json"), "{");
    let reads = 0;
    const counting: KeyValueStore = {
      ...scene.store,
      get: (key) => {
        if (key === `task/${taskKey("task-1")}`) reads++;
        return scene.store.get(key);
      },
    };
    const next = scene.dispatcher({ store: counting });
    expect(await next.resume()).to.equal(1);
    expect(await next.outcome("task-2")).to.include({ status: "SETTLED" });
    expect([await next.resume(), await next.resume(), reads]).to.deep.equal([0, 0, 1]);
  });

  it("ends as failed if an earlier version accepted it and this version refuses it", async () => {
    const dispatcher = scene.dispatcher();
    await dispatcher.dispatch(TASK);
    const file = await scene.store.get<object>(`task/${taskKey("task-1")}`);
    const book = taskKey("..");
    const calls = { "a/0": { record: { cost_usd: COST_SMALL }, result: {} } };
    const given = { ...TASK, task_id: ".." };
    const open = { taskId: "..", book, phase: "running", given, calls, outcome: undefined };
    await scene.store.put(`task/${book}`, { ...file, ...open });
    // The earlier process was killed while a model answered.
    await dispatcher.budget.reserve({ id: `${book}/a/0`, task: book, amount: 50_000_000n });
    const ended: unknown[] = [];
    dispatcher.onEnd((outcome) => ended.push(outcome));
    expect([await dispatcher.resume(), await dispatcher.resume()]).to.deep.equal([0, 0]);
    const outcome = await dispatcher.state("..");
    expect(outcome).to.deep.equal({
      ...{ task_id: "..", status: "FAILED", reason: "The task is not valid any more." },
      ...{ cost_usd: COST_SMALL, calls: 1, escalations: 0, tier: null },
    });
    expect(ended).to.deep.equal([outcome]);
    expect(await dispatcher.budget.today()).to.deep.equal({ spent: 36_000_000n, reserved: 0n });
  });

  it("is not begun while the dispatcher closes, and is done by the next process", async () => {
    let holding: { reached: () => void; released: Promise<void> } | undefined;
    const pause = async () => {
      holding?.reached();
      await holding?.released;
    };
    const slow: KeyValueStore = {
      ...scene.store,
      get: async <T>(key: string) => {
        const value = await scene.store.get<T>(key);
        if (key.startsWith("task/")) await pause();
        return value;
      },
      putNew: async (key, value) => {
        const isNew = await scene.store.putNew(key, value);
        await pause();
        return isNew;
      },
    };
    const hold = () => {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      holding = { reached: reached.resolve, released: released.promise };
      const release = () => {
        holding = undefined;
        released.resolve();
      };
      return { reached: reached.promise, release };
    };
    // The first dispatcher closes while it accepts a task. The second closes while it looks for open tasks.
    const accepting = scene.dispatcher({ store: slow });
    const acceptance = hold();
    const sent = accepting.dispatch(TASK).catch((error) => error);
    await acceptance.reached;
    await accepting.close();
    acceptance.release();
    expect(await sent).to.include({ code: "dispatcher_closed" });
    const resuming = scene.dispatcher({ store: slow });
    const search = hold();
    const resumed = resuming.resume();
    await search.reached;
    let isClosed = false;
    const closed = resuming.close().then(() => {
      isClosed = true;
    });
    await sleep(30);
    expect(isClosed).to.equal(false);
    search.release();
    await closed;
    expect(await resumed).to.equal(0);
    expect(scene.models.asked).to.have.length(0);
    const next = scene.dispatcher();
    expect(await next.resume()).to.equal(1);
    expect(await next.outcome("task-1")).to.include({ status: "SETTLED" });
  });

  it("ends when the client cancels it or its time is over, and running calls are booked at the reserved cost", async () => {
    let hang = true;
    const stop = new AbortController();
    scene.models.say = () => {
      stop.abort();
      return hang ? { fault: () => {} } : { answer: "Rome" };
    };
    const dispatcher = scene.dispatcher();
    const cancelled = await dispatcher.dispatch(TASK, { signal: stop.signal });
    expect(cancelled).to.include({ status: "CANCELLED", calls: 1 });
    // On a busy machine a task may expire before its first call. Then another task gets more time.
    let expired = cancelled;
    for (const deadline_ms of [1_000, 10_000, 60_000]) {
      expired = await dispatcher.dispatch({ ...TASK, task_id: `expired-${deadline_ms}`, deadline_ms });
      if (expired.calls > 0) break;
    }
    expect(expired).to.include({ status: "EXPIRED", calls: 1 });
    const { spent, reserved } = await dispatcher.budget.today();
    expect(reserved).to.equal(0n);
    const told = (await scene.entries()).flatMap(({ payload }) => payload.agent_metadata.dispatch.calls);
    expect(told.map((it) => it.cost_from)).to.deep.equal(["reserved", "reserved"]);
    expect(spent > 0n).to.equal(true);
    hang = false;
    expect(await dispatcher.dispatch({ ...TASK, task_id: "task-4" })).to.include({ status: "SETTLED" });
  });

  it("waits while settlement does not answer, and is settled only once when an answer of settlement is lost", async () => {
    const inner = scene.fetch;
    let lose = 1;
    scene.fetch = async (input, init) => {
      const response = await inner(input, init);
      if (input.endsWith("/v1/settle") && lose-- > 0) throw new Error("socket hang up");
      return response;
    };
    expect(await scene.dispatcher().dispatch(TASK)).to.include({ status: "SETTLED", calls: 1 });
    expect(await scene.entries()).to.have.length(1);
    let away = 2;
    scene.fetch = async (input, init) => {
      if (away-- > 0) throw new Error("connect ECONNREFUSED");
      return await inner(input, init);
    };
    expect(await scene.dispatcher().dispatch({ ...TASK, task_id: "t-2" })).to.include({ status: "SETTLED" });
  });

  for (const [status, shadowAnswer] of [
    ["SETTLED", "Rome"],
    ["ESCROWED", "Milan"],
  ] as const) {
    it(`is ${status}, and not cancelled, if its client leaves after settlement's answer was lost`, async () => {
      const inner = scene.fetch;
      const stop = new AbortController();
      let lost = 0;
      scene.fetch = async (input, init) => {
        // The search for the lost answer fails once, and then the client leaves.
        if (lost === 1) {
          lost++;
          stop.abort();
          throw new Error("socket hang up");
        }
        const response = await inner(input, init);
        if (!input.endsWith("/v1/settle") || lost > 0) return response;
        lost++;
        throw new Error("socket hang up");
      };
      scene.models.say = ({ model }) => ({ answer: model === "watch" ? shadowAnswer : "Rome" });
      const yaml = modelsYaml(scene.models.url, SHADOW.replace("share: 0", "share: 1"));
      const outcome = await scene
        .dispatcher({ random: () => 0 }, yaml)
        .dispatch(TASK, { signal: stop.signal });
      expect(outcome).to.include({ status, calls: 2 });
      const entries = await scene.entries();
      expect(entries).to.have.length(1);
      const { closing } = entries[0].payload.agent_metadata.dispatch;
      const held = "held" in outcome ? outcome.held : undefined;
      expect([closing?.status, closing?.held]).to.deep.equal([
        status === "SETTLED" ? undefined : status,
        held,
      ]);
    });
  }

  it("gets its tier from a classifier's answer, which is recorded", async () => {
    scene.models.say = ({ model }) => (model === "watch" ? { answer: 0.5 } : { answer: "Rome" });
    const outcome = await scene
      .dispatcher({}, modelsYaml(scene.models.url, "classifier: watch"))
      .dispatch(TASK);
    expect(outcome).to.include({ status: "SETTLED", tier: "standard", calls: 2 });
    const { complexity, calls } = (await scene.entries())[0].payload.agent_metadata.dispatch;
    expect(complexity.classifier).to.deep.equal({ model: "watch", value: 0.5 });
    expect(complexity).to.include({ version: "complexity/1", value: 0 });
    expect(calls[0].role).to.equal("classify");
  });
});
