import type { AuditActuationsAnswer, GraphqlClient } from "tallystick-sdk/query/createGraphqlClient";

/** An operator's decision on a hire. */
export type Decision = AuditActuationsAnswer["auditActuations"]["nodes"][number];

/** How many decisions one request asks for. */
const PAGE = 100;

/** Anybody may settle decisions, so those of one operator may stand behind any number of others. */
const MAX_PAGES = 100;

/**
 * The latest decisions, of one operator if `operator` names one.
 *
 * @returns `isUnfinished`: older decisions were not looked at, after {@link MAX_PAGES} pages
 */
export async function decisionsOf(
  { auditActuations }: Pick<GraphqlClient, "auditActuations">,
  { operator, first }: { operator: string | undefined; first: number },
): Promise<{ decisions: Decision[]; isUnfinished: boolean }> {
  if (operator === undefined)
    return { decisions: (await auditActuations({ first })).auditActuations.nodes, isUnfinished: false };
  const wanted = operator.toLowerCase();
  const decisions: Decision[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const answer: AuditActuationsAnswer = await auditActuations({ first: PAGE, after });
    const { nodes, pageInfo } = answer.auditActuations;
    decisions.push(...nodes.filter((it) => it.operator === wanted));
    after = pageInfo.endCursor;
    if (decisions.length >= first || !pageInfo.hasNextPage || after === null)
      return { decisions: decisions.slice(0, first), isUnfinished: false };
  }
  return { decisions, isUnfinished: true };
}
