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

/** The answer to {@link AUDITS}. */
export type Audits = {
  meta: Meta;
  params: { audit: { ratePpm: number; operators: { address: string; pool: string }[] } } | null;
  audits: { totalCount: number; nodes: AuditOfHire[] };
  auditAssignments: { totalCount: number; nodes: Assignment[] };
  auditActuations: { totalCount: number; nodes: Decision[] };
  auditors: { nodes: AuditorOffer[] };
  auditModes: { nodes: { capability: string; operator: string; mode: string; recentVerdicts: number }[] };
  auditOperators: { nodes: OperatorFigures[] };
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
  auditOperators(first: 10) {
    nodes {
      address drawn passed failed inconclusive undisclosed equivocal unanswered unassigned issued rolledBack dismissed
      contested historyAgreed historyDiffered canariesCommitted canariesRevealed accruedUsdc paidUsdc owedUsdc
    }
  }
}`;
