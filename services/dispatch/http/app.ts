import { setTimeout as wait } from "node:timers/promises";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Counter, Gauge, Registry } from "prom-client";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import type { StatusByCode } from "tallystick-protocol/problem";
import { answerError } from "tallystick-runtime/http/answerError";
import { measureRoutes, requestHistogram } from "tallystick-runtime/http/measureRoutes";
import { ServiceError } from "tallystick-sdk/requestService";
import type { Dispatcher, TaskState } from "../dispatcher.ts";
import { SettlementKeyRefused } from "../settlementKey.ts";
import type { Outcome } from "../tasks/outcome.ts";
import { MAX_TASK_BYTES } from "../tasks/task.ts";
import { ownerOf } from "./callers.ts";

/**
 * The longest time that a request waits for a task. Proxies and this server close connections that are idle for long.
 */
const MAX_WAIT_MS = 50_000;
/**
 * How long a request waits, if it waits at all, for a task that cannot go on now, and how often it looks. So a client
 * that asks again at once does not ask all the time.
 */
const STOPPED_WAIT_MS = 5_000;
const STOPPED_LOOK_MS = 200;
/** When such a task is continued at the latest, in seconds. */
const STOPPED_RETRY_SECONDS = 30;

const STATUS: StatusByCode = {
  invalid_input: 400,
  invalid_schema: 400,
  invalid_params: 400,
  unknown_capability: 400,
  json_too_deep: 400,
  json_too_many_values: 400,
  unknown_task: 404,
  conflicting_task: 409,
  not_running: 409,
  dispatcher_busy: 503,
  dispatcher_closed: 503,
  settlement_key_refused: 503,
};

export type DispatchAppParameters = {
  dispatcher: Dispatcher;
  /** Keys of the clients, by their names. */
  callers: ReadonlyMap<string, string>;
  /** Called with internal errors of a request. */
  onFault: (error: unknown) => void;
};

/**
 * The HTTP side of a dispatcher. All but health and metrics need `Authorization: Bearer <key>`.
 *
 * - `POST /v1/dispatch`: a task (see `readTask`). Waits for its outcome up to `?wait_ms=` (default and most 50,000):
 * 200 with the outcome, or 202 `{status: "RUNNING", task_id, reason?}`. If the same task is sent again, the request
 * waits for the same outcome. `reason` says why a task cannot go on now, such as `Settlement: unreachable`. A
 * request waits at most five seconds for such a task, and the answer has `Retry-After: 30`.
 * - `GET /v1/dispatch/{task_id}?wait_ms=`: the same for a task that was sent before. Default of `wait_ms`: 0. 404 for
 * tasks of other clients.
 * - `DELETE /v1/dispatch/{task_id}`: cancels it.
 */
export function createDispatchApp({ dispatcher, callers, onFault }: DispatchAppParameters): Hono {
  const app = new Hono();
  const registry = metricsOf(dispatcher);
  /** Waits for a task's outcome, and answers with it or with the task's state. */
  async function answerWithin(
    ms: number,
    { taskId, owner, outcome }: { taskId: string; owner: string; outcome: Promise<Outcome> | undefined },
    signal: AbortSignal,
  ): Promise<Response> {
    const until = performance.now() + ms;
    let patience: number | undefined;
    for (let running = outcome; ; running = dispatcher.outcome(taskId, owner)) {
      const done = running && (await firstOf(running, Math.max(0, until - performance.now()), signal));
      if (done) return stateAnswer(done);
      const state = await dispatcher.state(taskId, owner);
      patience ??= Math.min(until, performance.now() + STOPPED_WAIT_MS);
      const left = patience - performance.now();
      if (state?.status !== "RUNNING" || left <= 0 || signal.aborted) return stateAnswer(state);
      await wait(Math.min(left, STOPPED_LOOK_MS), undefined, { signal }).catch(() => {});
    }
  }

  app.use(measureRoutes(requestHistogram(registry)));
  app.onError((error) => answerError(error, { statusByCode: STATUS, log: onFault }));

  // The limit below reads the whole body of a request that does not tell its length. So keys are checked before it.
  app.post("/v1/dispatch", async (c, next) => {
    ownerOf(c.req.header("authorization"), callers);
    await next();
  });
  app.post("/v1/dispatch", bodyLimit({ maxSize: MAX_TASK_BYTES }), async (c) => {
    const owner = ownerOf(c.req.header("authorization"), callers);
    const waitMs = waitOf(c.req.query("wait_ms"), MAX_WAIT_MS);
    const given = readForeignJson(await textOf(c.req.raw), { maxDepth: 48, maxValues: 50_000 });
    const { taskId, outcome } = await dispatcher.submit(given, { owner });
    return await answerWithin(waitMs, { taskId, owner, outcome }, c.req.raw.signal);
  });

  app.get("/v1/dispatch/:task_id", async (c) => {
    const owner = ownerOf(c.req.header("authorization"), callers);
    const taskId = c.req.param("task_id");
    const waitMs = waitOf(c.req.query("wait_ms"), 0);
    const outcome = waitMs > 0 ? dispatcher.outcome(taskId, owner) : undefined;
    return await answerWithin(waitMs, { taskId, owner, outcome }, c.req.raw.signal);
  });

  app.delete("/v1/dispatch/:task_id", async (c) => {
    const owner = ownerOf(c.req.header("authorization"), callers);
    const taskId = c.req.param("task_id");
    if ((await dispatcher.state(taskId, owner)) === undefined) throw unknownTask();
    if (!(await dispatcher.cancel(taskId, owner))) throw notRunning();
    return c.json({ status: "RUNNING", task_id: taskId }, 202);
  });

  app.get("/health", (c) => c.json({ status: "ok", ...dispatcher.load() }));
  app.get(
    "/metrics",
    async () => new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } }),
  );
  app.notFound((c) => {
    throw new TallystickError({ code: "not_found", message: `There is no ${c.req.path} here.` });
  });
  return app;
}

