import { isDeepStrictEqual } from "node:util";
import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import { TallystickError } from "tallystick-protocol/errors";
import { OWN_CONNECTION } from "../processes/ownConnection.ts";
import { waitUntil } from "../processes/waitUntil.ts";
import { actors, agents, nameOf } from "./actors.ts";
import {
  EXPECTED_EARNED,
  EXPECTED_ENTRIES,
  EXPECTED_ESCROWS,
  EXPECTED_HIRES,
  type ExpectedAgent,
  type ExpectedAudit,
  type ExpectedSla,
  expectedAgents,
  expectedAudits,
  expectedSlas,
} from "./expectations.ts";

/** An agent as GraphQL returns it. */
export type AgentAnswer = ExpectedAgent & { address: string; clusterId: string | null };

/** The state of a node, as GraphQL returns it. */
export type MetaAnswer = {
  block: number;
  indexedBlock: number;
  digest: string | null;
  ledgers: { id: string; size: number; root: string }[];
  blockedAtSegment: { reason: string } | null;
};

/** All that the demo reads back. */
export type Answer = {
  meta: MetaAnswer;
  agents: { nodes: AgentAnswer[] };
  hires: { nodes: { id: string }[] };
  escrows: { nodes: { status: string }[] };
  clusters: { nodes: { id: string; size: number; members: { nodes: { address: string }[] } }[] };
  audits: { nodes: AuditAnswer[] };
  agentsByAddress: { address: string; sla: SlaAnswer | null }[];
  auditors: { nodes: { address: string; accruedUsdc: string; paidUsdc: string }[] };
};

/** An SLA as GraphQL returns it. */
export type SlaAnswer = {
  overallStatus: string;
  suspendedUntil: number | null;
  breaches: { nodes: { metric: string; value: number; status: string; steps: { step: string }[] }[] };
};

/** An audit as GraphQL returns it. */
export type AuditAnswer = {
  auditedHire: string;
  sellerAddress: string;
  cause: string;
  status: string;
  isRefundFalse: boolean;
  hire: { outcome: string; evidence: string } | null;
  rounds: { attempts: { auditorAddress: string; verdict: string | null }[] }[];
};

const META = "meta { block indexedBlock digest ledgers { id size root } blockedAtSegment { reason } }";

const EVERYTHING = `{
  ${META}
  agents(first: 50) { nodes {
    address last30dHireCount last30dHireCountRaw successRate last24hVolumeUsdc refundRate trustTier
    clusterId clusterSize distinctBuyers hiresBought silentTimeoutRate
  } }
  hires(first: 100) { nodes { id } }
  escrows(first: 50) { nodes { status } }
  clusters(first: 10) { nodes { id size members(first: 10) { nodes { address } } } }
}`;

const AUDITS = `{
  audits(first: 10) { nodes {
    auditedHire sellerAddress cause status isRefundFalse hire { outcome evidence }
    rounds { attempts { auditorAddress verdict } }
  } }
  auditors(first: 10) { nodes { address accruedUsdc paidUsdc } }
}`;

const SLAS = `{
  agentsByAddress(addresses: ${JSON.stringify([...expectedSlas.keys()])}) {
    address sla { overallStatus suspendedUntil breaches(first: 5) { nodes { metric value status steps { step } } } }
  }
}`;

/** Sends a GraphQL query to a node. */
export async function askGraphql<T>(url: string, query: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...OWN_CONNECTION },
    body: JSON.stringify({ query }),
    ...(signal && { signal }),
  });
  const { data, errors } = (await response.json()) as { data?: T; errors?: { message: string }[] };
  if (errors || !data)
    throw new Error(`GraphQL: ${errors?.map((it) => it.message).join("; ") ?? response.status}`);
  return data;
}

/** The state that the node must reach before its answers cover the whole story. */
export type Target = {
  block: number;
  ledger: string;
  size: number;
  root: string;
  /** How many auditors took their fee when they were hired. It depends on the draws. */
  paidBefore: number;
};

/**
 * Waits until the node has derived everything up to a block that is a tick, and the whole ledger.
 *
 * @throws TallystickError `wait_timeout`, which says how far the node is
 */
export async function untilCaughtUp(url: string, target: Target, signal: AbortSignal): Promise<MetaAnswer> {
  return await waitUntil(
    async (limit) => {
      const { meta } = await askGraphql<{ meta: MetaAnswer }>(url, `{ ${META} }`, limit);
      const ledger = meta.ledgers.find(({ id }) => id === target.ledger);
      if (meta.blockedAtSegment) throw new Error(`it waits for entries: ${meta.blockedAtSegment.reason}`);
      if (meta.block === target.block && ledger?.size === target.size && ledger.root === target.root)
        return meta;
      const stands = `at tick ${meta.block} of ${target.block}, ${ledger?.size ?? 0} of ${target.size} entries`;
      throw new Error(`it is ${stands}`);
    },
    { what: "the indexer to catch up", withinMs: 240_000, signal },
  );
}

