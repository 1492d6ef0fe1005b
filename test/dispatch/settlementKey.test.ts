import { expect } from "chai";
import * as fc from "fast-check";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import type { Dispatcher } from "../../services/dispatch/dispatcher.ts";
import { createDispatchApp } from "../../services/dispatch/http/app.ts";
import { type DispatchScene, openDispatchScene } from "./support/dispatchScene.ts";

const TASK = { task_id: "task-1", goal: "Name the capital of Italy.", key: "capital" };
const STARTED = 1_767_225_600_000;
const REFUSED = "settlement_key_refused";

describe("a dispatcher whose key settlement refuses", () => {
  let scene: DispatchScene;
  /** Whether settlement knows the key; how far the clock is ahead; the requests that settlement got. */
  let isKnown: boolean;
  let ahead: number;
  let requests: string[];
  beforeEach(async () => {
    scene = await openDispatchScene();
    scene.models.say = () => ({ answer: "Rome" });
    [isKnown, ahead, requests] = [true, 0, []];
    const inner = scene.fetch;
    scene.fetch = (input, init) => {
      requests.push(new URL(input).pathname);
      const headers = new Headers(init?.headers);
      if (!isKnown && headers.has("authorization")) headers.set("authorization", "Bearer revoked");
      return inner(input, { ...init, headers });
    };
  });
  afterEach(() => scene.close());

  const open = () => scene.dispatcher({ store: memoryStore(), now: () => STARTED + ahead });
  const asked = () => scene.models.asked.length;
  const probes = () => requests.filter((it) => it === "/v1/reviews").length;
  const task = (n: number) => ({ ...TASK, task_id: `task-${n}`, key: `capital-${n}` });
  const codeOf = (work: Promise<unknown>) => work.catch((error) => error.code);

  it("asks no model, refuses new tasks, looks for a change rarely, and goes on when the key works again", async () => {
    isKnown = false;
    const dispatcher = open();
    expect(await codeOf(dispatcher.dispatch(task(1)))).to.equal(REFUSED);
    for (let n = 2; n < 6; n++) expect(await codeOf(dispatcher.dispatch(task(n)))).to.equal(REFUSED);
    // The accepted task waits, whoever continues it.
    for (let again = 0; again < 3; again++) {
      expect(await dispatcher.resume()).to.equal(1);
      await codeOf(Promise.resolve(dispatcher.outcome("task-1")));
    }
    expect(await dispatcher.state("task-1")).to.include({ reason: `Settlement: ${REFUSED}` });
    expect(await dispatcher.state("task-2")).to.equal(undefined);
    expect([asked(), probes(), dispatcher.isKeyRefused()]).to.deep.equal([0, 1, true]);
    ahead = 30_000;
    expect(await codeOf(dispatcher.dispatch(task(2)))).to.equal(REFUSED);
    expect(probes()).to.equal(2);
    isKnown = true;
    expect(await codeOf(dispatcher.dispatch(task(2)))).to.equal(REFUSED);
    ahead = 60_000;
    expect(await dispatcher.dispatch(task(2))).to.include({ status: "SETTLED", calls: 1 });
    expect(await dispatcher.dispatch(task(1))).to.include({ status: "SETTLED", calls: 1 });
    expect([asked(), probes(), dispatcher.isKeyRefused()]).to.deep.equal([2, 3, false]);
  });

  it("pays one task at most after its key was revoked, and settles this work when the key works again", async () => {
    const dispatcher = open();
    await dispatcher.dispatch(task(1));
    isKnown = false;
    expect(await codeOf(dispatcher.dispatch(task(2)))).to.equal("unauthorized");
    for (let n = 3; n < 6; n++) expect(await codeOf(dispatcher.dispatch(task(n)))).to.equal(REFUSED);
    expect(asked()).to.equal(2);
    isKnown = true;
    ahead = 30_000;
    expect(await dispatcher.dispatch(task(2))).to.include({ status: "SETTLED", calls: 1 });
    expect(asked()).to.equal(2);
    expect(await scene.entries()).to.have.length(2);
  });

  it("pays no further call of a running task after another task has learned that the key is refused", async () => {
    const dispatcher = open();
    await dispatcher.dispatch(task(1));
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    scene.models.say = async ({ user, model }) => {
      if (!user.includes("slowly")) {
        isKnown = false;
        return { answer: "Rome" };
      }
      if (model !== "small") return { answer: "Rome" };
      reached.resolve();
      await released.promise;
      return { text: "no" };
    };
    const slow = { ...task(2), goal: "Name the capital of Italy slowly." };
    const { outcome } = await dispatcher.submit(slow);
    await reached.promise;
    expect(await codeOf(dispatcher.dispatch(task(3)))).to.equal("unauthorized");
    released.resolve();
    // The next tier would have to do the task.
    expect(await codeOf(outcome)).to.equal(REFUSED);
    expect(asked()).to.equal(3);
    [isKnown, ahead] = [true, 30_000];
    expect(await dispatcher.dispatch(slow)).to.include({
      ...{ status: "SETTLED", tier: "standard", calls: 2, escalations: 1 },
    });
    expect(asked()).to.equal(4);
  });

  it("asks at each search for open tasks, and before it reads the rules", async () => {
    isKnown = false;
    const dispatcher = open();
    expect(await codeOf(dispatcher.dispatch(task(1)))).to.equal(REFUSED);
    expect(requests).to.deep.equal(["/v1/reviews"]);
    for (let search = 1; search < 4; search++) {
      // Timers are not exact: the time between two searches may be a little shorter.
      ahead += 29_990;
      await dispatcher.resume();
      await codeOf(Promise.resolve(dispatcher.outcome("task-1")));
      expect(probes()).to.equal(search + 1);
    }
  });

  it("does not ask before each call while settlement does not answer", async () => {
    const inner = scene.fetch;
    let silent = 0;
    scene.fetch = async (input, init) => {
      if (!input.endsWith("/v1/reviews")) return await inner(input, init);
      silent++;
      throw new Error("socket hang up");
    };
    expect(await open().dispatch({ ...task(1), samples: 5 })).to.include({ status: "SETTLED", calls: 5 });
    expect(silent).to.equal(1);
  });

  it("tells its clients: 503 for a new task, 202 with the reason for an accepted one, and in its metrics", async () => {
    isKnown = false;
    const callers = new Map([["acme", "acme-key-0123456789"]]);
    const faults: unknown[] = [];
    const dispatcher = open();
    const app = createDispatchApp({ dispatcher, callers, onFault: (fault) => faults.push(fault) });
    const headers = { authorization: "Bearer acme-key-0123456789" };
    const send = async (body: object, query = "") => {
      const response = await app.request(`/v1/dispatch${query}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()] as const;
    };
    const waiting = { status: "RUNNING", task_id: "task-1", reason: `Settlement: ${REFUSED}` };
    expect((await send(task(1), "?wait_ms=0"))[0]).to.equal(202);
    const look = async (query = "") => {
      const response = await app.request(`/v1/dispatch/task-1${query}`, { headers });
      return [response.status, await response.json(), response.headers.get("retry-after")] as const;
    };
    while ((await look())[1].reason === undefined) await new Promise((resolve) => setImmediate(resolve));
    const [status, problem] = await send(task(2));
    expect([status, problem.code]).to.deep.equal([503, REFUSED]);
    expect(problem.hint).to.contain("DISPATCH_SETTLEMENT_KEY");
    expect(await look("?wait_ms=50")).to.deep.equal([202, waiting, "30"]);
    const metrics = async () => await (await app.request("/metrics")).text();
    expect(await metrics()).to.contain("tallystick_dispatch_key_refused 1");
    // A request that waits gets the outcome if the task is continued meanwhile.
    const waits = look("?wait_ms=50000");
    [isKnown, ahead] = [true, 30_000];
    await dispatcher.resume();
    const [, outcome, after] = await waits;
    expect([outcome.status, after]).to.deep.equal(["SETTLED", null]);
    expect(await metrics()).to.contain("tallystick_dispatch_key_refused 0");
    expect(faults).to.deep.equal([]);
  });

  it("ends a cancelled task only when the key works again, so that its cost gets into the ledger", async () => {
    const dispatcher = open();
    await dispatcher.dispatch(task(1));
    const reached = Promise.withResolvers<void>();
    scene.models.say = () => ({ fault: () => reached.resolve() });
    const { outcome } = await dispatcher.submit(task(2));
    await reached.promise;
    isKnown = false;
    expect(await dispatcher.cancel("task-2")).to.equal(true);
    expect(await codeOf(outcome)).to.equal("unauthorized");
    // While the key is refused, nothing is proposed.
    const proposals = () => requests.filter((it) => it === "/v1/settle").length;
    const before = proposals();
    expect(await codeOf(dispatcher.dispatch(task(2)))).to.equal(REFUSED);
    expect([proposals() - before, (await dispatcher.state("task-2"))?.status]).to.deep.equal([0, "RUNNING"]);
    [isKnown, ahead] = [true, 30_000];
    expect(await dispatcher.dispatch(task(2))).to.include({ status: "CANCELLED", calls: 1 });
    const [, entry] = await scene.entries();
    expect(entry.payload.agent_metadata.dispatch.closing.status).to.equal("CANCELLED");
  });

  it("cancels a task that waits for the key, so that no model is asked for it later", async () => {
    isKnown = false;
    const dispatcher = open();
    expect(await codeOf(dispatcher.dispatch(task(1)))).to.equal(REFUSED);
    expect(await dispatcher.cancel("task-1", "nobody")).to.equal(false);
    expect(await dispatcher.cancel("task-2")).to.equal(false);
    expect(await dispatcher.cancel("task-1")).to.equal(true);
    expect(await dispatcher.cancel("task-1")).to.equal(true);
    expect(await dispatcher.state("task-1")).to.include({ status: "RUNNING" });
    [isKnown, ahead] = [true, 30_000];
    expect(await dispatcher.dispatch(task(1))).to.include({ status: "CANCELLED", calls: 0 });
    expect(await dispatcher.cancel("task-1")).to.equal(false);
    expect(asked()).to.equal(0);
    expect((await scene.entries())[0].payload.agent_metadata.dispatch.closing.status).to.equal("CANCELLED");
  });

  it("cancels a paid task that waits for the key, and tells its cost; but not a task whose answer was settled", async () => {
    const inner = scene.fetch;
    for (const [id, isCarriedOut] of [
      ["task-1", false],
      ["task-2", true],
    ] as const) {
      const n = isCarriedOut ? 2 : 1;
      [isKnown, ahead] = [true, ahead + 30_000];
      const dispatcher = open();
      scene.fetch = async (input, init) => {
        if (!input.endsWith("/v1/settle")) return await inner(input, init);
        if (isCarriedOut) await inner(input, init);
        isKnown = false;
        return Response.json({ code: "unauthorized", status: 401 }, { status: 401 });
      };
      expect(await codeOf(dispatcher.dispatch(task(n)))).to.equal("unauthorized");
      expect(await dispatcher.cancel(id)).to.equal(true);
      scene.fetch = inner;
      [isKnown, ahead] = [true, ahead + 30_000];
      const status = isCarriedOut ? "SETTLED" : "CANCELLED";
      expect(await dispatcher.dispatch(task(n))).to.include({ status, calls: 1, cost_usd: "0.000018" });
      expect((await scene.entries()).filter(({ task_id }) => task_id === id)).to.have.length(1);
    }
    expect(asked()).to.equal(2);
  });

  it("is not taken for refused because a proxy forbids one request, or because settlement does not answer", async () => {
    const inner = scene.fetch;
    let blocked = 1;
    scene.fetch = async (input, init) =>
      input.endsWith("/v1/settle") && blocked-- > 0
        ? new Response("<h1>Forbidden</h1>", { status: 403 })
        : await inner(input, init);
    const dispatcher = open();
    expect(await dispatcher.dispatch(task(1))).to.include({ status: "SETTLED", calls: 1 });
    expect([blocked, dispatcher.isKeyRefused()]).to.deep.equal([-1, false]);
    ahead = 120_000;
    let silent = 1;
    scene.fetch = async (input, init) => {
      if (input.endsWith("/v1/reviews") && silent-- > 0) throw new Error("socket hang up");
      return await inner(input, init);
    };
    expect(await dispatcher.dispatch(task(3))).to.include({ status: "SETTLED" });
    expect(dispatcher.isKeyRefused()).to.equal(false);
  });

  it("pays for each task once and settles each, however often its key is revoked meanwhile", async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant("send" as const) },
      fc.constantFrom("revoke" as const, "restore" as const, "wait" as const, "resume" as const),
    );
    let runs = 0;
    const play = async (dispatcher: Dispatcher, steps: readonly string[], run: number) => {
      const [before, accepted] = [asked(), new Set<number>()];
      let [paidRefused, revocations, n] = [0, 0, run * 1_000];
      for (const it of steps) {
        const paid = asked();
        if (it === "revoke") revocations += isKnown ? 1 : 0;
        if (it === "revoke" || it === "restore") isKnown = it === "restore";
        if (it === "wait") ahead += 20_000;
        if (it === "resume") {
          await dispatcher.resume();
          for (const each of accepted) await codeOf(Promise.resolve(dispatcher.outcome(`task-${each}`)));
        }
        if (it === "send") {
          await codeOf(dispatcher.dispatch(task(++n)));
          if (await dispatcher.state(`task-${n}`)) accepted.add(n);
        }
        if (!isKnown) paidRefused += asked() - paid;
      }
      expect(paidRefused, "paid while the key was refused").to.be.at.most(revocations);
      [isKnown, ahead] = [true, ahead + 30_000];
      for (const each of accepted)
        expect(await dispatcher.dispatch(task(each))).to.include({ status: "SETTLED", calls: 1 });
      expect(asked() - before).to.equal(accepted.size);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        [isKnown, ahead] = [true, 0];
        const dispatcher = open();
        await play(dispatcher, steps, ++runs);
        await dispatcher.close();
      }),
      { seed: 45, numRuns: 25, endOnFailure: true },
    );
  });

  it("knows its key from the answers to its own proposals, so that it asks at most once a minute", async () => {
    const dispatcher = open();
    for (let n = 1; n < 5; n++) {
      ahead += 50_000;
      expect(await dispatcher.dispatch(task(n))).to.include({ status: "SETTLED" });
    }
    expect(probes()).to.equal(1);
  });
});
