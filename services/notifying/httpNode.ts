import { addressSchema } from "tallystick-protocol/address";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { breachStepFields } from "tallystick-protocol/notices/notice";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import { listForm } from "tallystick-sdk/listForm";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { type Fetch, requestService, ServiceError } from "tallystick-sdk/requestService";
import type { LocalAccount } from "viem";
import { z } from "zod";
import type { BreachStep, NotifierNode, Subscription } from "./notifierNode.ts";

/** The most steps in one answer. */
const PAGE = 100;

/**
 * A round stops reading after so many steps, or so many answers. The next round reads the rest. If a round stopped in
 * its first block, the next round would begin with this block again, and no round would ever get further. So a round
 * reads the first block to its end, even beyond `MAX_STEPS`. If the first block has more than `MAX_PAGES` pages, the
 * round fails.
 */
const MAX_STEPS = 5_000;
const MAX_PAGES = 1_000;

/** When a round has this many subscriptions, it reads no further page. A node keeps fewer. */
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
  ledger: (signal?: AbortSignal) => Promise<LedgerName>;
  /** Unix seconds. */
  now: () => number;
  fetch?: Fetch;
}): NotifierNode {
  const { baseUrl, account, ledger, now, fetch } = parameters;
  return {
    stepsFrom: async (block, signal) => {
      const steps: BreachStep[] = [];
      let [finalBlock, pages] = [block - 1, 0];
      let time: number | null = null;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query = new URLSearchParams({ from_block: String(block), limit: String(PAGE) });
        if (cursor !== "") query.set("cursor", cursor);
        const path = `/v1/breach-steps?${query}`;
        const { text, headers } = await requestService({ baseUrl, path, signal, fetch });
        const page: StepsPage = read(stepsPageForm, text, "/v1/breach-steps");
        pages++;
        time = tickTime(headers) ?? time;
        steps.push(...page.steps.map(({ block: _, ...step }) => step));
        finalBlock = page.final_block;
        cursor = page.next_cursor;
        const last = page.steps.at(-1);
        // A bad node must not keep a round running forever. So an empty page is the end, even if it names a next page.
        // The number of pages has a limit, too.
        if (last === undefined) break;
        if (last.block <= block) {
          if (pages === MAX_PAGES && cursor !== null) throw endlessBlock(block);
          continue;
        }
        if (steps.length < MAX_STEPS && pages < MAX_PAGES) continue;
        if (cursor === null) break;
        // The list is cut here, perhaps in the middle of the last block. So the next round reads this block again.
        return { steps, finalBlock: last.block - 1, time };
      }
      return { steps, finalBlock, time };
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
          ...{ type: "notice_list", ledger: await ledger(signal) },
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
        const page: SubscriptionsPage = read(subscriptionsPageForm, text, "/v1/notices/list");
        found.push(...page.subscriptions);
        // An empty page is the end, even if it names a next page.
        after = page.subscriptions.length === 0 ? null : page.next;
      }
      return found;
    },
  };
}

/** A page of steps. Each step has the number of its block. */
const stepsPageForm = z.object({
  steps: listForm(z.object({ ...breachStepFields, block: z.int() }), PAGE),
  next_cursor: z.string().nullable(),
  final_block: z.int(),
});

type StepsPage = z.output<typeof stepsPageForm>;

const subscriptionsPageForm = z.object({
  subscriptions: z.array(
    z.object({
      id: z.string(),
      buyer: addressSchema,
      url: z.url({ protocol: /^https?$/ }),
      agents: z.array(addressSchema),
      since: z.int(),
      isConfirmed: z.boolean().optional(),
    }),
  ),
  next: z.string().nullable(),
});

type SubscriptionsPage = z.output<typeof subscriptionsPageForm>;

function read<Form extends z.ZodType>(form: Form, text: string, path: string): z.output<Form> {
  return readServiceAnswer(form, tryForeignJson(text), {
    what: `The node's answer to ${path}`,
    hint: "Check NOTIFIER_NODE_URL. Something between this process and the node may have answered.",
  });
}

/** The time of the tick that an answer of the node names, in unix seconds; null if it names none. */
function tickTime(headers: Headers): number | null {
  const [, time] = /(?:^|,\s*)time=(\d{1,12})(?:,|$)/.exec(headers.get("tallystick-as-of") ?? "") ?? [];
  return time === undefined ? null : Number(time);
}

function endlessBlock(block: number): ServiceError {
  return new ServiceError({
    code: "endless_block",
    message: `The node gave ${MAX_PAGES} pages of steps of breaches for block ${block}, and more follow.`,
    hint: "Check NOTIFIER_NODE_URL. No good node has so many steps in one block.",
    status: 0,
  });
}
