import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Counter, Gauge, Registry } from "prom-client";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { MAX_WITNESS_REQUEST_LENGTH } from "tallystick-protocol/note/witnessRequest";
import { answerError } from "tallystick-runtime/http/answerError";
import { measureRoutes, requestHistogram } from "tallystick-runtime/http/measureRoutes";
import { Refusal } from "./refusal.ts";
import type { Witness } from "./witness.ts";

/**
 * Media type of the answer 409 (C2SP tlog-witness). The witness gives this answer to a request with a wrong old size.
 * The body of the answer is the size that the witness cosigned last.
 */
const SIZE_TYPE = "text/x.tlog.size";

/**
 * The HTTP side of a witness (C2SP tlog-witness).
 *
 * - `POST /add-checkpoint`: the old size, a consistency proof, a checkpoint. The answer is the cosignature, one line.
 * - `GET /<SHA-256 of the origin>/checkpoint`: the last cosigned checkpoint of a log.
 * - `GET /`: the witness's name, key and logs, as JSON. `GET /health`, `GET /metrics`.
 *
 * @param onFault called with internal errors of a request
 */
export function createWitnessApp(witness: Witness, onFault: (error: unknown) => void): Hono {
  const app = new Hono();
  const registry = new Registry();
  app.use(measureRoutes(requestHistogram(registry)));
  const answers = new Counter({
    name: "tallystick_witness_answers_total",
    help: "Checkpoints that were sent here, by their outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  new Gauge({
    name: "tallystick_witness_size",
    help: "Size that was cosigned last, by log.",
    labelNames: ["origin"],
    registers: [registry],
    collect() {
      for (const origin of witness.origins) this.set({ origin }, witness.latest(origin)?.size ?? 0);
    },
  });
  const originOf = new Map(
    witness.origins.map((origin) => [bytesToHex(sha256(utf8ToBytes(origin))), origin]),
  );

  app.onError((error) => {
    if (error instanceof Refusal && error.status === 409)
      return new Response(`${error.size}\n`, { status: 409, headers: { "content-type": SIZE_TYPE } });
    const statusByCode = error instanceof Refusal ? { [error.code]: error.status } : {};
    return answerError(error, { statusByCode, log: onFault });
  });

  app.post("/add-checkpoint", bodyLimit({ maxSize: MAX_WITNESS_REQUEST_LENGTH }), async (c) => {
    try {
      const line = witness.add(await textOf(c.req.raw));
      answers.inc({ outcome: "cosigned" });
      return text(line);
    } catch (error) {
      answers.inc({ outcome: error instanceof TallystickError ? error.code : "fault" });
      throw error;
    }
  });

  app.get("/", (c) => {
    const { name, verifierKey } = witness;
    const logs = [...originOf].map(([hash, origin]) => ({
      origin,
      size: witness.latest(origin)?.size ?? 0,
      checkpoint: `/${hash}/checkpoint`,
    }));
    return c.json({ witness: name, key: verifierKey, logs });
  });

  app.get("/health", (c) => c.json({ status: "ok" }));

  app.get(
    "/metrics",
    async () => new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } }),
  );

  app.get("/:origin{[0-9a-f]{64}}/checkpoint", (c) => {
    const origin = originOf.get(c.req.param("origin"));
    const cosigned = origin === undefined ? undefined : witness.latest(origin);
    if (cosigned !== undefined) return text(cosigned.note);
    throw notFound("This witness has cosigned no checkpoint of a log with this hash.");
  });

  app.notFound((c) => {
    throw notFound(`There is no ${c.req.path} here.`);
  });
  return app;
}

/** Refuses a body that is not UTF-8. Its decoded text would differ from what was sent. */
async function textOf(request: Request): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await request.arrayBuffer());
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new InvalidInputError({ issues: [{ field: "body", message: "must be UTF-8" }], cause });
  }
}

function notFound(message: string): TallystickError {
  return new TallystickError({ code: "not_found", message });
}

function text(body: string): Response {
  return new Response(body, {
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" },
  });
}
