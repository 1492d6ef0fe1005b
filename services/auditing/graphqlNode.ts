import type { Address } from "tallystick-protocol/address";
import { parseUsdc } from "tallystick-protocol/amount";
import type { Hex } from "tallystick-protocol/hex";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { type Fetch, ServiceError } from "tallystick-sdk/requestService";
import { zeroAddress } from "viem";
import type { OpenAssignment, OperatorNode, OperatorRules, RolledBackEscrow } from "./operatorNode.ts";

/**
 * The most items of one page, and the most items and pages of one list. Open assignments and challenged audits leave
 * their lists, so a later round reads the further items. Auditors never leave their list, so further auditors are not
 * read. A page can be empty although more pages follow, because a node reads a limited number of rows for a page.
 */
const PAGE = 100;
const MAX_LISTED = 5_000;
const MAX_PAGES = 200;

/** The number of the latest rolled back hires that are checked. */
const MAX_ROLLED_BACK = 500;

const PAGED = "pageInfo { hasNextPage endCursor }";

/**
 * The GraphQL queries to a node. Any agent can offer itself, so only auditors with an assignment are listed. Otherwise a
 * crowd of offers would hide the auditors to whom something is owed. A test checks these queries against the schema.
 */
export const operatorQueries = {
  status: "query OperatorNodeStatus { meta { time blockedAtSegment { ledger } } }",
  rules: `query OperatorRules { params { auditArbiters audit {
    operators { address pool } fees { fromUsdc feeUsdc } } } }`,
  accounts: `query OperatorAccounts($operator: Address!, $first: Int!, $after: String) {
    page: auditors(where: { operator: $operator, assigned: true }, first: $first, after: $after) {
      nodes { address accruedUsdc paidUsdc } ${PAGED} } }`,
  endpoints: `query OperatorEndpoints($operator: Address!, $first: Int!, $after: String) {
    page: auditors(where: { operator: $operator, assigned: true }, first: $first, after: $after) {
      nodes { address endpoint } ${PAGED} } }`,
  open: `query OperatorAssignments($operator: Address!, $first: Int!, $after: String) {
    page: auditAssignments(where: { operator: $operator, open: true }, first: $first, after: $after) {
      nodes { auditedHire round attempt auditorAddress auditorType assignedAt due audit { capability amountUsdc } } ${PAGED} } }`,
  challenged: `query OperatorChallenged($operator: Address!, $first: Int!, $after: String) {
    page: audits(where: { operator: $operator, status: CHALLENGED }, first: $first, after: $after) {
      nodes { auditedHire sellerAddress capability closedTime } ${PAGED} } }`,
  rolledBack: `query OperatorRolledBack($operator: Address!, $first: Int!, $after: String) {
    page: audits(where: { operator: $operator, status: ROLLED_BACK }, first: $first, after: $after) {
      nodes { auditedHire } ${PAGED} } }`,
  escrow: `query OperatorEscrow($id: ID!) { escrow(id: $id) { id contract status hireId buyerAddress sellerAddress payee
    amountUsdc feeUsdc feeRecipient deadline arbiter } }`,
  entry:
    "query OperatorEntry($ledger: ID!, $seq: SafeInt!) { ledgerEntry(ledger: $ledger, seq: $seq) { record { time } } }",
} as const;