/** Reads everything back and compares it with the expectations. */
export async function readBack(url: string, target: Target, signal?: AbortSignal): Promise<Answer> {
  const answer = {
    ...(await askGraphql<Answer>(url, EVERYTHING, signal)),
    ...(await askGraphql<Answer>(url, AUDITS, signal)),
    ...(await askGraphql<Answer>(url, SLAS, signal)),
  };
  const wrong = differences(answer, target);
  if (wrong.length === 0) return answer;
  throw new TallystickError({
    code: "demo_mismatch",
    message: `The node's answers differ from the expected ones:\n${wrong.map((it) => `    ${it}`).join("\n")}`,
    hint: "A rule of the derivation or the story changed: see scripts/demo/expectations.ts.",
    details: wrong,
  });
}

/** The differences between an answer and the expectations. Empty if there is none. */
export function differences(answer: Answer, target: Target): string[] {
  const wrong: string[] = [];
  const expect = (what: string, actual: unknown, expected: unknown) => {
    if (isDeepStrictEqual(actual, expected)) return;
    wrong.push(`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  const found = new Map(answer.agents.nodes.map((agent) => [agent.address, agent]));
  expect("the list of agents", [...found.keys()].map(nameOf).sort(), agents.map(({ name }) => name).sort());
  for (const [address, expected] of expectedAgents) {
    const agent = found.get(address);
    if (!agent) continue;
    for (const field of Object.keys(expected) as (keyof ExpectedAgent)[]) {
      expect(`${nameOf(address)}'s ${field}`, agent[field], expected[field]);
    }
  }
  const [cluster, ...others] = answer.clusters.nodes;
  expect("the number of other clusters", others.length, 0);
  expect("the cluster's members", cluster?.members.nodes.map((it) => it.address).sort(), ring());
  for (const { address } of actors.ring) {
    expect(`${nameOf(address)}'s cluster`, found.get(address)?.clusterId, cluster?.id ?? "missing");
  }
  expect("the number of hires", answer.hires.nodes.length, EXPECTED_HIRES);
  expect(
    "what became of the escrows",
    countBy(answer.escrows.nodes.map((it) => it.status)),
    EXPECTED_ESCROWS,
  );
  expect("the ledger's size", target.size, EXPECTED_ENTRIES + target.paidBefore);
  for (const [seller, audit] of expectedAudits)
    expect(`the audit of ${nameOf(seller)}'s hire`, toldOf(answer, seller), audit);
  expect("the number of audits", answer.audits.nodes.length, expectedAudits.size);
  for (const field of ["accruedUsdc", "paidUsdc"] as const) {
    const sum = answer.auditors.nodes.reduce((sum, it) => sum + parseUsdc(it[field]), 0n);
    expect(`the auditors' ${field}`, formatUsdc(sum), formatUsdc(EXPECTED_EARNED));
  }
  for (const [agent, sla] of expectedSlas)
    expect(
      `${nameOf(agent)}'s SLA`,
      slasOf(answer).find(({ address }) => address === agent),
      { address: agent, ...sla },
    );
  const { ledger: id, size, root } = target;
  expect("the ledger", answer.meta.ledgers, [{ id, size, root }]);
  expect("the tick", answer.meta.block, target.block);
  return wrong;
}

/** The audit of a seller's hire, as the node reports it, in the form of the expectations. */
function toldOf({ audits }: Answer, seller: string): ExpectedAudit | undefined {
  const audit = audits.nodes.find(({ sellerAddress }) => sellerAddress === seller);
  if (audit === undefined) return undefined;
  const { cause, status, isRefundFalse, hire, rounds } = audit;
  const verdicts = rounds.flatMap(({ attempts }) => attempts.map(({ verdict }) => verdict ?? "none"));
  const { outcome = "none", evidence = "none" } = hire ?? {};
  return { cause, status, isRefundFalse, outcome, evidence, verdicts };
}

/** The state of each SLA, with the steps of its breaches by name. */
export function slasOf({ agentsByAddress }: Answer): ({ address: string } & ExpectedSla)[] {
  return agentsByAddress.flatMap(({ address, sla }) => {
    if (sla === null) return [];
    const breaches = sla.breaches.nodes.map(({ steps, ...breach }) => ({
      ...breach,
      steps: steps.map(({ step }) => step),
    }));
    return [{ address, ...sla, breaches }];
  });
}

function ring(): string[] {
  return actors.ring.map(({ address }) => address).sort();
}

function countBy(values: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of [...values].sort()) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
