import { type Address, addressSchema } from "tallystick-protocol/address";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { SUBSCRIPTION_TYPE } from "tallystick-protocol/notices/noticeSubscription";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import * as z from "zod";
import { readServiceAnswer } from "../readServiceAnswer.ts";
import { type Fetch, requestService } from "../requestService.ts";

export type SubscribeToNoticesParameters = {
  /** The buyer. */
  account: LocalAccount;
  /** The URL of the node. */
  baseUrl: string;
  /** The ledger's name from `GET /v1/ledger/latest`. */
  ledger: LedgerName;
  /** Where notices go: https, public. */
  url: string;
  /** The agents whose SLAs the notices are about, at most 64. An empty list ends the subscription. */
  agents: readonly Address[];
  /** Unix seconds. Default: now. */
  issuedAt?: number;
  fetch?: Fetch;
};

const answerForm = z.object({ id: z.string(), sender: addressSchema });

/**
 * Subscribes an address to notices about the SLAs of these agents, or ends the subscription. It lasts 90 days
 * and is not published. The address is asked once whether it wants notices: it must answer with the `challenge`
 * of that request.
 *
 * @returns who signs the notices (for `readNotice`), and the subscription's id
 * @throws ServiceError; its code is `unreadable_answer` if the answer does not name the sender
 */
export async function subscribeToNotices(
  parameters: SubscribeToNoticesParameters,
): Promise<{ id: string; sender: Address }> {
  const { account, baseUrl, ledger, url, agents, fetch } = parameters;
  const { issuedAt: issued_at = Math.floor(Date.now() / 1_000) } = parameters;
  const buyer = account.address.toLowerCase();
  const body = { buyer, url, agents: [...agents], issued_at };
  const { type: _, ...record } = await signRecord({ type: SUBSCRIPTION_TYPE, ledger, body, account });
  const { text } = await requestService({ baseUrl, path: "/v1/notices", body: record, fetch });
  return readServiceAnswer(answerForm, tryForeignJson(text));
}
