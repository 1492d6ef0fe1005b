import { InvalidInputError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import * as z from "zod";
import { type ContextSlice, fetchContextSlice } from "./contextSlice.ts";
import { listForm } from "./listForm.ts";
import { readServiceAnswer } from "./readServiceAnswer.ts";
import { readSettledEntry } from "./readSettledEntry.ts";
import { type Fetch, requestService, ServiceError } from "./requestService.ts";

/** An agent's proposal. `shadow` is the same task done by another model, see {@link shadowAudit}. */
export type Draft = {
  dataUpdate: { [key: string]: unknown };
  /** From 0 to 1. */
  confidenceScore: number;
  /** Trace of reasoning. */
  proof?: string;
  /**
   * Facts about the agent that are known only after the work, such as the model that answered. These fields
   * replace those of the same name in the parameters.
   */
  agentMetadata?: { [key: string]: unknown };
  shadow?: { dataUpdate: { [key: string]: unknown } };
};

/** Does a task from its context alone, so that it can be done again when the state has changed. */
export type Work = (context: ContextSlice) => Promise<Draft>;

/** `attempts` counts the proposals. `worked` counts how often the work was done for them. */
type Counts = { attempts: number; worked: number };

/** The outcome. `draft` is absent if an earlier process settled it, or perhaps did. */
export type SettleResult =
  | ({ status: "SETTLED"; hash: string; index: number; timestamp: number; draft?: Draft } & Counts)
  | ({ status: "REJECTED"; reason: string } & Counts)
  | ({ status: "ESCROWED"; reason: string; id: string; divergence: number } & Counts)
  | ({ status: "VALIDATED"; mode: "sandbox" } & Counts);

export type SettleParameters = {
  baseUrl: string;
  apiKey: string;
  /** A UUID by custom; the ledger shows the task's history under it. */
  taskId: string;
  /** Which keys of rules and state the work needs, at most 64. */
  keywords?: readonly string[];
  agentMetadata?: { [key: string]: unknown };
  work: Work;
  /** The only place to change local state. Called once, with the settled hash. */
  onSettled?: (settled: SettleResult & { status: "SETTLED" }) => void | Promise<void>;
  /**
   * Called and awaited before each proposal is sent. It gets what a process must store so that a later
   * process can continue.
   */
  onProposing?: (proposal: { parentHash: string; contextHash: string }) => void | Promise<void>;
  /** Parents on which an earlier process proposed this task, if it ended before the answer came. */
  proposedOn?: readonly string[];
  /** The most proposals, if the head of the ledger keeps moving. Default 10. */
  maxAttempts?: number;
  fetch?: Fetch;
  /**
   * Ends the waits before a proposal. After it has aborted, nothing is proposed. A proposal that was sent is always
   * awaited, because its outcome would be unknown otherwise. The work does not get this signal.
   */
  signal?: AbortSignal;
};

const DRIFT = "State drift detected. Re-base required.";
const DIVERGENCE = "High model divergence.";

/**
 * The loop of swarm.at §10. It reads the head and the context there, does the work, and proposes it on that
 * head. If the ledger has grown meanwhile, it reads again. The work is done again only if its context has
 * changed; a draft made from the same slice is proposed again as it is. Local state changes only in
 * `onSettled`, never without a settled hash. An answer that was lost is looked up in the ledger before
 * anything is done again, so no work settles twice.
 *
 * @returns SETTLED, ESCROWED (held for a person), VALIDATED (a sandbox), or REJECTED with the reason: low
 * confidence, a rule, or drift on every attempt
 * @throws ServiceError when the service refuses the request or stays out of reach; InvalidInputError naming `taskId`
 * @example await settle({ baseUrl, apiKey, taskId: crypto.randomUUID(), keywords: ["budget"],
 *   work: async ({ slice }) => ({ dataUpdate: { budget: Number(slice.budget) - 1 }, confidenceScore: 0.95 }),
 *   onSettled: ({ draft }) => Object.assign(memory, draft?.dataUpdate) });
 */
export async function settle(parameters: SettleParameters): Promise<SettleResult> {
  const { baseUrl, keywords = [], work, onSettled, onProposing, maxAttempts = 10, fetch } = parameters;
  const { signal, proposedOn = [] } = parameters;
  requireNamedInPath(parameters.taskId);
  let known: { contextHash: string; draft: Draft } | undefined;
  let worked = 0;
  /** @param draft the work that was judged; absent if it was perhaps that of an earlier process */
  const conclude = async (answer: Answer, attempts: number, draft?: Draft): Promise<SettleResult> => {
    if (answer.status !== "SETTLED") return { ...answer, attempts, worked };
    const settled = { ...answer, ...(draft && { draft }), attempts, worked };
    await onSettled?.(settled);
    return settled;
  };
  const earlier = await findProposed(parameters, proposedOn);
  if (earlier) return await conclude(earlier, 0);
  for (let attempts = 1; ; attempts++) {
    const asked = { baseUrl, keywords, ...(fetch && { fetch }), ...(signal && { signal }) };
    const context = await fetchContextSlice(asked);
    const { contextHash, parentHash } = context;
    if (attempts === 1 && !proposedOn.includes(parentHash)) {
      // The proposal of an earlier process may have arrived between the first look and the reading of the head. From now
      // on it cannot arrive any more, because its parent is not the head.
      const found = await findProposed(parameters, proposedOn);
      if (found) return await conclude(found, 0);
    }
    if (known?.contextHash !== contextHash) {
      worked++;
      known = { contextHash, draft: await work(context) };
    }
    signal?.throwIfAborted();
    await onProposing?.({ parentHash, contextHash });
    signal?.throwIfAborted();
    const { answer, isFound } = await propose(parameters, context, known.draft);
    const hasDrifted = answer.status === "REJECTED" && answer.reason === DRIFT;
    // If an earlier process proposed on the same head, what was found there may be its work.
    const isOurs = !(isFound && proposedOn.includes(parentHash));
    if (!hasDrifted) return await conclude(answer, attempts, isOurs ? known.draft : undefined);
    // The new head may be this very task: the earlier process sent it, and it arrived only now.
    const late = await findProposed(parameters, proposedOn);
    if (late || attempts >= maxAttempts) return await conclude(late ?? answer, attempts);
  }
}

/** Refuses an id that no path can end in: `/v1/status/..` is `/v1/`, so a lost answer could never be looked up. */
function requireNamedInPath(taskId: string): void {
  if (taskId !== "." && taskId !== "..") return;
  throw new InvalidInputError({ issues: [{ field: "taskId", message: "must not be . or .." }] });
}

type Settled = { status: "SETTLED"; hash: string; index: number; timestamp: number };
type Held = { status: "ESCROWED"; reason: string; id: string; divergence: number };
type Answer =
  | Settled
  | { status: "REJECTED"; reason: string }
  | Held
  | { status: "VALIDATED"; mode: "sandbox" };

/** @returns the answer, and whether it was lost and then found by its parent */
async function propose(
  parameters: SettleParameters,
  { parentHash, contextHash }: ContextSlice,
  { dataUpdate, confidenceScore, proof, shadow, agentMetadata }: Draft,
): Promise<{ answer: Answer; isFound: boolean }> {
  const { baseUrl, apiKey, taskId, fetch } = parameters;
  const body = {
    header: {
      task_id: taskId,
      parent_hash: parentHash,
      agent_metadata: { ...parameters.agentMetadata, ...agentMetadata },
      context_hash: contextHash,
    },
    payload: { data_update: dataUpdate, confidence_score: confidenceScore },
    proof,
    shadow: shadow && { payload: { data_update: shadow.dataUpdate } },
  };
  try {
    const { text } = await requestService({ baseUrl, path: "/v1/settle", apiKey, body, fetch });
    return { answer: readServiceAnswer(answerForm, tryForeignJson(text)), isFound: false };
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.isUncertain) throw error;
    const { signal: _, ...unhurried } = parameters;
    const found = await findAnswer(unhurried, parentHash).catch(() => {
      throw error;
    });
    if (found === "unknown") throw error;
    return { answer: found ?? { status: "REJECTED", reason: DRIFT }, isFound: true };
  }
}

