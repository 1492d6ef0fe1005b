import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileStore } from "tallystick-sdk/store/fileStore";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import {
  createDispatcher,
  type Dispatcher,
  type DispatcherParameters,
} from "../../../services/dispatch/dispatcher.ts";
import { parseDollars } from "../../../services/dispatch/models/money.ts";
import { readModels } from "../../../services/dispatch/models/readModels.ts";
import { API_KEY, openTestService, type TestService } from "../../settlement/support/testService.ts";
import { type ModelServer, openModelServer } from "./modelServer.ts";

/**
 * A models.yaml with four models. `small` is the cheapest and of family a. `middle` and `large` are of family b. `watch` is
 * of family c and is used as the shadow.
 */
export function modelsYaml(url: string, more = ""): string {
  const model = (name: string, family: string, price: string) => `
  ${name}:
    provider: openai-compatible
    base_url: ${url}
    id: ${name}
    family: ${family}
    prices: { input: ${price}, output: ${Number(price) * 4} }
    limits: { context: 32000, output: 500, seconds: 60 }`;
  return `dated: 2026-11-01
models:${model("small", "a", "0.1")}${model("middle", "b", "1")}${model("large", "b", "5")}${model("watch", "c", "0.2")}
tiers:
  thrifty: [small]
  standard: [middle]
  premium: [large]
${more}`;
}

export const SHADOW = "shadow: { share: 0, tiers: [], models: [watch] }";

export type DispatchScene = {
  models: ModelServer;
  service: TestService;
  folder: string;
  store: KeyValueStore;
  /** Sends a request to settlement. A test may replace this function to lose some requests. */
  fetch: (input: string, init?: RequestInit) => Promise<Response>;
  /** @param isClosed whether the scene closes it. A dispatcher whose simulated process ended cannot be closed */
  dispatcher: (changes?: Partial<DispatcherParameters>, yaml?: string, isClosed?: boolean) => Dispatcher;
  /** The entries of the ledger. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into entries of every shape
  entries: () => Promise<any[]>;
  reopen: (rules: object) => Promise<void>;
  close: () => Promise<void>;
};

/** Opens a real settlement service without a port, a server of models on a real socket, and a folder. */
export async function openDispatchScene(rules: object = {}): Promise<DispatchScene> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-dispatch-"));
  const models = await openModelServer();
  const open = async (given: object) => {
    const file = path.join(folder, "rules.json");
    writeFileSync(file, JSON.stringify({ version: 1, ...given }));
    return await openTestService(path.join(folder, "ledger"), {
      RULES_FILE: file,
      RATE_LIMIT_PER_ADDRESS: "0",
    });
  };
  const dispatchers: Dispatcher[] = [];
  const store = fileStore(path.join(folder, "state"));
  const scene: DispatchScene = {
    models,
    service: await open(rules),
    folder,
    store,
    fetch: (input, init) => Promise.resolve(scene.service.app.request(input, init)),
    dispatcher: (changes = {}, yaml = modelsYaml(models.url), isClosed = true) => {
      const dispatcher = createDispatcher({
        models: readModels(yaml),
        settlement: {
          baseUrl: "http://settlement.test",
          apiKey: API_KEY,
          fetch: (input, init) => scene.fetch(input, init),
        },
        store,
        perTask: parseDollars("1", "perTask"),
        perDay: parseDollars("10", "perDay"),
        environment: {},
        random: () => 0.999,
        ...changes,
      });
      if (isClosed) dispatchers.push(dispatcher);
      return dispatcher;
    },
    entries: async () => {
      const { size } = scene.service.ledger;
      if (size === 0) return [];
      const { text } = await scene.service.get(`/v1/ledger/entries?from=0&to=${size}`);
      return text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    },
    reopen: async (given) => {
      await scene.service.close();
      scene.service = await open(given);
    },
    close: async () => {
      await Promise.all(dispatchers.map((it) => it.close()));
      await models.close();
      await scene.service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return scene;
}

/** The part of a prompt with this name, as the model gets it; undefined if there is none. */
export function partOf(user: string, name: string): unknown {
  const [, line] = new RegExp(`^BEGIN ${name} [0-9a-f]{32}\n(.*)$`, "m").exec(user) ?? [];
  return line === undefined ? undefined : JSON.parse(line);
}
