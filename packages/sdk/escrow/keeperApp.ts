import { Hono } from "hono";
import { cors } from "hono/cors";
import { addressSchema } from "tallystick-protocol/address";
import { atomicSchema } from "tallystick-protocol/amount";
import { invalidInputFromZod } from "tallystick-protocol/errors";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { readHireJson } from "tallystick-protocol/escrow/hireJson";
import { type Hex, isHex, ZERO_HASH } from "tallystick-protocol/hex";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { size } from "viem";
import * as z from "zod";
import { ChainError, RelayRefusedError } from "../errors.ts";
import { pause } from "../pause.ts";
import { limitBody } from "../seller/limitBody.ts";
import { problemResponse } from "../seller/problem.ts";
import { HireRefusedError } from "../seller/sellerErrors.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import { unwrapSignature } from "./escrowSignature.ts";
import type { Keeper } from "./keeper.ts";

export type KeeperAppParameters = {
  calls: EscrowCalls;
  keeper: Keeper;
  /** How long a request waits until its instruction is carried out, in milliseconds. Default 20,000. */
  waitMs?: number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** The longest signature, in bytes: of a Safe with thirty owners. Every byte costs gas. */
const MAX_SIGNATURE_BYTES = 2_048;

/** The longest pause between two looks at an escrow for a waiting client, in milliseconds. */
const MAX_PAUSE_MS = 1_000;

/**
 * The times for which an answer about an escrow is given again, in milliseconds. They are for a held escrow, for a
 * settled escrow, and for a settled escrow whose transaction was not found. `MAX_DESCRIBED` is the number of answers
 * that are remembered.
 */
const HELD_MS = 40;
const FOUND_MS = 60_000;
const MISSING_MS = 5_000;
const MAX_DESCRIBED = 10_000;

const hexSchema = z
  .string()
  .refine((text) => isHex(text), "must be hex")
  .transform((text) => text as Hex);
const hashSchema = hexSchema.refine((text) => text.length === 66, "must be 32 bytes");
/** An empty signature means the sender of the transaction, which would be the keeper itself. */
const signatureSchema = hexSchema.refine((text) => {
  const length = size(unwrapSignature(text));
  return length > 0 && length <= MAX_SIGNATURE_BYTES;
}, `must be 1 to ${MAX_SIGNATURE_BYTES} bytes`);
const schemas = {
  deposit: z.looseObject({
    valid_after: atomicSchema.default("0"),
    valid_before: atomicSchema,
    signature: signatureSchema,
  }),
  delivered: z.looseObject({ result_hash: hashSchema.default(ZERO_HASH), signature: signatureSchema }),
  release: z.looseObject({ signature: signatureSchema }),
  refund: z.looseObject({ signer: addressSchema, signature: signatureSchema }),
};

/**
 * A keeper by HTTP, with the routes of a `custom_escrow` endpoint (SHP §7.3.1). `POST /release`, `POST /refund`,
 * `POST /deposit` and `POST /delivered` take `{hire, signature}`. A refund also needs `signer`, and a deposit
 * `valid_before`. A deposit may have `valid_after`, and a delivery `result_hash`. The parties sign everything, so
 * nobody has to log in. `GET /escrows/{id}` gives the state of an escrow. `GET /health` answers 503 with the reason if the
 * keeper cannot work, for example because its RPC is of another chain.
 *
 * A release or refund gets the answer 200 when it was carried out in time. Otherwise it gets 202: it is stored, and
 * will be carried out.
 */
export function keeperApp(parameters: KeeperAppParameters): Hono {
  const { calls, keeper, waitMs = 20_000, log = () => {} } = parameters;
  const described = new Map<Hex, { answer: Promise<Description>; until: number }>();
  const app = new Hono();
  app.use(cors());
  app.use(limitBody(65_536));
  app.onError((error) => {
    const response = problemResponse(asRefusal(error, log), log);
    if (error instanceof RelayRefusedError && error.secondsToWait !== undefined) {
      response.headers.set("retry-after", String(error.secondsToWait));
    }
    return response;
  });

  app.post("/deposit", async (c) => {
    const { hire, rest } = await read(c.req.raw, schemas.deposit);
    const { valid_after: validAfter, valid_before: validBefore, signature } = rest;
    const authorization = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), signature };
    return c.json({ escrow_id: calls.idOf(hire), tx_hash: await keeper.deposit(hire, authorization) });
  });
  app.post("/delivered", async (c) => {
    const { hire, rest } = await read(c.req.raw, schemas.delivered);
    const tx = await keeper.markDelivered(hire, rest.result_hash, rest.signature);
    return c.json({ escrow_id: calls.idOf(hire), tx_hash: tx });
  });
  app.post("/release", async (c) => {
    const { hire, rest } = await read(c.req.raw, schemas.release);
    if (!(await isAlready(hire, "released"))) await keeper.release(hire, rest.signature);
    return await outcome(hire);
  });
  app.post("/refund", async (c) => {
    const { hire, rest } = await read(c.req.raw, schemas.refund);
    if (!(await isAlready(hire, "refunded"))) await keeper.refund(hire, rest.signer, rest.signature);
    return await outcome(hire);
  });
  app.get("/escrows/:id", async (c) => {
    const id = c.req.param("id");
    if (!isHex(id, 32))
      throw new HireRefusedError({ status: 404, code: "not_found", message: "No such escrow." });
    return c.json(await describe(id));
  });
  app.get("/health", async (c) => {
    const health = await keeper.health();
    return c.json({ ...health, escrow: calls.deployment.escrow }, health.ok ? 200 : 503);
  });
  return app;

  async function isAlready(hire: Hire, status: string): Promise<boolean> {
    return (await calls.state(hire)).status === status;
  }

  /** A recent answer is given again. A new answer costs several questions to the chain, and anybody may ask. */
  function describe(id: Hex): Promise<Description> {
    const known = described.get(id);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    if (described.size >= MAX_DESCRIBED) described.clear();
    const entry = { answer: describeNow(calls, id), until: Number.POSITIVE_INFINITY };
    described.set(id, entry);
    const keepFor = (ms: number): void => {
      entry.until = performance.now() + ms;
    };
    entry.answer.then(
      ({ status, tx_hash }) =>
        keepFor(status === "held" || status === "none" ? HELD_MS : tx_hash ? FOUND_MS : MISSING_MS),
      () => keepFor(0),
    );
    return entry.answer;
  }

  /** Waits some time for the escrow to be settled. Answers 200 with its state, or 202 while it is held. */
  async function outcome(hire: Hire): Promise<Response> {
    const id = calls.idOf(hire);
    // The pauses grow, since each look is a question to the chain.
    const until = performance.now() + waitMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const state = await describe(id);
      // The instruction was taken, so the escrow is there: a node that says `none` does not know the newest deposits.
      if (state.status !== "held" && state.status !== "none") return Response.json(state);
      if (performance.now() > until) return Response.json({ ...state, queued: true }, { status: 202 });
      await pause(pauseMs);
    }
  }
}

