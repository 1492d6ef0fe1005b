// Generated from indexer/schema.graphql and operations.graphql: npm run generate:queries.

export type AgentFilter = {
  capability?: string | null;
  clusterId?: string | null;
  clustered?: boolean | null;
  includeSuspended?: boolean | null;
  maxLatencyMs?: number | null;
  maxPriceUsdc?: string | null;
  minAvgStars?: number | null;
  minIndependentBuyers?: number | null;
  minKeptUsdc?: string | null;
  minReceiptCoverage?: number | null;
  minStewardScore?: number | null;
  minSuccessRate?: number | null;
  minTrustTier?: number | null;
  paymentMode?: string | null;
  stewardTier?: "HIGHLY_TRUSTED" | "TRUSTED" | "UNVERIFIED" | "VERIFIED" | null;
};

export type HireFilter = {
  buyer?: string | null;
  capability?: string | null;
  evidence?: "AUDIT" | "BUYER" | "ESCROW" | "SELLER" | null;
  outcome?: "FAILURE" | "NEUTRAL" | "SUCCESS" | null;
  paidBefore?: number | null;
  paidFrom?: number | null;
  seller?: string | null;
};

export type AuditAssignmentFilter = {
  auditor?: string | null;
  open?: boolean | null;
  operator?: string | null;
};

export type AuditFilter = {
  auditor?: string | null;
  capability?: string | null;
  operator?: string | null;
  seller?: string | null;
  status?:
    | "ABANDONED"
    | "ASSIGNED"
    | "ASSIGNING"
    | "CHALLENGED"
    | "DISMISSED"
    | "ELIGIBLE"
    | "FAILED"
    | "INCONCLUSIVE"
    | "PASSED"
    | "RECHECKING"
    | "ROLLED_BACK"
    | null;
};

export type AuditorFilter = {
  active?: boolean | null;
  agent?: string | null;
  assigned?: boolean | null;
  capability?: string | null;
  operator?: string | null;
};

export type AgentVariables = {
  address: string;
};

export type AgentAnswer = {
  agent: {
    address: string;
    privateMetrics: boolean;
    registeredBlock: number;
    registeredTime: number;
    successRate: number | null;
    avgLatencyMs: number | null;
    avgLatencyMsP50: number | null;
    avgLatencyMsP95: number | null;
    avgLatencyMsP99: number | null;
    avgCostPerCapability: { capability: string; medianUsdc: string }[];
    last24hVolumeUsdc: string;
    last30dHireCount: number;
    last30dHireCountRaw: number;
    freeHires: number;
    distinctBuyers: number;
    independentBuyers: number;
    establishedBuyers: number;
    independentSuccessRate: number | null;
    keptUsdc: string;
    feesPaidUsdc: string;
    receiptCoverage: number | null;
    unreceiptedPayments: number;
    unreceiptedUsdc: string;
    unansweredEscrows: number;
    refundsContested: number;
    refundsContestedFamilies: number;
    totalRatings: number;
    avgStars: number | null;
    clusterId: string | null;
    clusterSize: number;
    signalsTripped: string[];
    auditPassRate: number | null;
    auditCoverage: number | null;
    auditsEligible: number;
    auditsDrawn: number;
    auditsUndisclosed: number;
    refundRate: number | null;
    disputeRate: number | null;
    claimStatus: string;
    claimed: boolean;
    trustTier: number;
    hiresBought: number;
    silentTimeoutRate: number | null;
    falseRefunds: number;
    refundAfterDeliveryRate: number | null;
    listings: {
      nodes: {
        capability: string;
        priceUsdc: string;
        maxLatencyMs: number;
        paymentMode: string;
        endpoint: string;
        live: boolean;
      }[];
    };
    hires: {
      nodes: {
        id: string;
        buyerAddress: string;
        capability: string | null;
        priceUsdc: string;
        outcome: "FAILURE" | "NEUTRAL" | "SUCCESS";
        evidence: "AUDIT" | "BUYER" | "ESCROW" | "SELLER";
        weight: number;
        latencyMs: number | null;
        time: number;
      }[];
    };
    tierChanges: { nodes: { from: number; to: number; reason: string; time: number }[] };
  } | null;
};

