import * as z from "zod";
import { addressSchema } from "../address.ts";
import { base32 } from "../base32.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "../records/boundForm.ts";
import { breachIdSchema } from "../records/breachId.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";

/** The `type` in the signed body of a notice. No ledger accepts it. */
export const NOTICE_TYPE = "notice";

/** What can happen to a breach. */
export const breachSteps = [
  "detected",
  "disputed",
  "upheld",
  "overturned",
  "confirmed",
  "closed",
  "reinstated",
  "paid",
] as const;

/** What a node and a notice say of one step of a breach, in the same form. */
export const breachStepFields = {
  agent: addressSchema,
  breach: breachIdSchema,
  step: z.enum(breachSteps),
  /** Hash of the entry that caused the step: a dispute, a ruling or a payment; null when only time passed. */
  record: z.string().nullable(),
  time: z.int(),
  metric: z.string(),
  window_days: z.int(),
  /** Shares, or milliseconds, as decimal strings. */
  target: z.string(),
  breach_threshold: z.string(),
  value: z.string(),
  penalty: z.looseObject({ type: z.string() }),
  /** The time in which the agent takes no new hires, in unix seconds; null when there is no suspension. */
  suspension: z.object({ from: z.int(), until: z.int() }).nullable(),
};

const read = boundForm({
  id: z.string().regex(/^ntc_[0-9A-HJKMNP-TV-Z]{26}$/, "must be a notice's id"),
  subscription: z.string(),
  buyer: addressSchema,
  ...breachStepFields,
});

/** The content of a notice: one step of one breach. */
export type Notice = ReturnType<typeof read>;

/**
 * Reads the body of a notice.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseNotice(body: RecordBody): Notice {
  return read(body);
}

/**
 * The id of a notice. A notice about the same step to the same subscription has the same id on every node. The id needs
 * no time. A breach can have several payments and rulings, but each has its own `record`. Every other step happens only
 * once to a breach.
 */
export function noticeId(
  { subscription, breach, step, record }: Pick<Notice, "subscription" | "breach" | "step" | "record">,
  sha256: Sha256 = sha256ByNoble,
): string {
  return `ntc_${base32(sha256(`${subscription}/${breach}/${step}/${record ?? ""}`)).slice(0, 26)}`;
}
