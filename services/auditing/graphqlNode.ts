import { type Address, addressSchema } from "tallystick-protocol/address";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import { auditedHireSchema } from "tallystick-protocol/records/auditedHireSchema";
import { MAX_AUDIT_FEES, MAX_AUDIT_OPERATORS } from "tallystick-protocol/records/auditParams";
import { MAX_ENDPOINT_LENGTH } from "tallystick-protocol/records/listing";
import { listForm } from "tallystick-sdk/listForm";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { type Fetch, ServiceError } from "tallystick-sdk/requestService";
import { usdcForm } from "tallystick-sdk/usdcForm";
import { zeroAddress } from "viem";
import { z } from "zod";
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
  status:
    "query OperatorNodeStatus { meta { time blockedAtSegment { ledger } blockedAtTransfers { block } } }",
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

const seconds = z.int().min(0);
/** The name of an assignment has at most two digits for its round, and for its attempt. */
const ordinal = z.int().min(1).max(99);

const statusForm = z.object({
  meta: z.object({
    time: seconds,
    blockedAtSegment: z.object({ ledger: z.string() }).nullable(),
    blockedAtTransfers: z.object({ block: z.int().min(0) }).nullable(),
  }),
});

const rulesForm = z.object({
  params: z
    .object({
      auditArbiters: z.array(addressSchema),
      audit: z.object({
        operators: listForm(z.object({ address: addressSchema, pool: addressSchema }), MAX_AUDIT_OPERATORS),
        fees: listForm(z.object({ fromUsdc: usdcForm, feeUsdc: usdcForm }), MAX_AUDIT_FEES).refine((bands) =>
          bands.every(({ fromUsdc }, n) => n === 0 || fromUsdc > (bands[n - 1]?.fromUsdc ?? 0n)),
        ),
      }),
    })
    .nullable(),
});

const pageForm = <Row extends z.ZodType>(row: Row) =>
  z.object({
    page: z.object({
      nodes: listForm(row, PAGE),
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
    }),
  });

const pageForms = {
  accounts: pageForm(z.object({ address: addressSchema, accruedUsdc: usdcForm, paidUsdc: usdcForm })),
  // A stranger chose the endpoint. Only the hire of this auditor checks it, so a bad endpoint spoils only this hire.
  endpoints: pageForm(z.object({ address: addressSchema, endpoint: z.string().max(MAX_ENDPOINT_LENGTH) })),
  open: pageForm(
    z.object({
      auditedHire: auditedHireSchema,
      round: ordinal,
      attempt: ordinal,
      auditorAddress: addressSchema,
      auditorType: z.string(),
      assignedAt: seconds,
      due: seconds.nullable(),
      audit: z.object({ capability: capabilitySchema.nullable(), amountUsdc: usdcForm }).nullable(),
    }),
  ),
  challenged: pageForm(
    z.object({
      auditedHire: auditedHireSchema,
      sellerAddress: addressSchema,
      capability: capabilitySchema.nullable(),
      closedTime: seconds,
    }),
  ),
  rolledBack: pageForm(z.object({ auditedHire: auditedHireSchema })),
};

type Page<Row> = {
  page: { nodes: Row[]; pageInfo: { hasNextPage: boolean; endCursor?: string | null | undefined } };
};
type AssignmentRow = z.output<typeof pageForms.open>["page"]["nodes"][number];

const escrowFields = z.object({
  id: hash32Schema,
  contract: addressSchema,
  status: z.enum(["HELD", "RELEASED", "REFUNDED", "TIMED_OUT"]),
  hireId: hash32Schema,
  buyerAddress: addressSchema,
  sellerAddress: addressSchema,
  payee: addressSchema,
  amountUsdc: usdcForm,
  feeUsdc: usdcForm,
  feeRecipient: addressSchema.nullable(),
  deadline: seconds,
  arbiter: addressSchema.nullable(),
});

/** @param id the answer must be about this escrow */
const escrowForm = (id: string) =>
  z.object({
    escrow: escrowFields.refine((escrow) => escrow.id === id, { path: ["id"] }).nullable(),
  });

const entryForm = z.object({
  ledgerEntry: z.object({ record: z.object({ time: seconds }).nullable() }).nullable(),
});

/**
 * Asks a node's public API what an operator must know. Use only a node that the operator trusts: its answers decide who is
 * paid. The form of each answer is checked. If a part of an answer is wrong, nothing of the answer is used.
 *
 * @throws every call may throw ServiceError (its code is `unreadable_answer` if the answer has another form), or the
 * signal's reason
 */
