// Generated from indexer/schema.graphql and operations.graphql: npm run generate:queries.

import { z } from "zod";

/** The form of the answer to each query of operations.graphql. A newer node may have more values of an enum. */
export const graphqlForms = {
  agent: () =>
    z.object({
      agent: z
        .object({
          address: z.string(),
          privateMetrics: z.boolean(),
          registeredBlock: z.int(),
          registeredTime: z.int(),
          successRate: z.number().nullable(),
          avgLatencyMs: z.number().nullable(),
          avgLatencyMsP50: z.number().nullable(),
          avgLatencyMsP95: z.number().nullable(),
          avgLatencyMsP99: z.number().nullable(),
          avgCostPerCapability: z.array(z.object({ capability: z.string(), medianUsdc: z.string() })),
          last24hVolumeUsdc: z.string(),
          last30dHireCount: z.number(),
          last30dHireCountRaw: z.int(),
          freeHires: z.int(),
          distinctBuyers: z.int(),
          independentBuyers: z.int(),
          establishedBuyers: z.int(),
          independentSuccessRate: z.number().nullable(),
          keptUsdc: z.string(),
          feesPaidUsdc: z.string(),
          receiptCoverage: z.number().nullable(),
          unreceiptedPayments: z.int(),
          unreceiptedUsdc: z.string(),
          unansweredEscrows: z.int(),
          refundsContested: z.int(),
          refundsContestedFamilies: z.int(),
          totalRatings: z.int(),
          avgStars: z.number().nullable(),
          clusterId: z.string().nullable(),
          clusterSize: z.int(),
          signalsTripped: z.array(z.string()),
          auditPassRate: z.number().nullable(),
          auditCoverage: z.number().nullable(),
          auditsEligible: z.int(),
          auditsDrawn: z.int(),
          auditsUndisclosed: z.int(),
          refundRate: z.number().nullable(),
          disputeRate: z.number().nullable(),
          claimStatus: z.string(),
          claimed: z.boolean(),
          trustTier: z.int(),
          hiresBought: z.int(),
          silentTimeoutRate: z.number().nullable(),
          falseRefunds: z.int(),
          refundAfterDeliveryRate: z.number().nullable(),
          listings: z.object({
            nodes: z.array(
              z.object({
                capability: z.string(),
                priceUsdc: z.string(),
                maxLatencyMs: z.int(),
                paymentMode: z.string(),
                endpoint: z.string(),
                live: z.boolean(),
              }),
            ),
          }),
          hires: z.object({
            nodes: z.array(
              z.object({
                id: z.string(),
                buyerAddress: z.string(),
                capability: z.string().nullable(),
                priceUsdc: z.string(),
                outcome: z.string(),
                evidence: z.string(),
                weight: z.number(),
                latencyMs: z.int().nullable(),
                time: z.int(),
              }),
            ),
          }),
          tierChanges: z.object({
            nodes: z.array(z.object({ from: z.int(), to: z.int(), reason: z.string(), time: z.int() })),
          }),
        })
        .nullable(),
    }),
  agents: () =>
    z.object({
      agents: z.object({
        nodes: z.array(
          z.object({
            address: z.string(),
            trustTier: z.int(),
            successRate: z.number().nullable(),
            last30dHireCount: z.number(),
            last24hVolumeUsdc: z.string(),
            avgStars: z.number().nullable(),
            clusterId: z.string().nullable(),
            clusterSize: z.int(),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  hire: () =>
    z.object({
      hire: z
        .object({
          id: z.string(),
          hireId: z.string(),
          sellerAddress: z.string(),
          buyerAddress: z.string(),
          capability: z.string().nullable(),
          paymentMode: z.string(),
          priceUsdc: z.string(),
          amountUsdc: z.string(),
          outcome: z.string(),
          evidence: z.string(),
          refunded: z.boolean(),
          dispute: z.boolean(),
          disputeSource: z.string().nullable(),
          clusterSize: z.int(),
          weight: z.number(),
          latencyMs: z.int().nullable(),
          time: z.int(),
          tx: z.string(),
          escrowId: z.string().nullable(),
          receiptHash: z.string().nullable(),
          ratings: z.array(z.object({ side: z.string(), stars: z.int(), time: z.int() })),
        })
        .nullable(),
    }),
  hires: () =>
    z.object({
      hires: z.object({
        nodes: z.array(
          z.object({
            id: z.string(),
            sellerAddress: z.string(),
            buyerAddress: z.string(),
            capability: z.string().nullable(),
            priceUsdc: z.string(),
            outcome: z.string(),
            evidence: z.string(),
            weight: z.number(),
            time: z.int(),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  escrow: () =>
    z.object({
      escrow: z
        .object({
          id: z.string(),
          provider: z.string(),
          contract: z.string(),
          hireId: z.string(),
          buyerAddress: z.string(),
          sellerAddress: z.string(),
          payee: z.string(),
          arbiter: z.string().nullable(),
          amountUsdc: z.string(),
          feeUsdc: z.string(),
          feeRecipient: z.string().nullable(),
          status: z.string(),
          delivered: z.boolean(),
          resultHash: z.string().nullable(),
          toSellerUsdc: z.string().nullable(),
          toBuyerUsdc: z.string().nullable(),
          refundedBy: z.string().nullable(),
          deadline: z.int(),
          depositedTime: z.int(),
          settledTime: z.int().nullable(),
          tx: z.string(),
          receiptHash: z.string().nullable(),
          hire: z.object({ id: z.string(), outcome: z.string(), weight: z.number() }).nullable(),
        })
        .nullable(),
    }),
  cluster: () =>
    z.object({
      cluster: z
        .object({
          id: z.string(),
          kind: z.string(),
          size: z.int(),
          formedTime: z.int(),
          members: z.object({
            nodes: z.array(
              z.object({ address: z.string(), trustTier: z.int(), successRate: z.number().nullable() }),
            ),
            pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
          }),
        })
        .nullable(),
    }),
  fundingGraph: () =>
    z.object({
      fundingGraph: z.object({
        nodes: z.array(
          z.object({
            address: z.string(),
            isAgent: z.boolean(),
            kind: z.string().nullable(),
            clusterId: z.string().nullable(),
          }),
        ),
        edges: z.array(
          z.object({
            from: z.string(),
            to: z.string(),
            amountUsdc: z.string().nullable(),
            block: z.int(),
            time: z.int(),
            reason: z.string(),
          }),
        ),
      }),
    }),
  status: () =>
    z.object({
      meta: z.object({
        chainId: z.int(),
        token: z.object({ address: z.string(), firstBlock: z.int().nullable() }),
        block: z.int(),
        time: z.int(),
        digest: z.string().nullable(),
        indexedBlock: z.int(),
        paramsVersion: z.int().nullable(),
        ledgers: z.array(
          z.object({
            id: z.string(),
            origin: z.string().nullable(),
            size: z.int(),
            root: z.string(),
            block: z.int(),
          }),
        ),
        blockedAtSegment: z
          .object({
            ledger: z.string(),
            from: z.string(),
            to: z.string(),
            since: z.int(),
            attempts: z.int(),
            reason: z.string(),
          })
          .nullable(),
        blockedAtTransfers: z
          .object({
            block: z.int(),
            since: z.int(),
            attempts: z.int(),
            reason: z.string(),
            wallet: z.string().nullable(),
          })
          .nullable(),
      }),
    }),
  openAudits: () =>
    z.object({
      auditAssignments: z.object({
        nodes: z.array(
          z.object({
            auditedHire: z.string(),
            round: z.int(),
            attempt: z.int(),
            operator: z.string(),
            auditorAddress: z.string(),
            assignedBlock: z.int(),
            assignedAt: z.int(),
            due: z.int().nullable(),
            tickHash: z.string().nullable(),
            verdict: z.string().nullable(),
            audit: z
              .object({
                auditedHire: z.string(),
                status: z.string(),
                round: z.int(),
                attempt: z.int(),
                capability: z.string().nullable(),
                verificationVersion: z.string(),
                sellerAddress: z.string(),
                buyerAddress: z.string(),
                amountUsdc: z.string(),
                paramsHash: z.string().nullable(),
                resultHash: z.string().nullable(),
                receipt: z.object({ hireId: z.string() }).nullable(),
              })
              .nullable(),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  audits: () =>
    z.object({
      audits: z.object({
        nodes: z.array(
          z.object({
            auditedHire: z.string(),
            status: z.string(),
            reason: z.string().nullable(),
            operator: z.string(),
            round: z.int(),
            attempt: z.int(),
            capability: z.string().nullable(),
            verificationVersion: z.string(),
            sellerAddress: z.string(),
            buyerAddress: z.string(),
            amountUsdc: z.string(),
            paramsHash: z.string().nullable(),
            resultHash: z.string().nullable(),
            eligibleTime: z.int(),
            closedTime: z.int().nullable(),
            receipt: z.object({ hireId: z.string() }).nullable(),
            listing: z.object({ endpoint: z.string() }).nullable(),
            draw: z.object({ block: z.int(), time: z.int(), tickHash: z.string().nullable() }).nullable(),
            rounds: z.array(
              z.object({
                attempts: z.array(
                  z.object({
                    auditedHire: z.string(),
                    round: z.int(),
                    attempt: z.int(),
                    operator: z.string(),
                    auditorAddress: z.string(),
                    assignedBlock: z.int(),
                    assignedAt: z.int(),
                    due: z.int().nullable(),
                    tickHash: z.string().nullable(),
                    verdict: z.string().nullable(),
                  }),
                ),
              }),
            ),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  audit: () =>
    z.object({
      audit: z
        .object({
          auditedHire: z.string(),
          status: z.string(),
          reason: z.string().nullable(),
          cause: z.string(),
          operator: z.string(),
          round: z.int(),
          attempt: z.int(),
          capability: z.string().nullable(),
          verificationVersion: z.string(),
          sellerAddress: z.string(),
          buyerAddress: z.string(),
          amountUsdc: z.string(),
          paramsHash: z.string().nullable(),
          resultHash: z.string().nullable(),
          receiptHash: z.string().nullable(),
          isDisclosed: z.boolean(),
          ratePpm: z.int(),
          eligibleBlock: z.int(),
          eligibleTime: z.int(),
          closedTime: z.int().nullable(),
          decisionRecord: z.string().nullable(),
          receipt: z.object({ hireId: z.string() }).nullable(),
          hire: z.object({ outcome: z.string(), evidence: z.string() }).nullable(),
          listing: z.object({ endpoint: z.string(), paymentMode: z.string() }).nullable(),
          draw: z
            .object({
              block: z.int(),
              time: z.int(),
              tickHash: z.string().nullable(),
              words: z.string().nullable(),
              number: z.int().nullable(),
            })
            .nullable(),
          rounds: z.array(
            z.object({
              round: z.int(),
              verdict: z.string().nullable(),
              attempts: z.array(
                z.object({
                  auditedHire: z.string(),
                  round: z.int(),
                  attempt: z.int(),
                  operator: z.string(),
                  auditorAddress: z.string(),
                  auditorType: z.string(),
                  assignedBlock: z.int(),
                  assignedAt: z.int(),
                  due: z.int().nullable(),
                  tickHash: z.string().nullable(),
                  passedOver: z.array(z.string()),
                  verdict: z.string().nullable(),
                  verdictTime: z.int().nullable(),
                  reasons: z.array(z.object({ code: z.string(), detail: z.string() })),
                  verdictRecord: z.string().nullable(),
                }),
              ),
            }),
          ),
        })
        .nullable(),
    }),
  auditors: () =>
    z.object({
      auditors: z.object({
        nodes: z.array(
          z.object({
            operator: z.string(),
            address: z.string(),
            active: z.boolean(),
            removedFor: z.string().nullable(),
            capabilities: z.array(z.string()),
            endpoint: z.string(),
            issuedAt: z.int(),
            assigned: z.int(),
            answered: z.int(),
            unansweredInARow: z.int(),
            rosters: z.array(z.object({ capability: z.string(), place: z.int().nullable(), size: z.int() })),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  auditActuations: () =>
    z.object({
      auditActuations: z.object({
        nodes: z.array(
          z.object({
            hash: z.string(),
            operator: z.string(),
            auditedHire: z.string(),
            decision: z.string(),
            reasons: z.array(z.object({ code: z.string(), detail: z.string() })),
            block: z.int(),
            time: z.int(),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  signedRecord: () =>
    z.object({
      ledgerEntryByHash: z
        .object({ record: z.object({ body: z.unknown(), signature: z.string().nullable() }).nullable() })
        .nullable(),
    }),
  market: () =>
    z.object({
      market: z.object({
        counts: z.object({
          agents: z.int(),
          sellers: z.int(),
          listings: z.int(),
          capabilities: z.int(),
          clusters: z.int(),
          escrowsHeld: z.int(),
          heldUsdc: z.string(),
        }),
        window: z.object({
          hires: z.int(),
          weightedHires: z.number(),
          successRate: z.number().nullable(),
          volumeUsdc: z.string(),
        }),
        allTime: z.object({ hires: z.int(), volumeUsdc: z.string() }),
        series: z.object({
          from: z.string(),
          to: z.string(),
          days: z.array(
            z.object({
              day: z.string(),
              figures: z.object({
                hires: z.int(),
                successRate: z.number().nullable(),
                volumeUsdc: z.string(),
              }),
            }),
          ),
        }),
      }),
    }),
  capabilities: () =>
    z.object({
      capabilities: z.object({
        nodes: z.array(
          z.object({
            capability: z.string(),
            listings: z.int(),
            sellers: z.int(),
            lowestPriceUsdc: z.string().nullable(),
            medianPriceUsdc: z.string().nullable(),
            window: z.object({ hires: z.int(), successRate: z.number().nullable() }).nullable(),
          }),
        ),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    }),
  clusterGraph: () =>
    z.object({
      cluster: z
        .object({
          id: z.string(),
          kind: z.string(),
          size: z.int(),
          graph: z.object({
            nodes: z.array(
              z.object({
                address: z.string(),
                depth: z.int(),
                kind: z.string().nullable(),
                agent: z
                  .object({ trustTier: z.int(), last30dHireCount: z.number(), last30dHireCountRaw: z.int() })
                  .nullable(),
              }),
            ),
            edges: z.array(
              z.object({
                from: z.string(),
                to: z.string(),
                amountUsdc: z.string().nullable(),
                block: z.int(),
                time: z.int(),
                log: z.int(),
                reason: z.string(),
              }),
            ),
            signals: z.array(
              z.object({
                id: z.string(),
                signal: z.string(),
                funder: z.string(),
                members: z.array(z.string()),
                memberCount: z.int(),
                dropped: z.boolean(),
              }),
            ),
            isWhole: z.boolean(),
          }),
        })
        .nullable(),
    }),
};
