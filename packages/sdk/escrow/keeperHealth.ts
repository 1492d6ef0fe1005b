import { within } from "../deadline.ts";

/** Whether a keeper can work. If it cannot, `reason` says why in our own words, because anybody may read it. */
export type KeeperHealth = { ok: true } | { ok: false; code: string; reason: string };

/** How long one answer is given again, and how long a request waits for an answer, in milliseconds. */
const ASK_MS = 1_000;
const WAIT_MS = 2_000;

const REASONS: { readonly [code: string]: string } = {
  wrong_chain: "The keeper's RPC is of another chain than its escrow.",
  wrong_token: "The escrow holds another token than the keeper's, or names none.",
  other_store: "The keeper's folder belongs to another escrow.",
  chain_unreachable: "The chain cannot be asked at the moment.",
};
const UNKNOWN = "The keeper cannot work. The cause is in its log.";

/**
 * Tells whether a keeper can work. Each question may be a question to its RPC and anybody may ask, so an answer is given again
 * for some time.
 *
 * @param requireAll throws what keeps the keeper from working now
 */
export function createKeeperHealth(parameters: {
  requireAll: () => Promise<void>;
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
  waitMs?: number;
}): () => Promise<KeeperHealth> {
  const { requireAll, now, log, waitMs = WAIT_MS } = parameters;
  let asked: { at: number; answer: Promise<KeeperHealth> } | undefined;

  const ask = async (): Promise<KeeperHealth> => {
    try {
      await requireAll();
      return { ok: true };
    } catch (error) {
      const { code } = Object(error) as { code?: unknown };
      const known = typeof code === "string" && Object.hasOwn(REASONS, code) ? code : "cannot_work";
      const reason = REASONS[known] ?? UNKNOWN;
      log("The keeper cannot work.", { reason, error: String(error) });
      return { ok: false, code: known, reason };
    }
  };
  return async () => {
    // A clock that was set back does not keep an old answer.
    if (asked === undefined || Math.abs(now() - asked.at) >= ASK_MS) asked = { at: now(), answer: ask() };
    const { answer } = asked;
    const code = "chain_unreachable";
    return (await within(answer, waitMs)) ?? { ok: false, code, reason: REASONS[code] ?? UNKNOWN };
  };
}