function metricsOf(dispatcher: Dispatcher): Registry {
  const registry = new Registry();
  const tasks = new Counter({
    name: "tallystick_dispatch_tasks_total",
    help: "Tasks, by their outcome and by the tier that did them.",
    labelNames: ["status", "tier"],
    registers: [registry],
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const calls = counter(
    "tallystick_dispatch_calls_total",
    "Requests to models that may have cost something.",
  );
  const escalations = counter(
    "tallystick_dispatch_escalations_total",
    "How often a higher tier had to do a task.",
  );
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  };
  gauge("tallystick_dispatch_running", "Tasks that are being done.", () => dispatcher.load().running);
  gauge("tallystick_dispatch_waiting", "Tasks that wait for their turn.", () => dispatcher.load().waiting);
  gauge("tallystick_dispatch_key_refused", "1 while settlement refuses this dispatcher's key.", () =>
    Number(dispatcher.isKeyRefused()),
  );
  gauge(
    "tallystick_dispatch_spent_usd",
    "What calls have cost today, in dollars.",
    async () => Number((await dispatcher.budget.today()).spent) / 1e12,
  );
  gauge(
    "tallystick_dispatch_reserved_usd",
    "What is reserved for running calls, in dollars.",
    async () => Number((await dispatcher.budget.today()).reserved) / 1e12,
  );
  // Tasks are counted when they end, and not when a client asks. A client may ask for one task any number of times,
  // and no client asks for a resumed task.
  dispatcher.onEnd(({ status, tier, calls: asked, escalations: times }) => {
    tasks.inc({ status, tier: tier ?? "none" });
    calls.inc(asked);
    escalations.inc(times);
  });
  return registry;
}

/** 200 with the outcome of a task that is over, or 202. */
function stateAnswer(state: TaskState | undefined): Response {
  if (state === undefined) throw unknownTask();
  const isStopped = state.status === "RUNNING" && state.reason !== undefined;
  return Response.json(state, {
    status: state.status === "RUNNING" ? 202 : 200,
    headers: isStopped ? { "retry-after": `${STOPPED_RETRY_SECONDS}` } : {},
  });
}

/**
 * The outcome; undefined if the time is over, nobody waits any more, or settlement does not let the task go on. The task
 * continues later. What settlement refuses concerns the dispatcher's key and not the client's.
 */
async function firstOf(
  outcome: Promise<Outcome>,
  ms: number,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const stop = new AbortController();
  const leave = (): void => stop.abort();
  signal.addEventListener("abort", leave, { once: true });
  try {
    const timer = wait(ms, undefined, { signal: stop.signal }).catch(() => undefined);
    return await Promise.race([outcome, timer]);
  } catch (error) {
    if (error instanceof ServiceError || error instanceof SettlementKeyRefused) return undefined;
    throw error;
  } finally {
    stop.abort();
    signal.removeEventListener("abort", leave);
  }
}

async function textOf(request: Request): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await request.arrayBuffer());
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new InvalidInputError({ issues: [{ field: "body", message: "must be UTF-8" }], cause });
  }
}

function waitOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), MAX_WAIT_MS);
  throw new InvalidInputError({
    issues: [{ field: "wait_ms", message: "must be a whole number of milliseconds" }],
  });
}

function unknownTask(): TallystickError {
  return new TallystickError({
    code: "unknown_task",
    message: "This dispatcher knows no such task of yours.",
    hint: "Outcomes are kept for seven days. The ledger keeps them permanently (GET /v1/status/{task_id}).",
  });
}

function notRunning(): TallystickError {
  return new TallystickError({
    code: "not_running",
    message: "The task is over.",
    hint: "GET the task to see its result.",
  });
}
