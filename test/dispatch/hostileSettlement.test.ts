import { expect } from "chai";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createDispatchReport } from "../../services/dispatch/report/dispatchReport.ts";
import { API_KEY } from "../settlement/support/testService.ts";
import { type DispatchScene, openDispatchScene } from "./support/dispatchScene.ts";

const html = (status: number) => () => new Response("<h1>Hello</h1>", { status });
const json =
  (text: string, status = 200) =>
  () =>
    new Response(text, { status, headers: { "content-type": "application/json" } });

/** Answers that settlement cannot have meant. */
const ODD: { readonly [what: string]: () => Response } = {
  "a page with 200": html(200),
  "a page with 403": html(403),
  "a page with 404": html(404),
  "a page with 502": html(502),
  "an error without words": json("", 500),
  "a busy service": json('{"code":"rate_limited","status":429}', 429),
  "a service that is closed": json('{"code":"ledger_unavailable","status":503}', 503),
  "no content": () => new Response(null, { status: 204 }),
  null: json("null"),
  "an empty list": json("[]"),
  "an empty object": json("{}"),
  "half of an object": json('{"status":"SETTLED","hash":"'),
  "an outcome without a hash": json('{"status":"SETTLED","hash":"0x","index":-1,"timestamp":"now"}'),
  "an unknown outcome": json('{"status":"PAID","reason":"yes"}'),
  "lists in lists": json("[".repeat(100_000)),
  "bytes that are no text": () => new Response(new Uint8Array([0xff, 0xfe, 0x00, 0xd8]), { status: 200 }),
  "an answer that breaks off": () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.error(new Error("socket hang up")),
      }),
    ),
  "an answer of 50 MB": () => {
    let left = 50;
    const piece = new Uint8Array(1024 * 1024).fill(0x20);
    return new Response(
      new ReadableStream({
        pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
      }),
    );
  },
};
const ROUTES = ["/v1/rules", "/v1/context", "/v1/ledger/entries", "/v1/reviews", "/v1/settle"];

describe("a dispatcher whose settlement answers nonsense for a while", () => {
  let scene: DispatchScene;
  before(async () => {
    scene = await openDispatchScene();
    scene.models.say = () => ({ answer: "Rome" });
  });
  after(() => scene.close());

  /** @param times how many answers are nonsense: one, or all until the task's deadline has passed */
  type Case = { route: string; what: string; isCarriedOut: boolean; times: number };

  /** Does a task while one route answers nonsense, and again afterwards. */
  async function play({ route, what, isCarriedOut, times }: Case, id: string) {
    let left = times;
    const dispatcher = scene.dispatcher({
      store: memoryStore(),
      settlement: {
        ...{ baseUrl: "http://settlement.test", apiKey: API_KEY },
        fetch: async (input, init) => {
          if (!new URL(input).pathname.startsWith(route) || left === 0) return await scene.fetch(input, init);
          left--;
          if (isCarriedOut) await scene.fetch(input, init);
          return (ODD[what] as () => Response)();
        },
      },
    });
    const deadline_ms = times === 1 ? 600_000 : 1_000;
    const task = { task_id: id, goal: "Name the capital of Italy.", key: id, deadline_ms };
    const first = await dispatcher.dispatch(task).catch((error) => ({ status: "OPEN", code: error.code }));
    left = 0;
    const outcome = await dispatcher.dispatch(task);
    const { spent, reserved } = await dispatcher.budget.today();
    return { first, outcome, spent, reserved };
  }

  it("settles or closes each task once, pays no call twice, and has all costs in the ledger", async () => {
    const cases: Case[] = ROUTES.flatMap((route) =>
      Object.keys(ODD).flatMap((what) =>
        (route === "/v1/settle" ? [false, true] : [false]).flatMap((isCarriedOut) =>
          [1, Number.POSITIVE_INFINITY].map((times) => ({ route, what, isCarriedOut, times })),
        ),
      ),
    );
    let spent = 0n;
    const results: { it: Case; id: string; result: Awaited<ReturnType<typeof play>> }[] = [];
    for (let at = 0; at < cases.length; at += 32)
      results.push(
        ...(await Promise.all(
          cases
            .slice(at, at + 32)
            .map(async (it, n) => ({ it, id: `task-${at + n}`, result: await play(it, `task-${at + n}`) })),
        )),
      );
    const entries = await scene.entries();
    const { add, report } = createDispatchReport();
    for (const [at, { task_id, payload }] of entries.entries())
      add({ line: at + 1, taskId: task_id, payload });
    for (const { it, id, result } of results) {
      const name = JSON.stringify({ ...it, ...result.first });
      const { outcome } = result;
      // So many tasks at once may also find another head of the ledger at each attempt.
      const isDrift = outcome.status === "REJECTED" && outcome.reason.startsWith("State drift");
      const isLate = it.times !== 1 && outcome.status === "EXPIRED";
      if (!isDrift && !isLate) expect(outcome.status, name).to.equal("SETTLED");
      expect(outcome.calls, name).to.be.at.most(1);
      expect(result.reserved, name).to.equal(0n);
      const own = entries.filter(({ task_id }) => task_id === id);
      expect(own, name).to.have.length(1);
      expect(own[0].current_hash, name).to.equal(
        outcome.status === "SETTLED" ? outcome.hash : (outcome as { closing?: string }).closing,
      );
      // What an answer said that was no answer of settlement is never an outcome.
      if (result.first.status === "SETTLED") expect(result.first, name).to.deep.equal(outcome);
      spent += result.spent;
    }
    expect(report()).to.deep.include({ faults: [], fidelity_percent: "100.0" });
    expect(report().total.spent_usd).to.equal(`0.${String(spent).padStart(12, "0").replace(/0+$/, "")}`);
  });
});