export type AgentsVariables = {
  where?: AgentFilter | null;
  orderBy?:
    | "HIRES"
    | "INDEPENDENT_BUYERS"
    | "KEPT_USDC"
    | "NEWEST"
    | "RANK"
    | "RECEIPT_COVERAGE"
    | "REGISTERED"
    | "STARS"
    | "SUCCESS_RATE"
    | "VOLUME"
    | null;
  first?: number | null;
  after?: string | null;
};

export type AgentsAnswer = {
  agents: {
    nodes: {
      address: string;
      trustTier: number;
      successRate: number | null;
      last30dHireCount: number;
      last24hVolumeUsdc: string;
      avgStars: number | null;
      clusterId: string | null;
      clusterSize: number;
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type HireVariables = {
  id: string;
};

export type HireAnswer = {
  hire: {
    id: string;
    hireId: string;
    sellerAddress: string;
    buyerAddress: string;
    capability: string | null;
    paymentMode: string;
    priceUsdc: string;
    amountUsdc: string;
    outcome: "FAILURE" | "NEUTRAL" | "SUCCESS";
    evidence: "AUDIT" | "BUYER" | "ESCROW" | "SELLER";
    refunded: boolean;
    dispute: boolean;
    disputeSource: string | null;
    clusterSize: number;
    weight: number;
    latencyMs: number | null;
    time: number;
    tx: string;
    escrowId: string | null;
    receiptHash: string | null;
    ratings: { side: string; stars: number; time: number }[];
  } | null;
};

export type HiresVariables = {
  where?: HireFilter | null;
  first?: number | null;
  after?: string | null;
};

export type HiresAnswer = {
  hires: {
    nodes: {
      id: string;
      sellerAddress: string;
      buyerAddress: string;
      capability: string | null;
      priceUsdc: string;
      outcome: "FAILURE" | "NEUTRAL" | "SUCCESS";
      evidence: "AUDIT" | "BUYER" | "ESCROW" | "SELLER";
      weight: number;
      time: number;
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type EscrowVariables = {
  id: string;
};

export type EscrowAnswer = {
  escrow: {
    id: string;
    provider: string;
    contract: string;
    hireId: string;
    buyerAddress: string;
    sellerAddress: string;
    payee: string;
    arbiter: string | null;
    amountUsdc: string;
    feeUsdc: string;
    feeRecipient: string | null;
    status: "HELD" | "REFUNDED" | "RELEASED" | "TIMED_OUT";
    delivered: boolean;
    resultHash: string | null;
    toSellerUsdc: string | null;
    toBuyerUsdc: string | null;
    refundedBy: string | null;
    deadline: number;
    depositedTime: number;
    settledTime: number | null;
    tx: string;
    receiptHash: string | null;
    hire: { id: string; outcome: "FAILURE" | "NEUTRAL" | "SUCCESS"; weight: number } | null;
  } | null;
};

export type ClusterVariables = {
  id: string;
  first?: number | null;
  after?: string | null;
};

export type ClusterAnswer = {
  cluster: {
    id: string;
    kind: "FINGERPRINT" | "OWNERSHIP";
    size: number;
    formedTime: number;
    members: {
      nodes: { address: string; trustTier: number; successRate: number | null }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
};

export type FundingGraphVariables = {
  agent: string;
  depth?: number | null;
};

export type FundingGraphAnswer = {
  fundingGraph: {
    nodes: { address: string; isAgent: boolean; kind: string | null; clusterId: string | null }[];
    edges: {
      from: string;
      to: string;
      amountUsdc: string | null;
      block: number;
      time: number;
      reason: "FROM_HUB" | "FUNDING" | "PAID_FOR_HIRE";
    }[];
  };
};

export type StatusAnswer = {
  meta: {
    chainId: number;
    token: { address: string; firstBlock: number | null };
    block: number;
    time: number;
    digest: string | null;
    indexedBlock: number;
    paramsVersion: number | null;
    ledgers: { id: string; origin: string | null; size: number; root: string; block: number }[];
    blockedAtSegment: {
      ledger: string;
      from: string;
      to: string;
      since: number;
      attempts: number;
      reason: string;
    } | null;
    blockedAtTransfers: {
      block: number;
      since: number;
      attempts: number;
      reason: string;
      wallet: string | null;
    } | null;
  };
};

export type OpenAuditsVariables = {
  where?: AuditAssignmentFilter | null;
  first?: number | null;
  after?: string | null;
};

export type OpenAuditsAnswer = {
  auditAssignments: {
    nodes: {
      auditedHire: string;
      round: number;
      attempt: number;
      operator: string;
      auditorAddress: string;
      assignedBlock: number;
      assignedAt: number;
      due: number | null;
      tickHash: string | null;
      verdict: "FAIL" | "INCONCLUSIVE" | "PASS" | null;
      audit: {
        auditedHire: string;
        status:
          | "ABANDONED"
          | "ASSIGNED"
          | "ASSIGNING"
          | "CHALLENGED"
          | "DISMISSED"
          | "ELIGIBLE"
          | "FAILED"
          | "INCONCLUSIVE"
          | "PASSED"
          | "RECHECKING"
          | "ROLLED_BACK";
        round: number;
        attempt: number;
        capability: string | null;
        verificationVersion: string;
        sellerAddress: string;
        buyerAddress: string;
        amountUsdc: string;
        paramsHash: string | null;
        resultHash: string | null;
        receipt: { hireId: string } | null;
      } | null;
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type AuditsVariables = {
  where?: AuditFilter | null;
  orderBy?: "DRAWN" | "ELIGIBLE" | null;
  first?: number | null;
  after?: string | null;
};

export type AuditsAnswer = {
  audits: {
    nodes: {
      auditedHire: string;
      status:
        | "ABANDONED"
        | "ASSIGNED"
        | "ASSIGNING"
        | "CHALLENGED"
        | "DISMISSED"
        | "ELIGIBLE"
        | "FAILED"
        | "INCONCLUSIVE"
        | "PASSED"
        | "RECHECKING"
        | "ROLLED_BACK";
      reason: string | null;
      operator: string;
      round: number;
      attempt: number;
      capability: string | null;
      verificationVersion: string;
      sellerAddress: string;
      buyerAddress: string;
      amountUsdc: string;
      paramsHash: string | null;
      resultHash: string | null;
      eligibleTime: number;
      closedTime: number | null;
      receipt: { hireId: string } | null;
      listing: { endpoint: string } | null;
      draw: { block: number; time: number; tickHash: string | null } | null;
      rounds: {
        attempts: {
          auditedHire: string;
          round: number;
          attempt: number;
          operator: string;
          auditorAddress: string;
          assignedBlock: number;
          assignedAt: number;
          due: number | null;
          tickHash: string | null;
          verdict: "FAIL" | "INCONCLUSIVE" | "PASS" | null;
        }[];
      }[];
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type AuditVariables = {
  id: string;
};

export type AuditAnswer = {
  audit: {
    auditedHire: string;
    status:
      | "ABANDONED"
      | "ASSIGNED"
      | "ASSIGNING"
      | "CHALLENGED"
      | "DISMISSED"
      | "ELIGIBLE"
      | "FAILED"
      | "INCONCLUSIVE"
      | "PASSED"
      | "RECHECKING"
      | "ROLLED_BACK";
    reason: string | null;
    cause: "CONTESTED" | "HISTORY" | "RULES" | "SAMPLE";
    operator: string;
    round: number;
    attempt: number;
    capability: string | null;
    verificationVersion: string;
    sellerAddress: string;
    buyerAddress: string;
    amountUsdc: string;
    paramsHash: string | null;
    resultHash: string | null;
    receiptHash: string | null;
    isDisclosed: boolean;
    ratePpm: number;
    eligibleBlock: number;
    eligibleTime: number;
    closedTime: number | null;
    decisionRecord: string | null;
    receipt: { hireId: string } | null;
    hire: {
      outcome: "FAILURE" | "NEUTRAL" | "SUCCESS";
      evidence: "AUDIT" | "BUYER" | "ESCROW" | "SELLER";
    } | null;
    listing: { endpoint: string; paymentMode: string } | null;
    draw: {
      block: number;
      time: number;
      tickHash: string | null;
      words: string | null;
      number: number | null;
    } | null;
    rounds: {
      round: number;
      verdict: "FAIL" | "INCONCLUSIVE" | "PASS" | null;
      attempts: {
        auditedHire: string;
        round: number;
        attempt: number;
        operator: string;
        auditorAddress: string;
        auditorType: "AUDITOR" | "OPERATOR_ISSUED";
        assignedBlock: number;
        assignedAt: number;
        due: number | null;
        tickHash: string | null;
        passedOver: string[];
        verdict: "FAIL" | "INCONCLUSIVE" | "PASS" | null;
        verdictTime: number | null;
        reasons: { code: string; detail: string }[];
        verdictRecord: string | null;
      }[];
    }[];
  } | null;
};

export type AuditorsVariables = {
  where?: AuditorFilter | null;
  first?: number | null;
  after?: string | null;
};

export type AuditorsAnswer = {
  auditors: {
    nodes: {
      operator: string;
      address: string;
      active: boolean;
      removedFor: string | null;
      capabilities: string[];
      endpoint: string;
      issuedAt: number;
      assigned: number;
      answered: number;
      unansweredInARow: number;
      rosters: { capability: string; place: number | null; size: number }[];
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type AuditActuationsVariables = {
  first?: number | null;
  after?: string | null;
};

export type AuditActuationsAnswer = {
  auditActuations: {
    nodes: {
      hash: string;
      operator: string;
      auditedHire: string;
      decision: "DISMISS" | "ROLLBACK";
      reasons: { code: string; detail: string }[];
      block: number;
      time: number;
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type SignedRecordVariables = {
  hash: string;
};

export type SignedRecordAnswer = {
  ledgerEntryByHash: { record: { body: unknown | null; signature: string | null } | null } | null;
};

export type MarketVariables = {
  days?: number | null;
};

export type MarketAnswer = {
  market: {
    counts: {
      agents: number;
      sellers: number;
      listings: number;
      capabilities: number;
      clusters: number;
      escrowsHeld: number;
      heldUsdc: string;
    };
    window: { hires: number; weightedHires: number; successRate: number | null; volumeUsdc: string };
    allTime: { hires: number; volumeUsdc: string };
    series: {
      from: string;
      to: string;
      days: { day: string; figures: { hires: number; successRate: number | null; volumeUsdc: string } }[];
    };
  };
};

export type CapabilitiesVariables = {
  orderBy?: "HIRES" | "LISTINGS" | "NAME" | null;
  first?: number | null;
  after?: string | null;
};

export type CapabilitiesAnswer = {
  capabilities: {
    nodes: {
      capability: string;
      listings: number;
      sellers: number;
      lowestPriceUsdc: string | null;
      medianPriceUsdc: string | null;
      window: { hires: number; successRate: number | null } | null;
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type ClusterGraphVariables = {
  id: string;
  members?: number | null;
};

export type ClusterGraphAnswer = {
  cluster: {
    id: string;
    kind: "FINGERPRINT" | "OWNERSHIP";
    size: number;
    graph: {
      nodes: {
        address: string;
        depth: number;
        kind: string | null;
        agent: { trustTier: number; last30dHireCount: number; last30dHireCountRaw: number } | null;
      }[];
      edges: {
        from: string;
        to: string;
        amountUsdc: string | null;
        block: number;
        time: number;
        log: number;
        reason: "FUNDING" | "PAID_FOR_HIRE";
      }[];
      signals: {
        id: string;
        signal: string;
        funder: string;
        members: string[];
        memberCount: number;
        dropped: boolean;
      }[];
      isWhole: boolean;
    };
  } | null;
};

/** `signal` ends the wait for the answer. */
export type AskOptions = { signal?: AbortSignal | undefined };

/** One function for each query of operations.graphql; each gives the answer's `data`. */
export type GraphqlClient = {
  agent: (variables: AgentVariables, options?: AskOptions) => Promise<AgentAnswer>;
  agents: (variables?: AgentsVariables, options?: AskOptions) => Promise<AgentsAnswer>;
  hire: (variables: HireVariables, options?: AskOptions) => Promise<HireAnswer>;
  hires: (variables?: HiresVariables, options?: AskOptions) => Promise<HiresAnswer>;
  escrow: (variables: EscrowVariables, options?: AskOptions) => Promise<EscrowAnswer>;
  cluster: (variables: ClusterVariables, options?: AskOptions) => Promise<ClusterAnswer>;
  fundingGraph: (variables: FundingGraphVariables, options?: AskOptions) => Promise<FundingGraphAnswer>;
  status: (options?: AskOptions) => Promise<StatusAnswer>;
  openAudits: (variables?: OpenAuditsVariables, options?: AskOptions) => Promise<OpenAuditsAnswer>;
  audits: (variables?: AuditsVariables, options?: AskOptions) => Promise<AuditsAnswer>;
  audit: (variables: AuditVariables, options?: AskOptions) => Promise<AuditAnswer>;
  auditors: (variables?: AuditorsVariables, options?: AskOptions) => Promise<AuditorsAnswer>;
  auditActuations: (
    variables?: AuditActuationsVariables,
    options?: AskOptions,
  ) => Promise<AuditActuationsAnswer>;
  signedRecord: (variables: SignedRecordVariables, options?: AskOptions) => Promise<SignedRecordAnswer>;
  market: (variables?: MarketVariables, options?: AskOptions) => Promise<MarketAnswer>;
  capabilities: (variables?: CapabilitiesVariables, options?: AskOptions) => Promise<CapabilitiesAnswer>;
  clusterGraph: (variables: ClusterGraphVariables, options?: AskOptions) => Promise<ClusterGraphAnswer>;
};

/** @param ask sends a query with its variables and gives `data` */
export function createGraphqlClient(
  ask: <Answer>(query: string, variables: object, options: AskOptions | undefined) => Promise<Answer>,
): GraphqlClient {
  return {
    agent: (variables, options) =>
      ask(
        `query Agent($address: Address!) {
  agent(address: $address) {
    address
    privateMetrics
    registeredBlock
    registeredTime
    successRate
    avgLatencyMs
    avgLatencyMsP50
    avgLatencyMsP95
    avgLatencyMsP99
    avgCostPerCapability {
      capability
      medianUsdc
    }
    last24hVolumeUsdc
    last30dHireCount
    last30dHireCountRaw
    freeHires
    distinctBuyers
    independentBuyers
    establishedBuyers
    independentSuccessRate
    keptUsdc
    feesPaidUsdc
    receiptCoverage
    unreceiptedPayments
    unreceiptedUsdc
    unansweredEscrows
    refundsContested
    refundsContestedFamilies
    totalRatings
    avgStars
    clusterId
    clusterSize
    signalsTripped
    auditPassRate
    auditCoverage
    auditsEligible
    auditsDrawn
    auditsUndisclosed
    refundRate
    disputeRate
    claimStatus
    claimed
    trustTier
    hiresBought
    silentTimeoutRate
    falseRefunds
    refundAfterDeliveryRate
    listings(first: 20) {
      nodes {
        capability
        priceUsdc
        maxLatencyMs
        paymentMode
        endpoint
        live
      }
    }
    hires(first: 10) {
      nodes {
        id
        buyerAddress
        capability
        priceUsdc
        outcome
        evidence
        weight
        latencyMs
        time
      }
    }
    tierChanges(first: 5) {
      nodes {
        from
        to
        reason
        time
      }
    }
  }
}`,
        variables,
        options,
      ),
    agents: (variables, options) =>
      ask(
        `query Agents($where: AgentFilter, $orderBy: AgentOrder, $first: Int, $after: String) {
  agents(where: $where, orderBy: $orderBy, first: $first, after: $after) {
    nodes {
      address
      trustTier
      successRate
      last30dHireCount
      last24hVolumeUsdc
      avgStars
      clusterId
      clusterSize
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    hire: (variables, options) =>
      ask(
        `query Hire($id: ID!) {
  hire(id: $id) {
    id
    hireId
    sellerAddress
    buyerAddress
    capability
    paymentMode
    priceUsdc
    amountUsdc
    outcome
    evidence
    refunded
    dispute
    disputeSource
    clusterSize
    weight
    latencyMs
    time
    tx
    escrowId
    receiptHash
    ratings {
      side
      stars
      time
    }
  }
}`,
        variables,
        options,
      ),
    hires: (variables, options) =>
      ask(
        `query Hires($where: HireFilter, $first: Int, $after: String) {
  hires(where: $where, first: $first, after: $after) {
    nodes {
      id
      sellerAddress
      buyerAddress
      capability
      priceUsdc
      outcome
      evidence
      weight
      time
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    escrow: (variables, options) =>
      ask(
        `query Escrow($id: ID!) {
  escrow(id: $id) {
    id
    provider
    contract
    hireId
    buyerAddress
    sellerAddress
    payee
    arbiter
    amountUsdc
    feeUsdc
    feeRecipient
    status
    delivered
    resultHash
    toSellerUsdc
    toBuyerUsdc
    refundedBy
    deadline
    depositedTime
    settledTime
    tx
    receiptHash
    hire {
      id
      outcome
      weight
    }
  }
}`,
        variables,
        options,
      ),
    cluster: (variables, options) =>
      ask(
        `query Cluster($id: ID!, $first: Int, $after: String) {
  cluster(id: $id) {
    id
    kind
    size
    formedTime
    members(first: $first, after: $after) {
      nodes {
        address
        trustTier
        successRate
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`,
        variables,
        options,
      ),
    fundingGraph: (variables, options) =>
      ask(
        `query FundingGraph($agent: Address!, $depth: Int) {
  fundingGraph(agent: $agent, depth: $depth) {
    nodes {
      address
      isAgent
      kind
      clusterId
    }
    edges {
      from
      to
      amountUsdc
      block
      time
      reason
    }
  }
}`,
        variables,
        options,
      ),
    status: (options) =>
      ask(
        `query Status {
  meta {
    chainId
    token {
      address
      firstBlock
    }
    block
    time
    digest
    indexedBlock
    paramsVersion
    ledgers {
      id
      origin
      size
      root
      block
    }
    blockedAtSegment {
      ledger
      from
      to
      since
      attempts
      reason
    }
    blockedAtTransfers {
      block
      since
      attempts
      reason
      wallet
    }
  }
}`,
        {},
        options,
      ),
    openAudits: (variables, options) =>
      ask(
        `query OpenAudits($where: AuditAssignmentFilter, $first: Int, $after: String) {
  auditAssignments(where: $where, first: $first, after: $after) {
    nodes {
      auditedHire
      round
      attempt
      operator
      auditorAddress
      assignedBlock
      assignedAt
      due
      tickHash
      verdict
      audit {
        auditedHire
        status
        round
        attempt
        capability
        verificationVersion
        sellerAddress
        buyerAddress
        amountUsdc
        paramsHash
        resultHash
        receipt {
          hireId
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    audits: (variables, options) =>
      ask(
        `query Audits($where: AuditFilter, $orderBy: AuditOrder, $first: Int, $after: String) {
  audits(where: $where, orderBy: $orderBy, first: $first, after: $after) {
    nodes {
      auditedHire
      status
      reason
      operator
      round
      attempt
      capability
      verificationVersion
      sellerAddress
      buyerAddress
      amountUsdc
      paramsHash
      resultHash
      eligibleTime
      closedTime
      receipt {
        hireId
      }
      listing {
        endpoint
      }
      draw {
        block
        time
        tickHash
      }
      rounds {
        attempts {
          auditedHire
          round
          attempt
          operator
          auditorAddress
          assignedBlock
          assignedAt
          due
          tickHash
          verdict
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    audit: (variables, options) =>
      ask(
        `query Audit($id: ID!) {
  audit(id: $id) {
    auditedHire
    status
    reason
    cause
    operator
    round
    attempt
    capability
    verificationVersion
    sellerAddress
    buyerAddress
    amountUsdc
    paramsHash
    resultHash
    receiptHash
    isDisclosed
    ratePpm
    eligibleBlock
    eligibleTime
    closedTime
    decisionRecord
    receipt {
      hireId
    }
    hire {
      outcome
      evidence
    }
    listing {
      endpoint
      paymentMode
    }
    draw {
      block
      time
      tickHash
      words
      number
    }
    rounds {
      round
      verdict
      attempts {
        auditedHire
        round
        attempt
        operator
        auditorAddress
        auditorType
        assignedBlock
        assignedAt
        due
        tickHash
        passedOver
        verdict
        verdictTime
        reasons {
          code
          detail
        }
        verdictRecord
      }
    }
  }
}`,
        variables,
        options,
      ),
    auditors: (variables, options) =>
      ask(
        `query Auditors($where: AuditorFilter, $first: Int, $after: String) {
  auditors(where: $where, first: $first, after: $after) {
    nodes {
      operator
      address
      active
      removedFor
      capabilities
      endpoint
      issuedAt
      assigned
      answered
      unansweredInARow
      rosters {
        capability
        place
        size
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    auditActuations: (variables, options) =>
      ask(
        `query AuditActuations($first: Int, $after: String) {
  auditActuations(first: $first, after: $after) {
    nodes {
      hash
      operator
      auditedHire
      decision
      reasons {
        code
        detail
      }
      block
      time
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    signedRecord: (variables, options) =>
      ask(
        `query SignedRecord($hash: String!) {
  ledgerEntryByHash(hash: $hash) {
    record {
      body
      signature
    }
  }
}`,
        variables,
        options,
      ),
    market: (variables, options) =>
      ask(
        `query Market($days: Int) {
  market {
    counts {
      agents
      sellers
      listings
      capabilities
      clusters
      escrowsHeld
      heldUsdc
    }
    window {
      hires
      weightedHires
      successRate
      volumeUsdc
    }
    allTime {
      hires
      volumeUsdc
    }
    series(days: $days) {
      from
      to
      days {
        day
        figures {
          hires
          successRate
          volumeUsdc
        }
      }
    }
  }
}`,
        variables ?? {},
        options,
      ),
    capabilities: (variables, options) =>
      ask(
        `query Capabilities($orderBy: CapabilityOrder, $first: Int, $after: String) {
  capabilities(orderBy: $orderBy, first: $first, after: $after) {
    nodes {
      capability
      listings
      sellers
      lowestPriceUsdc
      medianPriceUsdc
      window {
        hires
        successRate
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`,
        variables ?? {},
        options,
      ),
    clusterGraph: (variables, options) =>
      ask(
        `query ClusterGraph($id: ID!, $members: Int) {
  cluster(id: $id) {
    id
    kind
    size
    graph(members: $members) {
      nodes {
        address
        depth
        kind
        agent {
          trustTier
          last30dHireCount
          last30dHireCountRaw
        }
      }
      edges {
        from
        to
        amountUsdc
        block
        time
        log
        reason
      }
      signals {
        id
        signal
        funder
        members
        memberCount
        dropped
      }
      isWhole
    }
  }
}`,
        variables,
        options,
      ),
  };
}
