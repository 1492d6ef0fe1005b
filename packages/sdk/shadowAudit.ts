import type { Draft, Work } from "./settle.ts";

export type ShadowAuditParameters = {
  /** Does the same task with another, cheaper model. Its result is only compared, never settled. */
  shadow: Work;
  /** Whether this draft gets a shadow. Default: every draft does. */
  when?: (draft: Draft) => boolean | Promise<boolean>;
};

/**
 * Wraps work so that its drafts come with a shadow (swarm.at §6.3, §9.1). The service compares draft and shadow. If
 * they diverge too far, it holds the proposal for a person. Both see the same context. If the shadow fails, the work
 * fails, so that no wanted comparison is skipped. The shadow's own metadata are in the draft's metadata, as `shadow`.
 *
 * @example settle({ …, work: shadowAudit(research, { shadow: researchByHaiku, when: (draft) => draft.confidenceScore < 0.95 }) })
 */
export function shadowAudit(work: Work, { shadow, when = () => true }: ShadowAuditParameters): Work {
  return async (context) => {
    const draft = await work(context);
    if (!(await when(draft))) return draft;
    const { dataUpdate, agentMetadata } = await shadow(context);
    const told = agentMetadata && { agentMetadata: { ...draft.agentMetadata, shadow: agentMetadata } };
    return { ...draft, ...told, shadow: { dataUpdate } };
  };
}
