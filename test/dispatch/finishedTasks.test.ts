import { expect } from "chai";
import { createDispatchReport } from "../../services/dispatch/report/dispatchReport.ts";
import { API_KEY } from "../settlement/support/testService.ts";
import { type DispatchScene, openDispatchScene } from "./support/dispatchScene.ts";

const DAY_MS = 86_400_000;

describe("a finished task of a dispatcher", () => {
  let scene: DispatchScene;
  beforeEach(async () => {
    scene = await openDispatchScene();
    scene.models.say = () => ({ answer: "Rome" });
  });
  afterEach(() => scene.close());

  it("is remembered until seven days are over by this machine's clock and by settlement's", async () => {
    const ahead = { own: 0, settlement: 0 };
    const open = () =>
      scene.dispatcher({
        now: () => Date.now() + ahead.own,
        settlement: {
          ...{ baseUrl: "http://settlement.test", apiKey: API_KEY },
          fetch: async (input, init) => {
            const { body, status, headers } = await scene.fetch(input, init);
            const date = new Date(Date.now() + ahead.settlement).toUTCString();
            return new Response(body, { status, headers: { ...Object.fromEntries(headers), date } });
          },
        },
      });
    const [first, second, third] = ["task-1", "task-2", "task-3"].map((id) => ({
      ...{ task_id: id, goal: `Do ${id}.`, key: id },
    })) as [{ task_id: string }, object, object];
    const dispatcher = open();
    await dispatcher.dispatch(first);
    await dispatcher.close();

    ahead.own = 8 * DAY_MS;
    const next = open();
    // Settlement has not answered this process yet, and then it tells another time.
    await next.resume();
    await next.dispatch(second);
    await next.resume();
    expect(await next.state(first.task_id)).to.include({ status: "SETTLED" });

    ahead.settlement = 8 * DAY_MS;
    await next.dispatch(third);
    await next.resume();
    expect(await next.state(first.task_id)).to.equal(undefined);
  });

  it("gives its id free after that, and a new task with this id is another task with calls of its own in the report", async () => {
    const ahead = { ms: 0 };
    const open = () => {
      const date = () => new Date(Date.now() + ahead.ms).toUTCString();
      return scene.dispatcher({
        now: () => Date.now() + ahead.ms,
        settlement: {
          ...{ baseUrl: "http://settlement.test", apiKey: API_KEY },
          fetch: async (input, init) => {
            const { body, status, headers } = await scene.fetch(input, init);
            return new Response(body, { status, headers: { ...Object.fromEntries(headers), date: date() } });
          },
        },
      });
    };
    const task = (goal: string) => ({ task_id: "task-1", goal, key: "capital" });
    const dispatcher = open();
    await dispatcher.dispatch(task("Name the capital of Italy."));
    ahead.ms = 8 * DAY_MS;
    await dispatcher.dispatch({ ...task("Name the capital of Peru."), task_id: "task-2" });
    await dispatcher.resume();
    await dispatcher.dispatch(task("Name the capital of France."));
    const { add, report } = createDispatchReport();
    for (const [at, { task_id, payload }] of (await scene.entries()).entries())
      add({ line: at + 1, taskId: task_id, payload });
    expect(report()).to.deep.include({ calls: 3, faults: [], fidelity_percent: "100.0" });
    expect(report().total).to.include({ tasks: 3, settled: 3, spent_usd: "0.000054" });
    // A premium model would have cost 0.0009 for each.
    expect(report().total.always_premium_usd).to.equal("0.0027");
    expect(report().clients).to.deep.equal({ library: { settled: 3, keys: 1 } });
  });
});
