import { actionName, DEFAULT_ACTION } from "tallystick-protocol/actions/actionName";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { type Fetch, requestService } from "tallystick-sdk/requestService";
import { z } from "zod";

/** Where proposals are settled, and the key for it. */
export type Settlement = { baseUrl: string; apiKey: string; fetch?: Fetch };

/** The part of settlement's rules that a dispatcher needs. */
export type SettlementRules = {
  /** The operator's own text for every agent. */
  coreLogic: unknown;
  /** Whether tasks with this action need a shadow. */
  asksShadow: (action: string | undefined) => boolean;
};

const rulesForm = z.looseObject({
  core_logic: z.unknown().optional(),
  /** The rules of actions. Here it only matters whether a rule asks for a shadow. */
  actions: z.record(z.string(), z.unknown()).nullish(),
});

/** @throws ServiceError (its code is `unreadable_answer` if the answer has another form); the signal's reason */
export async function readSettlementRules(
  { baseUrl, apiKey, fetch }: Settlement,
  signal: AbortSignal,
): Promise<SettlementRules> {
  const { text } = await requestService({ baseUrl, path: "/v1/rules", apiKey, fetch, signal });
  const { core_logic: coreLogic, actions } = readServiceAnswer(rulesForm, tryForeignJson(text));
  const shadowed = new Map<string, boolean>();
  for (const [action, rule] of Object.entries(actions ?? {}))
    shadowed.set(actionName(action), (rule as { shadow?: unknown } | null)?.shadow === true);
  return {
    coreLogic,
    asksShadow: (action) =>
      action !== undefined && (shadowed.get(actionName(action)) ?? shadowed.get(DEFAULT_ACTION) ?? false),
  };
}
