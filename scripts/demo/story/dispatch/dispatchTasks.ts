import { TallystickError } from "tallystick-protocol/errors";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createDispatcher, type Dispatcher } from "../../../../services/dispatch/dispatcher.ts";
import { parseDollars } from "../../../../services/dispatch/models/money.ts";
import { readModels } from "../../../../services/dispatch/models/readModels.ts";
import type { Outcome } from "../../../../services/dispatch/tasks/outcome.ts";
import type { Scene } from "../scene.ts";
import { openModelServer } from "./modelServer.ts";

const MEAN = {
  type: "object",
  properties: { mean: { type: "number" } },
  required: ["mean"],
  additionalProperties: false,
};

/**
 * The chapter on dispatching (swarm.at §6). The cheapest model does a simple task. The next model does a task
 * that the cheapest cannot. A third task gets an invented answer; it is held, because a model of another family
 * gives another answer.
 */
export async function dispatchTasks({ node, signal }: Scene): Promise<string> {
  const models = await openModelServer();
  const settlement = { baseUrl: node.settlementUrl, apiKey: node.settlementKey };
  const open = (standard: string): Dispatcher =>
    createDispatcher({
      models: readModels(modelsYaml(models.url, standard)),
      settlement,
      store: memoryStore(),
      perTask: parseDollars("0.10", "perTask"),
      perDay: parseDollars("1.00", "perDay"),
      name: `demo-${standard}`,
      environment: {},
      // A fixed number, so that every run is the same.
      random: () => 0.999,
    });
  const [honest, doubtful] = [open("middle"), open("sly")];
  const goal = "Compute the mean of the prices 0.04, 0.05 and 0.06. Then explain why it is right.";
  const task = { goal, output_schema: MEAN, kind: "statistics" };
  try {
    const thrifty = await honest.dispatch(
      {
        task_id: "demo-currency",
        goal: "In which currency are sellers paid?",
        key: "demo_currency",
        kind: "lookup",
      },
      { signal },
    );
    expect(thrifty, { status: "SETTLED", tier: "thrifty", escalations: 0 });
    const escalated = await honest.dispatch({ ...task, task_id: "demo-mean", key: "demo_mean" }, { signal });
    expect(escalated, { status: "SETTLED", tier: "standard", escalations: 1 });
    const caught = await doubtful.dispatch(
      { ...task, task_id: "demo-caught", key: "demo_caught" },
      { signal },
    );
    expect(caught, { status: "ESCROWED", tier: "standard" });
    const spent = [thrifty, escalated, caught].reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0);
    return `1 task by the cheapest model, 1 escalated, 1 held because its shadow differed; $${spent.toFixed(6)} spent`;
  } finally {
    await Promise.all([honest.close(), doubtful.close()]);
    await models.close();
  }
}

/**
 * The text of models.yaml: a small, cheap model, and the model `standard` for harder tasks. A model of another family
 * is the shadow of `standard`.
 */
function modelsYaml(url: string, standard: string): string {
  const model = (id: string, price: string): string => `
  ${id}:
    provider: openai-compatible
    base_url: ${url}
    id: ${id}
    family: family-of-${id}
    stream: false
    prices: { input: ${price}, output: ${price} }
    limits: { context: 32000, output: 500, seconds: 20 }`;
  return `dated: 2026-11-01
models:${model("small", "0.1")}${model(standard, "2.0")}${model("watch", "0.2")}
tiers: { thrifty: [small], standard: [${standard}], premium: [${standard}] }
shadow: { tiers: [standard, premium], models: [watch] }
`;
}

function expect(outcome: Outcome, wanted: { [field: string]: unknown }): void {
  const wrong = Object.entries(wanted).filter(([field, value]) => Reflect.get(outcome, field) !== value);
  if (wrong.length === 0) return;
  throw new TallystickError({
    code: "demo_mismatch",
    message: `The task ${outcome.task_id} ended as ${JSON.stringify(outcome).slice(0, 400)}, not as ${JSON.stringify(wanted)}.`,
  });
}
