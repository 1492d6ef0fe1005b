import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import { type Fetch, requestService } from "tallystick-sdk/requestService";
import type { LocalAccount } from "viem";
import type { BreachStep, NotifierNode, Subscription } from "./notifierNode.ts";

/** The number of steps in one answer, and in one round. The rest waits for the next round. */
const PAGE = 100;
const MAX_STEPS = 5_000;

/** The most subscriptions that are read: a node keeps no more. */
const MAX_SUBSCRIPTIONS = 20_000;

/** The most subscriptions that are confirmed in one request. The rest waits for the next round. */
const MAX_CONFIRMED = 200;

/**
 * Asks a node by its public API. Asks the node's settlement for the subscriptions, which only the sender of notices
 * may read.
 */
export function createHttpNode(parameters: {
  baseUrl: string;
  /** The sender's account. */
  account: LocalAccount;
  ledger: () => Promise<LedgerName>;
  /** Unix seconds. */
  now: () => number;
  fetch?: Fetch;
}): NotifierNode {
  const { baseUrl, account, ledger, now, fetch } = parameters;
  return {
    stepsFrom: async (block, signal) => {
      const steps: BreachStep[] = [];
      let finalBlock = block - 1;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query = new URLSearchParams({ from_block: String(block), limit: String(PAGE) });
        if (cursor !== "") query.set("cursor", cursor);
        const { text } = await requestService({ baseUrl, path: `/v1/breach-steps?${query}`, signal, fetch });
        const page = tryForeignJson(text) as StepsPage;
        steps.push(...page.steps.map(stepOf));
        finalBlock = page.final_block;
        cursor = page.next_cursor;
        const last = page.steps.at(-1);
        // An empty page is the end, even if it names a next page. Otherwise a bad node could keep a round
        // running forever.
        if (last === undefined) break;
        if (last.block === block || steps.length < MAX_STEPS) continue;
        if (cursor === null) break;
        // The list is cut here, perhaps in the middle of the last block. So the next round reads this block again.
        return { steps, finalBlock: last.block - 1 };
      }
      return { steps, finalBlock };
    },
    subscriptions: async (signal, confirmed = []) => {
      const found: Subscription[] = [];
      for (let after: string | null = ""; after !== null && found.length < MAX_SUBSCRIPTIONS; ) {
        const told = after === "" ? confirmed.slice(0, MAX_CONFIRMED) : [];
        const body = {
          after,
          ...(told.length > 0 && { confirmed: told.map(({ id, since }) => ({ id, since })) }),
          issued_at: Math.floor(now()),
        };
        const { signature, ...record } = await signRecord({
          ...{ type: "notice_list", ledger: await ledger() },
          ...{ body, account },
        });
        const request = { body: record.body, signature, signer: record.signer };
        const { text } = await requestService({
          baseUrl,
          path: "/v1/notices/list",
          body: request,
          signal,
          fetch,
        });
        const page = tryForeignJson(text) as { subscriptions: Subscription[]; next: string | null };
        found.push(...page.subscriptions);
        // An empty page is the end, even if it names a next page.
        after = page.subscriptions.length === 0 ? null : page.next;
      }
      return found;
    },
  };
}

type StepJson = BreachStep & { block: number };
type StepsPage = { steps: StepJson[]; next_cursor: string | null; final_block: number };

/** The keys of a step that a notice has, and no others. */
function stepOf(it: StepJson): BreachStep {
  const { agent, breach, step, record, time, metric, window_days, target, breach_threshold, value } = it;
  const { penalty, suspension } = it;
  return {
    ...{ agent, breach, step, record, time, metric, window_days, target },
    ...{ breach_threshold, value, penalty, suspension },
  };
}
