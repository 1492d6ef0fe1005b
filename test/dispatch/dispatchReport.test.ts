import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { reportLedger } from "../../scripts/commands/dispatchReport.ts";
import { createDispatchReport, type DispatchReport } from "../../services/dispatch/report/dispatchReport.ts";
import { type DispatchScene, modelsYaml, openDispatchScene, SHADOW } from "./support/dispatchScene.ts";

describe("a dispatcher's report, which is made from a ledger alone", () => {
  let scene: DispatchScene;
  let file: string;
  before(async () => {
    scene = await openDispatchScene();
    const said: { [goal: string]: (model: string) => unknown } = {
      easy: () => "yes",
      harder: (model) => (model === "small" ? undefined : "yes"),
      watched: () => "yes",
      doubtful: (model) => model,
      hopeless: () => undefined,
    };
    scene.models.say = ({ model, user }) => {
      const [goal = ""] = /easy|harder|watched|doubtful|hopeless/.exec(user) ?? [];
      const answer = said[goal]?.(model);
      return answer === undefined ? { text: "no" } : { answer };
    };
    const plain = scene.dispatcher();
    const shadowing = scene.dispatcher(
      {},
      modelsYaml(scene.models.url, SHADOW.replace("share: 0", "share: 1")),
    );
    for (const [goal, kind, dispatcher] of [
      ["easy", "lookup", plain],
      ["harder", "lookup", plain],
      ["watched", "check", shadowing],
      ["doubtful", "check", shadowing],
      ["hopeless", "lookup", plain],
    ] as const) {
      await dispatcher.dispatch({ task_id: goal, goal: `Is ${goal} work done?`, key: `is_${goal}`, kind });
    }
    file = path.join(scene.folder, "copy.jsonl");
    const { text } = await scene.service.get(`/v1/ledger/entries?from=0&to=${scene.service.ledger.size}`);
    writeFileSync(file, text);
  });
  after(() => scene.close());

  it("has the exact cost of all calls, the cost of a premium model for the same tasks, and each client's settled tasks", async () => {
    const report = (await reportLedger(file)) as DispatchReport;
    // The cost in dollars of 100 tokens of prompt and 20 of answer: small 0.000018, middle 0.00018, large 0.0009,
    // watch 0.000036.
    expect(report.total).to.deep.equal({
      tasks: 5,
      settled: 3,
      escalated: 2,
      shadowed: 2,
      escrowed: 1,
      spent_usd: "0.001422",
      always_premium_usd: "0.0045",
      margin_percent: "68.4",
    });
    expect(report.calls).to.equal(10);
    expect(report.spent_by_role).to.deep.equal({ execute: "0.00135", shadow: "0.000072" });
    expect(report.closed).to.deep.equal({ ESCROWED: 1, FAILED: 1 });
    expect(report.kinds.check).to.include({ tasks: 2, settled: 1, escrowed: 1, spent_usd: "0.000108" });
    expect(report.clients).to.deep.equal({ library: { settled: 3, keys: 3 } });
    expect(report).to.deep.include({ fidelity_percent: "100.0", faults: [], spent_uncounted_usd: "0.00" });
    expect(((await reportLedger(file, "somebody")) as DispatchReport).entries).to.equal(0);
  });

  it("judges each call by the prices of its own time, also if they changed while the task was open", async () => {
    const other = await openDispatchScene();
    try {
      // The first process pays a call, and settlement does not answer it.
      const inner = other.fetch;
      other.models.say = () => ({ answer: "yes" });
      const task = { task_id: "open", goal: "Is easy work done?", key: "done" };
      const silenced = new Promise<void>((resolve) => {
        other.fetch = async (input, init) => {
          if (!input.endsWith("/v1/settle")) return await inner(input, init);
          resolve();
          throw new Error("socket hang up");
        };
      });
      const first = other.dispatcher();
      const sent = first.dispatch(task).catch(() => {});
      await silenced;
      await first.close();
      await sent;
      // Then the operator changes prices. The model is dearer, and another one is no longer listed.
      other.fetch = inner;
      const yaml = modelsYaml(other.models.url).replace("input: 0.1,", "input: 0.7,");
      const next = other.dispatcher({}, yaml);
      expect(await next.dispatch(task)).to.include({ status: "SETTLED", calls: 1, cost_usd: "0.000018" });
      await next.dispatch({ ...task, task_id: "later", key: "later" });
      const entries = await other.entries();
      const reportOf = (change: (dispatch: { [name: string]: unknown }) => void) => {
        const { add, report } = createDispatchReport();
        for (const [at, { task_id, payload }] of structuredClone(entries).entries()) {
          change(payload.agent_metadata.dispatch);
          add({ line: at + 1, taskId: task_id, payload });
        }
        return report();
      };
      expect(reportOf(() => {})).to.deep.include({ faults: [], fidelity_percent: "100.0" });
      // The same work costs 0.000018 at the old price, and 0.000078 at the new one: 100 × 0.7 + 20 × 0.4 millionths.
      expect(reportOf(() => {}).total.spent_usd).to.equal("0.000096");
      // A model that is not listed any more is not in the entry's table. Entries of an earlier version have only the table.
      const without = reportOf(
        ({ prices }) => delete (prices as { models: { small?: object } }).models.small,
      );
      expect(without.fidelity_percent).to.equal("100.0");
      const old = reportOf(({ calls }) => {
        for (const call of calls as { prices?: object }[]) delete call.prices;
      });
      expect(old.faults.map(({ line }) => line)).to.deep.equal([1]);
    } finally {
      await other.close();
    }
  });

  it("is refused for a ledger that does not verify, with the number of the line", async () => {
    const lines = readFileSync(file, "utf8").split("\n");
    lines[1] = (lines[1] as string).replace('"cost_usd": "0.000018"', '"cost_usd": "0.000001"');
    const changed = path.join(scene.folder, "changed.jsonl");
    writeFileSync(changed, lines.join("\n"));
    expect(await reportLedger(changed))
      .to.be.instanceOf(LedgerLineError)
      .with.property("line", 2);
  });

  it("shows every record that does not follow from its own figures", async () => {
    const entries = await scene.entries();
    // biome-ignore lint/suspicious/noExplicitAny: records are damaged in every way
    const damages: [string, (dispatch: any) => void][] = [
      ["cost does not follow", (it) => Object.assign(it.calls[0], { cost_usd: "0.000001" })],
      ["cost does not follow", (it) => Object.assign(it.calls[0].tokens, { input: 99 })],
      ["cost does not follow", (it) => Object.assign(it.calls[0].prices, { input: "0.05" })],
      ["prices are missing", (it) => Object.assign(it.calls[0].prices, { input: "0.0000001" })],
      [
        "cost does not follow",
        (it) => {
          delete it.calls[0].prices;
          it.prices.models.small.input = "0.05";
        },
      ],
      [
        "prices are missing",
        (it) => {
          delete it.calls[0].prices;
          delete it.prices.models.small;
        },
      ],
      ["more than the whole", (it) => Object.assign(it.calls[0].tokens, { cached_input: 101 })],
      ["no tokens", (it) => Object.assign(it.calls[0], { tokens: null })],
      ["does not follow from the features", (it) => Object.assign(it.complexity, { value: 0.2 })],
      ["features are missing", (it) => delete it.complexity.features.numbers],
      ["does not follow from the complexity", (it) => Object.assign(it, { tier: "premium" })],
      ["none gave the answer", (it) => Object.assign(it.calls[0], { ended: "malformed_json" })],
      [
        "no call gave its answer",
        (it) => Object.assign(it, { shadow: { why: [], share: 1, model: "watch" } }),
      ],
      ["not a dispatcher's record", (it) => Object.assign(it, { calls: "none" })],
    ];
    for (const [fault, damage] of damages) {
      const { add, report } = createDispatchReport();
      const { payload } = structuredClone(entries[0]);
      damage(payload.agent_metadata.dispatch);
      add({ line: 1, taskId: "easy", payload });
      const { faults, fidelity_percent } = report();
      expect(faults.map((it) => it.fault).join("; "), fault).to.contain(fault);
      expect(fidelity_percent).to.equal("0.0");
    }
  });

  it("counts a call once if a closing entry and a release both contain it, and shows differences between them", () => {
    const { add, report } = createDispatchReport();
    return scene.entries().then((entries) => {
      const held = entries.find(({ task_id }) => task_id === "doubtful");
      add({ line: 1, taskId: "doubtful", payload: held.payload });
      const released = structuredClone(held.payload);
      delete released.agent_metadata.dispatch.closing;
      add({ line: 2, taskId: "doubtful", payload: released });
      expect(report().total).to.include({
        tasks: 1,
        settled: 1,
        spent_usd: "0.000054",
        always_premium_usd: "0.0009",
      });
      expect(report().faults).to.deep.equal([]);
      const other = structuredClone(released);
      other.agent_metadata.dispatch.calls[0].latency_ms += 1;
      add({ line: 3, taskId: "doubtful", payload: other });
      expect(report().faults[0]).to.deep.include({ line: 3 });
    });
  });
});