/** An escrow as a client sees it. `tx_hash`: the transaction that settled it, if it is found. */
type Description = {
  escrow_id: Hex;
  status: string;
  delivered: boolean;
  amount: string;
  tx_hash: Hex | null;
};

async function describeNow(calls: EscrowCalls, id: Hex): Promise<Description> {
  // Another chain says `none` also of an escrow that holds money.
  await calls.requireChain();
  const { status, delivered, amount } = await calls.state(id);
  const isOver = status !== "held" && status !== "none";
  // The state is known even if the RPC does not let anybody search for the transaction.
  const tx = isOver ? await calls.findEvent(id, "settlement").catch(() => undefined) : undefined;
  return { escrow_id: id, status, delivered, amount: String(amount), tx_hash: tx ?? null };
}

async function read<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): Promise<{ hire: Hire; rest: z.output<Schema> }> {
  const body: unknown = readForeignJson(await request.text());
  const result = schema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error);
  return { hire: readHireJson(Reflect.get(Object(body), "hire")), rest: result.data };
}

/** What a client is told in place of an RPC's words. */
const WORDS: { readonly [code: string]: string } = {
  chain_unreachable: "The chain cannot be asked at the moment.",
  call_refused: "The contract refuses this, and names no reason.",
};

function asRefusal(error: unknown, log: NonNullable<KeeperAppParameters["log"]>): unknown {
  if (error instanceof RelayRefusedError) {
    const { code, message, hint, field, secondsToWait, cause } = error;
    const details = secondsToWait === undefined ? undefined : { retry_after: secondsToWait };
    const status = code === "gas_limit" ? 429 : 403;
    return new HireRefusedError({ status, code, message, hint, field, details, cause });
  }
  if (!(error instanceof ChainError)) return error;
  // What an RPC, or the service that has the keeper's key, says may hold an address with a key.
  const isNamed = error.code === "call_refused" && error.reason !== undefined;
  const isForeign = error.cause !== undefined && !isNamed;
  const ours = isForeign ? WORDS[error.code] : undefined;
  if (ours !== undefined) log(ours, { error: error.message });
  return new HireRefusedError({
    status: error.code === "call_refused" ? 409 : 503,
    code: error.code,
    message: ours ?? error.message,
    details: error.reason === undefined ? undefined : { reason: error.reason },
    cause: error,
  });
}
