import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import type { Outcome } from "../../services/dispatch/tasks/outcome.ts";
import { API_KEY } from "../settlement/support/testService.ts";
import { endAtEveryWrite } from "../support/endAtEveryWrite.ts";
import { type DispatchScene, modelsYaml, openDispatchScene, SHADOW } from "./support/dispatchScene.ts";

describe("a dispatcher whose process ends at any moment", () => {
  let scene: DispatchScene;
  beforeEach(async () => {
    scene = await openDispatchScene();
  });
  afterEach(() => scene.close());

  type Life = { store: KeyValueStore; task: object; id: string; answered: Map<string, number> };
  let lives = 0;
  const open = async (): Promise<Life> => {
    const id = `task-${lives++}`;
    return {
      id,
      store: memoryStore(),
      task: { task_id: id, goal: `Do ${id}.`, key: id },
      answered: new Map(),
    };
  };

  for (const [what, yaml, say, status] of [
    ["escalates", "", (model: string) => (model === "small" ? { text: "no" } : { answer: "yes" }), "SETTLED"],
    ["is shadowed", SHADOW.replace("share: 0", "share: 1"), () => ({ answer: "yes" }), "SETTLED"],
    ["is held", SHADOW.replace("share: 0", "share: 1"), (model: string) => ({ answer: model }), "ESCROWED"],
    ["fails", "", () => ({ text: "no" }), "FAILED"],
  ] as const) {
    it(`pays no finished call again and settles or closes the task once, with complete books, if the task ${what}`, async () => {
      const asked = new Map<string, string[]>();
      scene.models.say = ({ model, user }) => {
        const id = /Do (task-\d+)/.exec(user)?.[1] ?? "";
        asked.set(id, [...(asked.get(id) ?? []), model]);
        return say(model);
      };
      const dispatcherOf = (
        store: KeyValueStore,
        cut?: (fetch: typeof scene.fetch) => typeof scene.fetch,
      ) => {
        const plain: typeof scene.fetch = (input, init) => scene.fetch(input, init);
        const fetch = cut ? cut(plain) : plain;
        const settlement = { baseUrl: "http://settlement.test", apiKey: API_KEY, fetch };
        return scene.dispatcher(
          { store, settlement, random: () => 0 },
          modelsYaml(scene.models.url, yaml),
          cut === undefined,
        );
      };
      let lost = 0;
      const writes = await endAtEveryWrite<Life>({
        open,
        run: ({ store, task }, process) => dispatcherOf(process.store(store), process.cut).dispatch(task),
        resume: async ({ store, task }) => {
          const next = dispatcherOf(store);
          await next.resume();
          await next.dispatch(task);
        },
        check: async ({ store, id }, at) => {
          const next = dispatcherOf(store);
          const outcome = (await next.state(id)) as Outcome;
          expect(outcome.status, at).to.equal(status);
          if (outcome.status === "SETTLED") expect(outcome.answer, at).to.equal("yes");
          const entries = (await scene.entries()).filter(({ task_id }) => task_id === id);
          expect(entries, at).to.have.length(1);
          const { calls } = entries[0].payload.agent_metadata.dispatch;
          const dead = calls.filter((it: { ended: string }) => it.ended === "lost_with_its_process").length;
          lost += dead;
          // One request may have been open when the process ended. No other request is sent twice.
          expect(dead, at).to.be.at.most(1);
          expect((asked.get(id) ?? []).length, at).to.be.within(calls.length - 1, calls.length);
          const { spent, reserved } = await next.budget.today();
          expect(reserved, `${at}: reserved`).to.equal(0n);
          const told = calls.reduce((sum: number, it: { cost_usd: string }) => sum + Number(it.cost_usd), 0);
          expect(Number(spent) / 1e12, `${at}: booked`).to.be.closeTo(told, 1e-12);
          const reviews = await scene.service.app.request("/v1/reviews", {
            headers: { authorization: `Bearer ${API_KEY}` },
          });
          const { items } = await reviews.json();
          const held = items.filter((it: { task_id: string }) => it.task_id === id);
          expect(held, `${at}: held`).to.have.length(status === "ESCROWED" ? 1 : 0);
        },
      });
      expect(writes).to.be.above(5);
      expect(lost).to.be.above(0);
    });
  }

  it("leaves one entry and one paid call if it is killed with -9 while settlement answers", async () => {
    scene.models.say = () => ({ answer: "Rome" });
    let isWithheld = true;
    let child: ReturnType<typeof run>;
    const server = serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const response = await scene.service.app.fetch(request);
        if (isWithheld && request.url.endsWith("/v1/settle")) {
          isWithheld = false;
          child.kill("SIGKILL");
        }
        return response;
      },
    });
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const yaml = path.join(scene.folder, "models.yaml");
    writeFileSync(yaml, modelsYaml(scene.models.url));
    const task = { task_id: "killed", goal: "Name the capital of Italy.", key: "capital" };
    const run = () =>
      spawn(
        process.execPath,
        nodeProgram("test/dispatch/support/dispatchProcess.ts", [
          path.join(scene.folder, "process"),
          `http://127.0.0.1:${port}`,
          API_KEY,
          yaml,
          JSON.stringify(task),
        ]),
        { cwd: repositoryRoot, stdio: ["ignore", "pipe", "inherit"] },
      );
    try {
      child = run();
      const [, signal] = await once(child, "exit");
      expect(signal).to.equal("SIGKILL");
      child = run();
      const outcome = JSON.parse(await text(child.stdout));
      expect(outcome).to.include({ status: "SETTLED", index: 0, calls: 1, cost_usd: "0.000018" });
      expect(scene.models.asked).to.have.length(1);
      expect(await scene.entries()).to.have.length(1);
    } finally {
      server.close();
    }
  });
});
