import * as z from "zod";
import { addressSchema } from "../address.ts";
import { base32 } from "../base32.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "../records/boundForm.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";

/** The `type` in the body that a buyer signs. No ledger accepts it: a subscription stays between buyer and node. */
export const SUBSCRIPTION_TYPE = "notice_subscription";

/** The most agents of one subscription. */
export const MAX_NOTICE_AGENTS = 64;

const noticeSubscriptionFields = {
  buyer: addressSchema,
  url: z.url({ protocol: /^https?$/, error: "must be an absolute address" }).max(1_024),
  agents: z
    .array(addressSchema)
    .max(MAX_NOTICE_AGENTS, `must have at most ${MAX_NOTICE_AGENTS} agents`)
    .refine((all) => new Set(all).size === all.length, "must not name an agent twice"),
  issued_at: z.int().min(0, "must be unix seconds"),
};

const read = boundForm(noticeSubscriptionFields);

/**
 * A buyer asks a node to send notices about the SLAs of these agents to an address (STEWARD). The newest subscription
 * of a buyer for an address replaces the earlier one. A subscription without agents ends the notices to the address.
 */
export type NoticeSubscription = ReturnType<typeof read>;

/**
 * Reads the body of a subscription.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseNoticeSubscription(body: RecordBody): NoticeSubscription {
  return read(body);
}

/** The id of a subscription: the same for every message of a buyer about one address. */
export function noticeSubscriptionId(
  { buyer, url }: Pick<NoticeSubscription, "buyer" | "url">,
  sha256: Sha256 = sha256ByNoble,
): string {
  return `nsub_${base32(sha256(`${buyer}/${url}`)).slice(0, 26)}`;
}