/** An entry of the ledger, and a held proposal. A held proposal is asked for by its id. */
const entryFields = { hash: z.string().refine(isLedgerHash), index: z.int(), timestamp: z.number() };
const heldFields = { id: z.string().max(128), divergence: z.number() };

const answerForm = z.discriminatedUnion("status", [
  z.object({ status: z.literal("SETTLED"), ...entryFields }),
  z.object({ status: z.literal("REJECTED"), reason: z.string() }),
  z.object({ status: z.literal("ESCROWED"), reason: z.string(), ...heldFields }),
  z.object({ status: z.literal("VALIDATED"), mode: z.literal("sandbox") }),
]);

/**
 * Finds the outcome of a proposal whose answer was lost. If another entry has the proposal's parent, the proposal was
 * rejected. If the parent is still the head, the outcome is unknown, unless the proposal is held for review.
 */
async function findAnswer(
  parameters: SettleParameters,
  parentHash: string,
): Promise<Settled | Held | "unknown" | undefined> {
  const { baseUrl, fetch } = parameters;
  // This comes first. So an entry that arrives between the two requests is found by the second.
  const { text } = await requestService({ baseUrl, path: "/v1/ledger/latest", fetch });
  const { hash } = readSettledEntry(text);
  const outcome = await findProposed(parameters, [parentHash]);
  return outcome ?? (hash === parentHash ? "unknown" : undefined);
}