export function createGraphqlNode(parameters: {
  baseUrl: string;
  operator: Address;
  fetch?: Fetch | undefined;
}): OperatorNode {
  const { baseUrl, operator, fetch } = parameters;

  async function ask<Form extends z.ZodType>(
    name: keyof typeof operatorQueries,
    form: Form,
    variables: object,
    signal: AbortSignal | undefined,
  ): Promise<z.output<Form>> {
    const query = operatorQueries[name];
    const answer = await askGraphql({ baseUrl, query, variables, fetch, signal });
    return readServiceAnswer(form, answer, {
      what: `The node's answer to the query "${name}"`,
      hint: "Nothing was paid by this answer. Check AUDIT_NODE_URL, and that the node has the version of this process.",
    });
  }

  async function list<Row>(
    name: keyof typeof pageForms,
    form: z.ZodType<Page<Row>>,
    signal: AbortSignal | undefined,
    most = MAX_LISTED,
  ): Promise<Row[]> {
    const rows: Row[] = [];
    let after: string | null = null;
    // Without a limit, a node could send empty pages forever and say each time that more pages follow.
    for (let n = 0; n < MAX_PAGES && rows.length < most; n++) {
      const { page }: Page<Row> = await ask(name, form, { operator, first: PAGE, after }, signal);
      rows.push(...page.nodes);
      after = page.pageInfo.endCursor ?? null;
      if (!page.pageInfo.hasNextPage || after === null) break;
    }
    return rows.slice(0, most);
  }

  /** The escrows whose last answer failed, in the order in which they failed. They are asked after all others. */
  const failed = new Set<string>();

  return {
    status: async (signal) => statusOf(await ask("status", statusForm, {}, signal)),
    rules: async (signal) => rulesOf(await ask("rules", rulesForm, {}, signal), parameters),
    accounts: async (signal) => {
      const rows = await list("accounts", pageForms.accounts, signal);
      return rows.map((row) => ({ auditor: row.address, accrued: row.accruedUsdc, paid: row.paidUsdc }));
    },
    openAssignments: async (signal) => {
      const offers = await list("endpoints", pageForms.endpoints, signal);
      const endpoints = new Map(offers.map(({ address, endpoint }) => [address, endpoint]));
      const rows = await list("open", pageForms.open, signal);
      return rows.flatMap((it) => assignmentOf(it, endpoints.get(it.auditorAddress)));
    },
    challenged: async (signal) => {
      const rows = await list("challenged", pageForms.challenged, signal);
      return rows.map(({ auditedHire: hire, sellerAddress: seller, capability, closedTime: time }) => ({
        ...{ hire, seller, capability, time },
      }));
    },
    rolledBackEscrows: async (over, signal) => {
      const rows = await list("rolledBack", pageForms.rolledBack, signal, MAX_ROLLED_BACK);
      const [held, settled]: [RolledBackEscrow[], { id: string }[]] = [[], []];
      // The id of a hire contains a dash if the hire was paid directly by a transfer. Nobody holds such money any more.
      const ids = rows.map((row) => row.auditedHire).filter((id) => !id.includes("-") && !over.has(id));
      const unread = new Set(ids);
      for (const id of failed) if (!unread.has(id)) failed.delete(id);
      let failure: ServiceError | undefined;
      for (const id of [...ids.filter((it) => !failed.has(it)), ...failed]) {
        try {
          const { escrow } = await ask("escrow", escrowForm(id), { id }, signal);
          unread.delete(id);
          failed.delete(id);
          // A node that builds its index again may not know the escrow yet.
          if (escrow === null) continue;
          if (escrow.status !== "HELD") settled.push({ id });
          else held.push({ id: escrow.id, escrow: escrow.contract, hire: hireOf(escrow) });
        } catch (error) {
          // One escrow that cannot be read must not delay the refunds of the others.
          if (!(error instanceof ServiceError)) throw error;
          failure ??= error;
          failed.delete(id);
          failed.add(id);
          // If the node does not answer at all, this round asks no more. The next round begins with the other escrows.
          if (error.code !== "unreadable_answer" && error.status !== 200) break;
        }
      }
      return { held, settled, unread, ...(failure && { reason: failure }) };
    },
    anchoredAt: async ({ ledger, index }, signal) => {
      const { ledgerEntry } = await ask("entry", entryForm, { ledger, seq: index }, signal);
      return ledgerEntry?.record?.time;
    },
  };
}

function statusOf({ meta }: z.output<typeof statusForm>): Awaited<ReturnType<OperatorNode["status"]>> {
  return {
    time: meta.time,
    isBlocked: meta.blockedAtSegment !== null || meta.blockedAtTransfers !== null,
  };
}

function rulesOf(
  { params }: z.output<typeof rulesForm>,
  { baseUrl, operator }: { baseUrl: string; operator: Address },
): OperatorRules {
  if (params === null) throw noParams(baseUrl);
  const { operators, fees } = params.audit;
  return {
    pool: operators.find(({ address }) => address === operator)?.pool ?? null,
    auditArbiters: params.auditArbiters,
    fees: fees.map(({ fromUsdc, feeUsdc }) => ({ from: fromUsdc, fee: feeUsdc })),
  };
}

/** Assignments that the operator judges itself are left out, because nobody can be hired for them. */
function assignmentOf(row: AssignmentRow, endpoint: string | undefined): OpenAssignment[] {
  const { auditedHire: hire, round, attempt, auditorAddress: auditor, assignedAt: time, due, audit } = row;
  if (row.auditorType !== "AUDITOR" || endpoint === undefined || audit === null || due === null) return [];
  const { capability, amountUsdc: amount } = audit;
  return [{ hire, round, attempt, auditor, endpoint, capability: capability ?? "", amount, time, due }];
}

function hireOf(escrow: z.output<typeof escrowFields>): RolledBackEscrow["hire"] {
  return {
    hireId: escrow.hireId,
    buyer: escrow.buyerAddress,
    seller: escrow.sellerAddress,
    payee: escrow.payee,
    amount: escrow.amountUsdc,
    fee: escrow.feeUsdc,
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
