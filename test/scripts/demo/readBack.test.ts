import { expect } from "chai";
import { actors, agents } from "../../../scripts/demo/actors.ts";
import {
  EXPECTED_ENTRIES,
  EXPECTED_ESCROWS,
  EXPECTED_HIRES,
  expectedAgents,
  expectedAudits,
  expectedSlas,
} from "../../../scripts/demo/expectations.ts";
import { type Answer, differences } from "../../../scripts/demo/readBack.ts";

const target = { block: 70, ledger: "0x01", size: EXPECTED_ENTRIES + 2, root: "0x02", paidBefore: 2 };

/** The answer that the story must give. */
function perfect(): Answer {
  const inRing = new Set<string>(actors.ring.map(({ address }) => address));
  return {
    meta: {
      block: 70,
      indexedBlock: 71,
      digest: "0x03",
      ledgers: [{ id: "0x01", size: EXPECTED_ENTRIES + 2, root: "0x02" }],
      blockedAtSegment: null,
    },
    agents: {
      nodes: agents.map(({ address }) => ({
        address,
        clusterId: inRing.has(address) ? "clst_A" : null,
        ...expectedAgents.get(address)!,
      })),
    },
    hires: { nodes: Array.from({ length: EXPECTED_HIRES }, (_, id) => ({ id: String(id) })) },
    escrows: {
      nodes: Object.entries(EXPECTED_ESCROWS).flatMap(([status, count]) =>
        Array.from({ length: count }, () => ({ status })),
      ),
    },
    audits: {
      nodes: [...expectedAudits].map(([sellerAddress, { outcome, evidence, verdicts, ...audit }]) => ({
        ...{ ...audit, auditedHire: "0x06", sellerAddress, hire: { outcome, evidence } },
        rounds: verdicts.map((verdict) => ({ attempts: [{ auditorAddress: "0x04", verdict }] })),
      })),
    },
    agentsByAddress: [...expectedSlas].map(([address, { breaches, ...sla }]) => ({
      address,
      sla: {
        ...sla,
        breaches: {
          nodes: breaches.map((it) => ({ ...it, steps: it.steps.map((step) => ({ step })) })),
        },
      },
    })),
    auditors: {
      nodes: [
        { address: "0x04", accruedUsdc: "0.04", paidUsdc: "0.04" },
        { address: "0x05", accruedUsdc: "0.005", paidUsdc: "0.005" },
      ],
    },
    clusters: {
      nodes: [{ id: "clst_A", size: 5, members: { nodes: actors.ring.map(({ address }) => ({ address })) } }],
    },
  };
}

describe("scripts/demo/readBack", () => {
  it("finds no fault in the expected answer", () => {
    expect(differences(perfect(), target)).to.deep.equal([]);
  });

  it("names every wrong number", () => {
    const answer = perfect();
    const leader = answer.agents.nodes.find(({ address }) => address === actors.ring[0].address)!;
    leader.last30dHireCount = 20;
    leader.trustTier = 2;
    answer.hires.nodes.pop();
    expect(differences(answer, target)).to.deep.equal([
      "ring-1's last30dHireCount is 20, not 4",
      "ring-1's trustTier is 2, not 0",
      "the number of hires is 50, not 51",
    ]);
  });

  it("notices an audit with another result, a missing audit, and an unpaid auditor", () => {
    const answer = perfect();
    answer.audits.nodes[0]!.status = "CHALLENGED";
    answer.audits.nodes.pop();
    answer.auditors.nodes[1]!.paidUsdc = "0";
    const found = differences(answer, target).join("\n");
    expect(found)
      .to.contain("mirage's hire")
      .and.contain("pewter's hire")
      .and.contain("the number of audits is 2, not 3")
      .and.contain("the auditors' paidUsdc");
  });

  it("notices a missing agent, a stranger in the cluster, and another root", () => {
    const answer = perfect();
    answer.agents.nodes = answer.agents.nodes.filter(({ address }) => address !== actors.bolt.address);
    answer.clusters.nodes[0]!.members.nodes.push({ address: actors.acme.address });
    answer.meta.ledgers[0]!.root = "0xff";
    const found = differences(answer, target).join("\n");
    expect(found).to.contain("the list of agents").and.contain("the cluster's members").and.contain('"0xff"');
  });
});
