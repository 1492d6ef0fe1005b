import { expect } from "chai";
import type { Gauge, Registry } from "prom-client";
import { createApi } from "../../indexer/api/app.ts";
import { isReadingHistory, LIVE_METRIC } from "../../indexer/ponderProcess.ts";
import { node } from "./support/apiStory.ts";

type Log = { warn: (fields: object) => void };
type Logger = { createLogger: (options: { level: string; mode: string }) => Log };

/** Ponder's own logger. Tests of the API without a node do not have this logger. */
const PONDER_LOGGER = "../../node_modules/ponder/dist/esm/internal/logger.js";

const PONDER_METRICS = "../../node_modules/ponder/dist/esm/internal/metrics.js";

type Metrics = { registry: Registry };

describe("the API in Ponder's process", () => {
  const globals = globalThis as { PONDER_COMMON?: unknown };
  const print = console.log;
  let written: string[];

  beforeEach(async () => {
    written = [];
    console.log = (line: string) => void written.push(line);
    const { createLogger } = (await import(PONDER_LOGGER)) as Logger;
    globals.PONDER_COMMON = { logger: createLogger({ level: "warn", mode: "pretty" }) };
  });
  afterEach(() => {
    console.log = print;
    delete globals.PONDER_COMMON;
  });

  it("logs internal faults and tells the client nothing about them", async () => {
    const broken: object = new Proxy(() => broken, {
      get: (_, name) => {
        if (name !== "then") return broken;
        return (_: unknown, reject: (error: Error) => void) =>
          reject(new Error("https://rpc.example/v2/KEY: password is swordfish"));
      },
      apply: () => broken,
    });
    const app = createApi({
      db: broken as never,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
    });
    for (const path of ["/graphql?query={meta{time}}", "/v1/params"]) {
      written.length = 0;
      const response = await app.request(path);
      const text = await response.text();
      expect(text, path).to.contain(path === "/v1/params" ? '"code":"internal"' : "INTERNAL_SERVER_ERROR");
      expect(text, path).to.not.match(/swordfish|node_modules|TypeError/);
      expect(written.join("\n"), path).to.contain("https://rpc.example/...: password is swordfish");
      expect(written.join("\n"), path).not.to.contain("KEY");
    }
  });
});

describe("Ponder's reading of the history", () => {
  const globals = globalThis as { PONDER_COMMON?: unknown };
  afterEach(() => {
    delete globals.PONDER_COMMON;
  });

  it("ends when Ponder's own metric says so", async () => {
    const { MetricsService } = (await import(PONDER_METRICS)) as { MetricsService: new () => Metrics };
    const metrics = new MetricsService();
    globals.PONDER_COMMON = { metrics };
    expect(await isReadingHistory()).to.equal(true);
    (metrics.registry.getSingleMetric(LIVE_METRIC) as Gauge).set({ chain: "main" }, 1);
    expect(await isReadingHistory()).to.equal(false);
  });

  it("is over in a process without Ponder", async () => {
    expect(await isReadingHistory()).to.equal(false);
  });
});