/** The most entries of a task, and the most held proposals of it, that are asked for and looked at. */
const MAX_LISTED = 100;

const statusForm = z.object({
  history: listForm(z.object({ parent_hash: z.string(), ...entryFields }), MAX_LISTED),
  held: z.array(z.object(heldFields)),
});

const reviewForm = z.object({ parent_hash: z.string() });

/**
 * The entry of the ledger, or of the queue of reviews, for a task that was proposed on one of these parents.
 * An entry of the task on such a parent can only be that proposal.
 *
 * @throws ServiceError
 */
export async function findProposed(
  {
    baseUrl,
    apiKey,
    taskId,
    fetch,
    signal,
  }: Pick<SettleParameters, "baseUrl" | "apiKey" | "taskId" | "fetch" | "signal">,
  parents: readonly string[],
): Promise<Settled | Held | undefined> {
  if (parents.length === 0) return undefined;
  const service = { baseUrl, fetch, signal };
  const read = async <Form extends z.ZodType>(form: Form, path: string, key?: string) => {
    const { text } = await requestService({ ...service, path, apiKey: key });
    return readServiceAnswer(form, tryForeignJson(text));
  };
  const path = `/v1/status/${encodeURIComponent(taskId)}?limit=${MAX_LISTED}`;
  const { history, held } = await read(statusForm, path).catch((error): z.output<typeof statusForm> => {
    // Only settlement itself can say that it knows nothing of a task. A 404 of something in between says nothing.
    const isUnknown = error instanceof ServiceError && error.status === 404 && error.code === "unknown_task";
    if (isUnknown) return { history: [], held: [] };
    throw error;
  });
  for (const { parent_hash, ...entry } of history.reverse())
    if (parents.includes(parent_hash)) return { status: "SETTLED", ...entry };
  // Each of them costs a request with the key, so a bad service must not name any number.
  for (const { id, divergence } of held.slice(-MAX_LISTED).reverse()) {
    const { parent_hash } = await read(reviewForm, `/v1/reviews/${encodeURIComponent(id)}`, apiKey);
    if (parents.includes(parent_hash)) return { status: "ESCROWED", reason: DIVERGENCE, id, divergence };
  }
  return undefined;
}
