import { type Answer, askGraphql } from "../node/askGraphql.ts";
import { META, type Meta } from "../node/nodeState.ts";

export type OperatorFigures = {
  address: string;
  drawn: number;
  passed: number;
  failed: number;
  inconclusive: number;
  undisclosed: number;
  equivocal: number;
  unanswered: number;
  unassigned: number;
  issued: number;
  rolledBack: number;
  dismissed: number;
  contested: number;
  historyAgreed: number;
  historyDiffered: number;
  canariesCommitted: number;
  canariesRevealed: number;
  accruedUsdc: string;
  paidUsdc: string;
  owedUsdc: string;
};

export type AuditOfHire = {
  id: string;
  auditedHire: string;
  status: string;
  cause: string;
  capability: string;
  reason: string | null;
  operator: string;
  sellerAddress: string;
  amountUsdc: string;
  eligibleTime: number;
  hire: { id: string } | null;
};

export type Assignment = {
  id: string;
  auditedHire: string;
  auditorAddress: string;
  auditorType: string;
  operator: string;
  assignedAt: number;
  due: number | null;
  verdict: string | null;
  reasonCodes: string[];
  feeUsdc: string;
};

export type Decision = {
  hash: string;
  auditedHire: string;
  operator: string;
  decision: string;
  time: number;
  reasons: { code: string; detail: string }[];
  entry: { ledger: string; seq: number };
};

export type MeasuredShare = { count: number; of: number; interval: [number, number] };

export type AuditorOffer = {
  id: string;
  address: string;
  operator: string;
  active: boolean;
  capabilities: string[];
  assigned: number;
  answered: number;
  unansweredInARow: number;
  judged: number;
  wrongFails: number;
  wrongPasses: number;
  accruedUsdc: string;
  owedUsdc: string;
  removedFor: string | null;
  errors: { nodes: { capability: string; badFailed: MeasuredShare; goodPassed: MeasuredShare }[] };
};

/** The answer to {@link AUDITS}, and the figures of the operators that it names. */
export type Audits = {
  meta: Meta;
  params: { audit: { ratePpm: number; operators: { address: string; pool: string }[] } } | null;
  audits: { totalCount: number; nodes: AuditOfHire[] };
  auditAssignments: { totalCount: number; nodes: Assignment[] };
  auditActuations: { totalCount: number; nodes: Decision[] };
  auditors: { nodes: AuditorOffer[] };
  auditModes: { nodes: { capability: string; operator: string; mode: string; recentVerdicts: number }[] };
  figures: OperatorFigures[];
};

export const AUDITS = `query Audits {
  ${META}
  params { audit { ratePpm operators { address pool } } }
  audits(first: 25) {
    totalCount
    nodes {
      id auditedHire status cause capability reason operator sellerAddress amountUsdc eligibleTime hire { id }
    }
  }
  auditAssignments(first: 25) {
    totalCount
    nodes {
      id auditedHire auditorAddress auditorType operator assignedAt due verdict reasonCodes feeUsdc
    }
  }
  auditActuations(first: 15) {
    totalCount
    nodes { hash auditedHire operator decision time reasons { code detail } entry { ledger seq } }
  }
  auditors(first: 25) {
    nodes {
      id address operator active capabilities assigned answered unansweredInARow judged wrongFails wrongPasses
      accruedUsdc owedUsdc removedFor
      errors(first: 8) {
        nodes { capability badFailed { count of interval } goodPassed { count of interval } }
      }
    }
  }
  auditModes(first: 25) { nodes { capability operator mode recentVerdicts } }
}`;

export const OPERATOR = `query AuditOperator($address: Address!) {
  auditOperator(address: $address) {
    address drawn passed failed inconclusive undisclosed equivocal unanswered unassigned issued rolledBack dismissed
    contested historyAgreed historyDiffered canariesCommitted canariesRevealed accruedUsdc paidUsdc owedUsdc
  }
}`;

/** Most operators whose figures are asked for. */
const MAX_OPERATORS = 8;

/** Asks the node for the audits, and for the figures of each of their operators. */
export async function askAudits(signal: AbortSignal): Promise<Answer<Audits>> {
  const answer = await askGraphql<Omit<Audits, "figures">>({ query: AUDITS, variables: {} }, signal);
  const { params, audits } = answer.data;
  // An operator that is no longer in the parameters still has its figures.
  const named = [
    ...(params?.audit.operators.map(({ address }) => address) ?? []),
    ...audits.nodes.map(({ operator }) => operator),
  ];
  const figures = await Promise.all(
    [...new Set(named)].slice(0, MAX_OPERATORS).map(async (address) => {
      const question = { query: OPERATOR, variables: { address } };
      const { data } = await askGraphql<{ auditOperator: OperatorFigures | null }>(question, signal);
      return data.auditOperator;
    }),
  );
  return { ...answer, data: { ...answer.data, figures: figures.filter((it) => it !== null) } };
}
