import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Snapshot } from "tallystick-derive/snapshot";
import type { Row } from "tallystick-derive/tables";
import type { ExpectedState } from "./oracle.ts";

/** The derived state, in the oracle's form. */
export function derivedState({ agents, clusters }: Snapshot, store: MemoryStore): ExpectedState {
  const rows = store.rows("agent");
  return {
    agents: Object.fromEntries(
      Object.entries(agents).map(([address, fields]) => {
        const { cluster_id: id } = fields;
        const cluster = id === null ? null : [...(clusters[id]?.members ?? [])].sort();
        const { ownershipCluster = null, fingerprintCluster = null } = rows.get(address) ?? {};
        return [address, { ...fields, cluster, first_clusters: [ownershipCluster, fingerprintCluster] }];
      }),
    ),
    clusters,
    audits: Object.fromEntries([...store.rows("audit").values()].map((it) => [it.id, auditOf(store, it)])),
    auditors: Object.fromEntries(
      [...store.rows("auditor").values()].map((it) => {
        const { id, isActive, unanswered, removedFor, barredUntil } = it;
        const { judged, wrongFails, wrongPasses, accrued, paid } = it;
        return [
          id,
          {
            ...{ isActive, unanswered, removedFor, barredUntil },
            ...{ judged, wrongFails, wrongPasses, accrued, paid },
          },
        ];
      }),
    ),
    money: Object.fromEntries(
      [...store.rows("auditPeriod").values()].map(({ id, accrued, paid, owed }) => [
        id,
        { accrued, paid, owed },
      ]),
    ),
    canaries: Object.fromEntries(
      [...store.rows("canary").values()].map(({ id, status, truth, hire }) => [id, { status, truth, hire }]),
    ),
    lists: Object.fromEntries(
      [...store.rows("canaryList").values()].map(({ id, revealedTime, hires, voids }) => [
        id,
        { isRevealed: revealedTime !== null, hires, voids },
      ]),
    ),
    errors: Object.fromEntries(
      [...store.rows("auditorError").values()].map(({ id, good, goodPassed, bad, badFailed }) => [
        id,
        { good, goodPassed, bad, badFailed },
      ]),
    ),
    modes: [...store.rows("auditModeChange").values()].map((it) => {
      const { operator, capability, to, justification, block } = it;
      return { operator, capability, to: to as "mature", justification, block };
    }),
    operators: Object.fromEntries(
      [...store.rows("auditOperator").values()].flatMap(({ id, ...row }) => {
        const figures = figuresOf(row);
        return Object.values(figures).some((it) => it > 0) ? [[id, figures] as const] : [];
      }),
    ),
  };
}

function auditOf(store: MemoryStore, it: Row<"audit">): ExpectedState["audits"][string] {
  const all = [...store.rows("auditAssignment").values()].filter(({ audit }) => audit === it.id);
  return {
    ...{ operator: it.operator, capability: it.capability, seller: it.seller, buyer: it.buyer },
    ...{ receipt: it.receipt, isDisclosed: it.isDisclosed, ppm: it.ppm, cause: it.cause },
    ...{ status: it.status, reason: it.reason, round: it.round, attempt: it.attempt },
    ...{ verdicts: it.verdicts, eligibleBlock: it.eligibleBlock, drawnBlock: it.drawnBlock },
    ...{
      decision: it.decision,
      mode: it.mode,
      history: it.history,
      canary: it.canary,
      unassignedSince: it.unassignedSince,
    },
    closedTime: it.closedTime,
    asked: all.map(({ round, attempt, auditor, time, passedOver, verdict, models, fee }) => {
      return { round, attempt, auditor, time, passedOver, verdict, models, fee };
    }),
  };
}

function figuresOf(row: Omit<Row<"auditOperator">, "id">): ExpectedState["operators"][string] {
  const { drawn, contested, passed, failed, inconclusive, undisclosed, equivocal, unassigned, unanswered } =
    row;
  const { abandonedUnassigned, abandonedAssigned, abandonedRechecking, issued } = row;
  const { rolledBack, dismissed, historyAgreed, historyDiffered } = row;
  return {
    ...{ drawn, contested, passed, failed, inconclusive, undisclosed, equivocal, unassigned, unanswered },
    ...{ abandonedUnassigned, abandonedAssigned, abandonedRechecking, issued },
    ...{ rolledBack, dismissed, historyAgreed, historyDiffered },
  };
}
