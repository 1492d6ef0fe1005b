import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Hono } from "hono";
import { type Action, actionHash, readAction } from "tallystick-protocol/actions/action";
import { type ActionRules, NO_ACTION_RULES, readActionRules } from "tallystick-protocol/actions/actionRules";
import { judgeAction } from "tallystick-protocol/actions/judgeAction";
import { issueSettlementToken, TOKEN_LIFETIME_SECONDS } from "tallystick-protocol/actions/settlementToken";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import { dumpsPythonJson, type PyJson } from "tallystick-protocol/json/pythonJson";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import type { AppDependencies } from "../appDependencies.ts";
import { toPlainJson } from "../engine/institutionalRules.ts";
import { readJson } from "../http/readJson.ts";
import { requireBearer } from "../http/requireBearer.ts";

type PyObject = { [key: string]: PyJson };
type Denied = { proceed: false; reason: string; rule: string | null; head?: string };

/**
 * Permission for risky actions (swarm.at §8).
 *
 * `POST /v1/actions` (Bearer key) takes `{action, context, parent_hash}`: the action in typed arguments (see
 * `packages/protocol/actions/action.ts`), any JSON that says why, and the head that the agent works on. Answers 200
 * with `{proceed, reason, rule, settlement_token, expires_at, action_hash, hash, index}`. For a denied action, or one
 * that is not understood, `proceed` is false and the token is null. Each permission is an entry of the ledger with this
 * `hash`. Without an entry there is no token. The budgets that the institutional rules give to `terminal`,
 * `file_write`, `deletion` and `payment` (field `amount_usdc`) count.
 *
 * RULES_FILE has the rules under `action_rules`. Without them everything is denied.
 */
export function actionRoutes(dependencies: AppDependencies): Hono {
  const { engine, apiKeys, metrics, ruleBook, checkpoints } = dependencies;
  const rules = rulesOf(ruleBook.rules.slices);
  const app = new Hono();

  app.post("/v1/actions", async (c) => {
    await requireBearer(c.req.header("authorization"), apiKeys);
    const { action: asked, context, parentHash } = readRequest(await readJson(c.req.raw));
    const judged = judge(rules, asked);
    if (!judged.proceed) {
      metrics.countOutcome("action", "DENIED");
      return c.json({ ...judged, settlement_token: null });
    }
    const { action, rule, reason } = judged;
    const hash = actionHash(action);
    const outcome = await engine.settle(
      {
        taskId: `action-${hash}`,
        parentHash,
        agentMetadata: {},
        dataUpdate: dataUpdateOf(action, hash, rule),
        confidenceScore: 1,
        contextHash: toBareHex(sha256(utf8ToBytes(dumpsPythonJson(context)))),
      },
      undefined,
      { isPermitted: true },
    );
    metrics.countOutcome("action", outcome.status);
    if (outcome.status !== "SETTLED") {
      const denied: Denied = { proceed: false, reason: reasonOf(outcome), rule };
      if (outcome.status === "REJECTED" && outcome.head !== undefined) denied.head = outcome.head;
      return c.json({ ...denied, action_hash: hash, settlement_token: null });
    }
    const issuedAt = Math.floor(outcome.timestamp);
    const claims = {
      version: 1 as const,
      origin: dependencies.ledgerName.origin,
      action_hash: hash,
      context_hash: toBareHex(sha256(utf8ToBytes(dumpsPythonJson(context)))),
      entry_hash: outcome.hash,
      parent_hash: parentHash,
      rule,
      issued_at: issuedAt,
      expires_at: issuedAt + TOKEN_LIFETIME_SECONDS,
    };
    return c.json({
      proceed: true,
      reason,
      rule,
      settlement_token: issueSettlementToken(claims, (message) => checkpoints.sign(message)),
      expires_at: claims.expires_at,
      action_hash: hash,
      hash: outcome.hash,
      index: outcome.index,
    });
  });

  return app;
}

function rulesOf(slices: PyObject): ActionRules {
  return slices.action_rules === undefined
    ? NO_ACTION_RULES
    : readActionRules(toPlainJson(slices.action_rules));
}

/**
 * An action that no rule allows is denied. So is a request that is not an action: an agent that cannot say what
 * it does may not do it.
 */
function judge(
  rules: ActionRules,
  asked: PyJson,
): Denied | { proceed: true; action: Action; rule: string; reason: string } {
  let action: Action;
  try {
    action = readAction(toPlainJson(asked));
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { proceed: false, reason: `${error.message}.`, rule: null };
  }
  const { proceed, rule, reason } = judgeAction(rules, action);
  return proceed && rule !== null ? { proceed, action, rule, reason } : { proceed: false, reason, rule };
}

function dataUpdateOf(action: Action, hash: string, rule: string): PyObject {
  return {
    action: action.type,
    ...(action.type === "payment" && { amount_usdc: action.amount_usdc }),
    settled_action: { action_hash: hash, rule },
  };
}

function reasonOf(outcome: { status: string; reason?: string }): string {
  return outcome.reason ?? "This service is a sandbox: the action is allowed, but no token is given.";
}

function readRequest(body: PyJson): { action: PyJson; context: PyJson; parentHash: string } {
  const issues: InputIssue[] = [];
  const isObject = body !== null && typeof body === "object" && !Array.isArray(body);
  const { action, context = null, parent_hash: parentHash } = isObject ? body : {};
  if (!isObject) issues.push({ field: "body", message: "must be a JSON object" });
  else {
    if (action === undefined) issues.push({ field: "action", message: "is required" });
    if (!isLedgerHash(parentHash))
      issues.push({ field: "parent_hash", message: "must be 64 lower-case hex digits" });
  }
  if (issues.length > 0) throw new InvalidInputError({ issues });
  return { action: action as PyJson, context, parentHash: parentHash as string };
}
