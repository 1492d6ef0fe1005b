import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { type ContextSlice, fetchContextSlice } from "./contextSlice.ts";
import { type Fetch, requestService, ServiceError } from "./requestService.ts";

/** What an agent proposes. `shadow` is the same task done by another model, see {@link shadowAudit}. */
export type Draft = {
  dataUpdate: { [key: string]: unknown };
  /** From 0 to 1. */
  confidenceScore: number;
  /** Trace of reasoning. */
  proof?: string;
  shadow?: { dataUpdate: { [key: string]: unknown } };
};

/** Does a task from nothing but its context, so that it can be done again when the world has moved on. */
export type Work = (context: ContextSlice) => Promise<Draft>;

/** What became of it. `attempts` counts how often the work was done. */
export type SettleResult =
  | { status: "SETTLED"; hash: string; index: number; timestamp: number; draft: Draft; attempts: number }
  | { status: "REJECTED"; reason: string; attempts: number }
  | { status: "ESCROWED"; reason: string; id: string; divergence: number; attempts: number }
  | { status: "VALIDATED"; mode: "sandbox"; attempts: number };

export type SettleParameters = {
  baseUrl: string;
  apiKey: string;
  /** A UUID by custom; the ledger shows the task's history under it. */
  taskId: string;
  /** Which keys of rules and state the work needs. */
  keywords?: readonly string[];
  agentMetadata?: { [key: string]: unknown };
  work: Work;
  /** The only place to change local state: told once, with the hash that is settled. */
  onSettled?: (settled: SettleResult & { status: "SETTLED" }) => void | Promise<void>;
  /** How often to do the work before giving up on a head that keeps moving. Default 10. */
  maxAttempts?: number;
  fetch?: Fetch;
};

const DRIFT = "State drift detected. Re-base required.";

/**
 * The loop of swarm.at §10: reads the head and the context there, does the work, proposes it on that head; when the
 * state has moved on meanwhile it reads again and does the work again. Local state changes in `onSettled` only, never
 * without a settled hash. An answer that was lost is looked up in the ledger before anything is done again, so no work
 * settles twice.
 *
 * @returns SETTLED, ESCROWED (held for a person), VALIDATED (a sandbox), or REJECTED with the reason: low confidence, a
 * rule, or drift on every attempt
 * @throws ServiceError when the service refuses the request or stays out of reach
 * @example
 * await settle({ baseUrl, apiKey, taskId: crypto.randomUUID(), keywords: ["budget"],
 *   work: async ({ slice }) => ({ dataUpdate: { budget: Number(slice.budget) - 1 }, confidenceScore: 0.95 }),
 *   onSettled: ({ draft }) => Object.assign(memory, draft.dataUpdate) });
 */
export async function settle(parameters: SettleParameters): Promise<SettleResult> {
  const { baseUrl, keywords = [], work, onSettled, maxAttempts = 10, fetch } = parameters;
  for (let attempts = 1; ; attempts++) {
    const context = await fetchContextSlice({ baseUrl, keywords, ...(fetch && { fetch }) });
    const draft = await work(context);
    const answer = await propose(parameters, context, draft);
    if (answer.status === "SETTLED") {
      const settled = { ...answer, draft, attempts };
      await onSettled?.(settled);
      return settled;
    }
    const hasDrifted = answer.status === "REJECTED" && answer.reason === DRIFT;
    if (!hasDrifted || attempts >= maxAttempts) return { ...answer, attempts };
  }
}

type Settled = { status: "SETTLED"; hash: string; index: number; timestamp: number };
type Answer =
  | Settled
  | { status: "REJECTED"; reason: string }
  | { status: "ESCROWED"; reason: string; id: string; divergence: number }
  | { status: "VALIDATED"; mode: "sandbox" };

async function propose(
  { baseUrl, apiKey, taskId, agentMetadata = {}, fetch }: SettleParameters,
  { parentHash, contextHash }: ContextSlice,
  { dataUpdate, confidenceScore, proof, shadow }: Draft,
): Promise<Answer> {
  const body = {
    header: {
      task_id: taskId,
      parent_hash: parentHash,
      agent_metadata: agentMetadata,
      context_hash: contextHash,
    },
    payload: { data_update: dataUpdate, confidence_score: confidenceScore },
    proof,
    shadow: shadow && { payload: { data_update: shadow.dataUpdate } },
  };
  try {
    const { text } = await requestService({ baseUrl, path: "/v1/settle", apiKey, body, fetch });
    return readForeignJson(text) as Answer;
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.isUncertain) throw error;
    const settled = await findSettled({ baseUrl, fetch }, taskId, parentHash).catch(() => {
      throw error;
    });
    if (settled === "unknown") throw error;
    return settled ?? { status: "REJECTED", reason: DRIFT };
  }
}

/**
 * What became of a proposal whose answer was lost. An entry of the task on the same parent can only be this one; when
 * another entry has that parent it was rejected; when the parent is still the head nobody can know yet.
 */
async function findSettled(
  service: { baseUrl: string; fetch: Fetch | undefined },
  taskId: string,
  parentHash: string,
): Promise<Settled | "unknown" | undefined> {
  const read = async (path: string) => (await requestService({ ...service, path })).text;
  const { hash } = readForeignJson(await read("/v1/ledger/latest")) as { hash: string };
  if (hash === parentHash) return "unknown";
  const status = await read(`/v1/status/${encodeURIComponent(taskId)}`).catch((error) => {
    if (error instanceof ServiceError && error.status === 404) return '{"history": []}';
    throw error;
  });
  const { history } = readForeignJson(status) as {
    history: (Omit<Settled, "status"> & { parent_hash: string })[];
  };
  for (const { parent_hash, ...entry } of history.reverse())
    if (parent_hash === parentHash) return { status: "SETTLED", ...entry };
  return undefined;
}
