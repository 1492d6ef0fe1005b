import { Hono } from "hono";
import { InvalidInputError, invalidInputFromZod } from "tallystick-protocol/errors";
import { needsBuyerSignature } from "tallystick-protocol/hire/needsBuyerSignature";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { signatureSchema } from "tallystick-protocol/records/nestedSignature";
import { checkBuyerSignature } from "tallystick-protocol/records/receipt";
import { signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import * as z from "zod";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { Job } from "./job.ts";
import { settledFields } from "./jobRunner.ts";
import { limitBody } from "./limitBody.ts";
import type { ReceiptOutbox } from "./receiptOutbox.ts";
import { HireRefusedError } from "./sellerErrors.ts";

export type JobRoutesParameters = {
  store: KeyValueStore;
  outbox: ReceiptOutbox;
  account: LocalAccount;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** The largest body with one signature, in bytes. */
const MAX_COUNTERSIGNATURE_BYTES = 16_384;

const countersignatureSchema = z.strictObject({ buyer_signature: signatureSchema });

/**
 * `GET /jobs/{id}` (SHP §7.2): `{job_id, hire_id, status}` with `status` working, completed (and the answer) or
 * failed (and the reason). Only the buyer knows the id, because it is computed from the nonce.
 *
 * `POST /jobs/{id}/countersignature` takes the buyer's signature under the receipt of a free hire, or of a payment to
 * another payee. Without this signature the receipt of a free hire does not count (SHP §11), and the receipt of a
 * payment does not count if several agents share the payee. The answer has the receipt's entry hash and the rating
 * token.
 */
export function jobRoutes({ store, outbox, account, now }: JobRoutesParameters): Hono {
  const app = new Hono();
  const limit = limitBody(MAX_COUNTERSIGNATURE_BYTES);

  const findJob = async (id: string): Promise<Job> => {
    const job = /^job_[0-9A-Z]{26}$/.test(id) ? await store.get<Job>(`job/${id}`) : undefined;
    if (job && job.forgottenAt === undefined) return job;
    throw new HireRefusedError({ status: 404, code: "unknown_job", message: "There is no such job here." });
  };

  app.get("/jobs/:id", async (c) => {
    const job = await findJob(c.req.param("id"));
    const header = { "cache-control": "no-store" };
    // A buyer that lost its records asks by a job's id. It believes only an answer with the hire's id.
    const of = { job_id: job.id, ...(!job.free && { hire_id: job.hireId }) };
    if (job.stage === "completed") {
      return c.json({ ...of, status: "completed", ...job.answer }, 200, header);
    }
    if (job.stage === "failed") {
      return c.json({ ...of, status: "failed", error: job.failure }, 200, header);
    }
    const left = Math.max(0, job.dueAt - now());
    return c.json({ ...of, status: "working", estimated_completion_ms: left }, 200, {
      ...header,
      "retry-after": "1",
    });
  });

  app.post("/jobs/:id/countersignature", limit, async (c) => {
    const read = countersignatureSchema.safeParse(readForeignJson(await c.req.text()));
    if (!read.success) throw invalidInputFromZod(read.error);
    const job = await findJob(c.req.param("id"));
    const { answer } = job;
    if (!answer?.signed_receipt || !needsBuyerSignature(answer.signed_receipt.body as RecordBody)) {
      throw new HireRefusedError({
        status: 409,
        code: "no_countersignature_wanted",
        message:
          "Only the receipt of a completed free hire, or of a payment to another payee, takes the buyer's signature.",
      });
    }
    if (answer.receipt_hash) return c.json(settled(answer.receipt_hash, answer.rating_token));
    const { buyer_signature: _, ...unsigned } = answer.signed_receipt.body as RecordBody;
    const body = { ...unsigned, buyer_signature: read.data.buyer_signature } as RecordBody;
    if (!checkBuyerSignature(body)) {
      throw new InvalidInputError({
        code: "invalid_signature",
        issues: [
          { field: "buyer_signature", message: "is not a signature of the buyer over the receipt's body" },
        ],
      });
    }
    const record = await signRecord({ type: "receipt", body, account });
    await outbox.add(job.id, record);
    const entry = await outbox.submit(job.id);
    if (!entry) return c.json({ receipt_hash: null, rating_token: null }, 202);
    const fields = settledFields(entry);
    return c.json(settled(fields.receipt_hash, fields.rating_token));
  });

  return app;
}

function settled(hash: string, token: string | null) {
  return { receipt_hash: hash, rating_token: token };
}
