import type { AuditOfHire } from "../audits/auditsQuery.ts";

/** The STEWARD score of an agent, which is advice in addition to the tiers. */
export type StewardReport = {
  score: number;
  algorithmScore: number;
  tier: string;
  badges: string[];
  computedAt: number;
  slaFactor: string;
  suspendedUntil: number | null;
  factors: { name: string; value: number; weight: number; contribution: number; source: string }[];
  requirements: { tier: string; metric: string; above: number; isMet: boolean }[];
};

export type SlaReport = {
  version: string;
  overallStatus: string;
  trustScoreImpact: number;
  suspendedUntil: number | null;
  guarantees: {
    id: string;
    metric: string;
    target: number;
    current: number | null;
    status: string;
    measurementWindow: string;
    daysUntilBreach: number | null;
  }[];
  breaches: {
    nodes: {
      id: string;
      metric: string;
      value: number;
      target: number;
      status: string;
      detectedAt: number;
      owedUsdc: string;
    }[];
  };
};

export type BuyerFamily = {
  hires: number;
  successes: number;
  ratedHires: number;
  paidUsdc: string;
  keptUsdc: string;
  isIndependent: boolean;
  isEstablished: boolean;
  family: { id: string; sellerFamilies: number };
};

/** Facts about an agent's reputation in addition to its figures. */
export type AgentTrust = {
  independentBuyers: number;
  establishedBuyers: number;
  independentSuccessRate: number | null;
  keptUsdc: string;
  feesPaidUsdc: string;
  receiptCoverage: number | null;
  unansweredEscrows: number;
  independence: { directHires: number; buyerFamilies: { nodes: BuyerFamily[] } } | null;
  steward: StewardReport | null;
  sla: SlaReport | null;
  audits: { totalCount: number; nodes: AuditOfHire[] };
};

/** Fields of an agent, to put into a query. */
export const AGENT_TRUST = `independentBuyers establishedBuyers independentSuccessRate keptUsdc feesPaidUsdc
    receiptCoverage unansweredEscrows
    independence {
      directHires
      buyerFamilies(first: 10) {
        nodes {
          hires successes ratedHires paidUsdc keptUsdc isIndependent isEstablished family { id sellerFamilies }
        }
      }
    }
    steward {
      score algorithmScore tier badges computedAt slaFactor suspendedUntil
      factors { name value weight contribution source }
      requirements { tier metric above isMet }
    }
    sla {
      version overallStatus trustScoreImpact suspendedUntil
      guarantees { id metric target current status measurementWindow daysUntilBreach }
      breaches(first: 5) { nodes { id metric value target status detectedAt owedUsdc } }
    }
    audits(first: 10) {
      totalCount
      nodes {
        id auditedHire status cause capability reason operator sellerAddress amountUsdc eligibleTime hire { id }
      }
    }`;
