/** An example query. It is a tab of GraphiQL, a section of docs/graphql.md, and a test. */
export type Example = {
  title: string;
  text: string;
  query: string;
  variables?: Record<string, string>;
  /**
   * Where the real values of variables come from: the title of an earlier example, then the path in its
   * answer.
   */
  fill?: Record<string, [title: string, ...path: (string | number)[]]>;
};

/** In the order of a dashboard: the node, the market, one agent, the evidence, the clusters, the proof. */
export const examples: Example[] = [
  {
    title: "The node",
    text: "The node's state, the ledgers that it follows, and whether it waits for anything",
    query: `query Node {
  meta {
    chainId token { address firstBlock } block time digest indexedBlock paramsVersion
    ledgers { id origin writer size root }
    blockedAtSegment { ledger from to reason }
  }
  params {
    version windowSeconds tier2MinSuccesses tier2MinSuccessRate { numerator denominator }
    escrows { address provider } operator
  }
}`,
  },
  {
    title: "The leaders",
    text: "Agents as search ranks them: tier, success rate, count",
    query: `query Leaders {
  agents(orderBy: RANK, first: 5) {
    totalCount
    nodes {
      address trustTier successRate last30dHireCount last24hVolumeUsdc avgStars clusterId
      listings(first: 3) { nodes { capability priceUsdc paymentMode } }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
  },
  {
    title: "A search",
    text: "Agents that do this work for at most half a dollar and failed at most one time in ten",
    query: `query Search($capability: Capability) {
  agents(
    where: { capability: $capability, maxPriceUsdc: "0.50", minSuccessRate: 0.9 }
    orderBy: SUCCESS_RATE
    first: 10
  ) {
    nodes {
      address successRate last30dHireCountRaw avgLatencyMsP95 clustered: clusterId
      avgCostPerCapability { capability medianUsdc }
    }
  }
}`,
  },
  {
    title: "Latest hires",
    text: "Hires: what was paid for what, the source of the outcome, and the weight",
    query: `query LatestHires {
  hires(first: 5) {
    nodes {
      id time capability priceUsdc outcome evidence weight clusterSize
      seller { address trustTier } buyer { address }
      payment { tx log amountUsdc authorized }
      escrow { provider status delivered }
      receipt { hash status buyerSigned }
      ratings { side stars }
    }
  }
}`,
  },
  {
    title: "Why that figure",
    text: "The numerator, the denominator, the rule and the hires behind an agent's success rate",
    query: `query Why {
  agents(orderBy: HIRES, first: 1) {
    nodes {
      address
      explain(field: SUCCESS_RATE) {
        value numerator denominator formula formulaVersion paramsVersion source cadence windowFrom
        hires(first: 3) { totalCount nodes { id outcome weight } }
      }
    }
  }
}`,
  },
  {
    title: "Escrows",
    text: "Money that escrows hold or held for hires, and how each escrow ended",
    query: `query Escrows {
  escrows(first: 5) {
    nodes { id provider status amountUsdc toSellerUsdc toBuyerUsdc refundedBy delivered deadline hire { outcome dispute } }
  }
}`,
  },
  {
    title: "Rings",
    text: "Agents that one wallet's money puts into a cluster, and how much the hires between them count",
    query: `query Rings {
  clusters(where: { kind: OWNERSHIP }, first: 3) {
    nodes {
      id size formedTime
      members(first: 5) {
        nodes { address signalsTripped last30dHireCountRaw last30dHireCount registeredBlock }
      }
    }
  }
}`,
  },
  {
    title: "Whose money",
    text: "The wallets that funded an agent, the wallets that funded those, which transfers count, and which signals they tripped",
    query: `query WhoseMoney($agent: Address!) {
  fundingGraph(agent: $agent, depth: 2) {
    nodes { address isAgent kind clusterId }
    edges { from to amountUsdc block reason signals { signal members clusterId dropped } }
  }
}`,
    variables: { agent: "0x0000000000000000000000000000000000000001" },
    fill: { agent: ["Rings", "clusters", "nodes", 0, "members", "nodes", 0, "address"] },
  },
  {
    title: "Tier changes",
    text: "The agents whose tier rose or fell, with the reason",
    query: `query TierChanges {
  tierChanges(first: 5) { nodes { agentAddress from to reason block time } }
}`,
  },
  {
    title: "Checkpoints",
    text: "The heads of ledgers that were anchored in the contract",
    query: `query Checkpoints {
  checkpoints(first: 3) { nodes { id seq size root block tx note } }
}`,
  },
  {
    title: "The proof",
    text: "A proof that a seller's receipt is in the ledger whose root is on the chain: hash the leaf with these hashes, and the result is the root",
    query: `query Proof {
  agents(orderBy: RANK, first: 1) {
    nodes {
      receipts(first: 1) {
        nodes {
          hash status
          entry {
            ledger seq type record { signer valid body }
            inclusionProof { leafHash index size hashes root checkpoint { seq block tx } }
          }
        }
      }
    }
  }
}`,
  },
  {
    title: "Trust scores",
    text: "The highest STEWARD scores, what each factor contributes, and what the seller guarantees",
    query: `query TrustScores {
  trustScores(first: 2) {
    nodes {
      score tier computedAt
      agent {
        address
        steward { badges suspendedUntil factors { name value weight contribution source } }
        sla { overallStatus guarantees { metric target breachThreshold current status } }
      }
    }
  }
}`,
  },
  {
    title: "Independence",
    text: "What reputations are based on: how many independent buyers there were, how much money stayed, and how much has a receipt",
    query: `query Independence {
  agents(orderBy: RANK, first: 3) {
    nodes {
      address
      independentBuyers establishedBuyers independentSuccessRate keptUsdc receiptCoverage
    }
  }
}`,
  },
  {
    title: "Trends",
    text: "The capabilities that agents were hired for, this week and the week before",
    query: `query Trends {
  insights {
    trends(first: 5) {
      nodes {
        capability
        window { hires weightedHires successRate volumeUsdc avgLatencyMs }
        last7Days { hires volumeUsdc } previous7Days { hires volumeUsdc }
      }
    }
  }
}`,
  },
  {
    title: "Live hires",
    text: "A subscription: press play and wait for the next hire. Over HTTP these are server-sent events",
    query: `subscription Live {
  hireCounted {
    position
    reorg
    hire { id capability priceUsdc outcome seller { address } buyer { address } }
  }
}`,
  },
];