type Page<Node> = { page: { nodes: Node[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } };

type AccountNode = { address: Address; accruedUsdc: string; paidUsdc: string };
type AssignmentNode = {
  auditedHire: string;
  round: number;
  attempt: number;
  auditorAddress: Address;
  auditorType: string;
  assignedAt: number;
  due: number | null;
  audit: { capability: string | null; amountUsdc: string } | null;
};
type RulesAnswer = {
  params: {
    auditArbiters: Address[];
    audit: {
      operators: { address: Address; pool: Address }[];
      fees: { fromUsdc: string; feeUsdc: string }[];
    };
  } | null;
};
type EscrowNode = {
  id: Hex;
  contract: Address;
  status: string;
  hireId: Hex;
  buyerAddress: Address;
  sellerAddress: Address;
  payee: Address;
  amountUsdc: string;
  feeUsdc: string;
  feeRecipient: Address | null;
  deadline: number;
  arbiter: Address | null;
};

/**
 * Asks a node's public API what an operator must know. Use only a node that the operator trusts: its answers decide who is
 * paid.
 *
 * @throws every call may throw ServiceError
 */
export function createGraphqlNode(parameters: {
  baseUrl: string;
  operator: Address;
  fetch?: Fetch | undefined;
}): OperatorNode {
  const { baseUrl, operator, fetch } = parameters;
  /** The escrows that hold no money any more. */
  const settled = new Set<string>();

  const ask = async <Answer>(query: string, variables: object, signal?: AbortSignal): Promise<Answer> => {
    signal?.throwIfAborted();
    return await askGraphql<Answer>({ baseUrl, query, variables, fetch });
  };

  async function list<Node>(query: string, signal?: AbortSignal, most = MAX_LISTED): Promise<Node[]> {
    const nodes: Node[] = [];
    let after: string | null = null;
    // Without a limit, a node could send empty pages forever and say each time that more pages follow.
    for (let page = 0; page < MAX_PAGES && nodes.length < most; page++) {
      const asked = { operator, first: PAGE, after };
      const found: Page<Node>["page"] = (await ask<Page<Node>>(query, asked, signal)).page;
      nodes.push(...found.nodes);
      const next: string | null = found.pageInfo.endCursor;
      if (!found.pageInfo.hasNextPage || next === null) break;
      after = next;
    }
    return nodes.slice(0, most);
  }

  async function heldEscrow(id: string, signal?: AbortSignal): Promise<RolledBackEscrow | undefined> {
    if (settled.has(id)) return undefined;
    const { escrow } = await ask<{ escrow: EscrowNode | null }>(operatorQueries.escrow, { id }, signal);
    // A node that builds its index again may not know the escrow yet.
    if (escrow === null) return undefined;
    if (escrow.status === "HELD") return { id: escrow.id, escrow: escrow.contract, hire: hireOf(escrow) };
    settled.add(id);
    return undefined;
  }

  return {
    status: async (signal) => {
      type Meta = { meta: { time: number; blockedAtSegment: object | null } };
      const { meta } = await ask<Meta>(operatorQueries.status, {}, signal);
      return { time: meta.time, isBlocked: meta.blockedAtSegment !== null };
    },
    rules: async (signal) => rulesOf(await ask<RulesAnswer>(operatorQueries.rules, {}, signal), parameters),
    accounts: async (signal) =>
      (await list<AccountNode>(operatorQueries.accounts, signal)).map(
        ({ address, accruedUsdc, paidUsdc }) => ({
          auditor: address,
          accrued: parseUsdc(accruedUsdc),
          paid: parseUsdc(paidUsdc),
        }),
      ),
    openAssignments: async (signal) => {
      type Node = { address: Address; endpoint: string };
      const offers = await list<Node>(operatorQueries.endpoints, signal);
      const endpoints = new Map(offers.map(({ address, endpoint }) => [address, endpoint]));
      const nodes = await list<AssignmentNode>(operatorQueries.open, signal);
      return nodes.flatMap((it) => assignmentOf(it, endpoints.get(it.auditorAddress)));
    },
    challenged: async (signal) => {
      type Node = {
        auditedHire: string;
        sellerAddress: Address;
        capability: string | null;
        closedTime: number;
      };
      const nodes = await list<Node>(operatorQueries.challenged, signal);
      return nodes.map(({ auditedHire: hire, sellerAddress: seller, capability, closedTime: time }) => ({
        ...{ hire, seller, capability, time },
      }));
    },
    rolledBackEscrows: async (signal) => {
      type Node = { auditedHire: string };
      const nodes = await list<Node>(operatorQueries.rolledBack, signal, MAX_ROLLED_BACK);
      const held: RolledBackEscrow[] = [];
      // The id of a hire contains a dash if the hire was paid directly by a transfer. Nobody holds such money any more.
      for (const { auditedHire: id } of nodes.filter((it) => !it.auditedHire.includes("-"))) {
        const escrow = await heldEscrow(id, signal);
        if (escrow !== undefined) held.push(escrow);
      }
      return held;
    },
    anchoredAt: async ({ ledger, index }, signal) => {
      type Entry = { ledgerEntry: { record: { time: number } | null } | null };
      const variables = { ledger, seq: index };
      const { ledgerEntry } = await ask<Entry>(operatorQueries.entry, variables, signal);
      return ledgerEntry?.record?.time;
    },
  };
}

function rulesOf(
  { params }: RulesAnswer,
  { baseUrl, operator }: { baseUrl: string; operator: Address },
): OperatorRules {
  if (params === null) throw noParams(baseUrl);
  const { operators, fees } = params.audit;
  return {
    pool: operators.find(({ address }) => address === operator)?.pool ?? null,
    auditArbiters: params.auditArbiters,
    fees: fees.map(({ fromUsdc, feeUsdc }) => ({ from: parseUsdc(fromUsdc), fee: parseUsdc(feeUsdc) })),
  };
}

/** Assignments that the operator judges itself are left out, because nobody can be hired for them. */
function assignmentOf(node: AssignmentNode, endpoint: string | undefined): OpenAssignment[] {
  const { auditedHire: hire, round, attempt, auditorAddress: auditor, assignedAt: time, due, audit } = node;
  if (node.auditorType !== "AUDITOR" || endpoint === undefined || audit === null || due === null) return [];
  const { capability, amountUsdc } = audit;
  const amount = parseUsdc(amountUsdc);
  return [{ hire, round, attempt, auditor, endpoint, capability: capability ?? "", amount, time, due }];
}

function hireOf(escrow: EscrowNode): RolledBackEscrow["hire"] {
  return {
    hireId: escrow.hireId,
    buyer: escrow.buyerAddress,
    seller: escrow.sellerAddress,
    payee: escrow.payee,
    amount: parseUsdc(escrow.amountUsdc),
    fee: parseUsdc(escrow.feeUsdc),
    feeRecipient: escrow.feeRecipient ?? zeroAddress,
    deadline: BigInt(escrow.deadline),
    arbiter: escrow.arbiter ?? zeroAddress,
  };
}

function noParams(baseUrl: string): ServiceError {
  return new ServiceError({
    code: "no_params",
    message: `${baseUrl} has no parameters yet.`,
    status: 503,
    hint: "Wait until the node has derived its first tick.",
  });
}
