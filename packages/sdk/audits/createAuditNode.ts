import { addressSchema } from "tallystick-protocol/address";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { auditedHireSchema } from "tallystick-protocol/records/auditedHireSchema";
import * as z from "zod";
import { abortable } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import { listForm } from "../listForm.ts";
import { createQueryClient } from "../query/createQueryClient.ts";
import { readServiceAnswer } from "../readServiceAnswer.ts";
import { type Fetch, ServiceError } from "../requestService.ts";
import { usdcForm } from "../usdcForm.ts";
import { type Assignment, type AuditNode, type BlockReader, MAX_LISTED } from "./assignment.ts";

/**
 * How many audits one page has, and how many pages of one list are read at most. A node reads a limited
 * number of rows for a page, so a page can be empty although more follow.
 */
const PAGE = 20;
const MAX_PAGES = 100;

/** The most listings of an agent that are read, and the most origins that are returned. */
const MAX_LISTINGS = 100;
const MAX_ORIGINS = 4;

/** How long an answer of the chain about finality is used, in milliseconds. */
const FINAL_MS = 10_000;

/** The most rounds of an audit, and the most attempts of a round. The name of an assignment has two digits for each. */
const MAX_ORDINAL = 99;
const ordinal = z.int().min(1).max(MAX_ORDINAL);
const position = z.int().min(0);
/** Old receipts have no hashes of params and result, and old ticks have no hash. */
const hash = hash32Schema.nullish();

const attemptForm = z.object({
  round: ordinal,
  attempt: ordinal,
  operator: addressSchema,
  auditorAddress: addressSchema,
  assignedBlock: position,
  assignedAt: position,
  due: position.nullish(),
  tickHash: hash,
  verdict: z.string().nullish(),
});

const auditFields = {
  auditedHire: auditedHireSchema,
  status: z.string(),
  // Both are 0 before the first round.
  round: z.int().min(0).max(MAX_ORDINAL),
  attempt: z.int().min(0).max(MAX_ORDINAL),
  capability: capabilitySchema.nullish(),
  verificationVersion: z.string(),
  sellerAddress: addressSchema,
  buyerAddress: addressSchema,
  amountUsdc: usdcForm,
  paramsHash: hash,
  resultHash: hash,
  // The seller chose this text, and it may be no hash.
  receipt: z.object({ hireId: z.string() }).nullish(),
};
const openAuditForm = z.object(auditFields);
const auditForm = z.object({
  ...auditFields,
  rounds: listForm(z.object({ attempts: listForm(attemptForm, MAX_ORDINAL) }), MAX_ORDINAL),
});

const pageForm = <Node extends z.ZodType>(node: Node) =>
  z.object({
    nodes: listForm(node, PAGE),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  });

const auditAnswerForm = z.object({ audit: auditForm.nullish() });
const auditsAnswerForm = z.object({ audits: pageForm(auditForm) });
const openAuditsAnswerForm = z.object({
  auditAssignments: pageForm(attemptForm.extend({ audit: openAuditForm.nullish() })),
});
const listingsAnswerForm = z.object({
  listings: listForm(
    z.object({ capability: z.string(), endpoint: z.string(), retired: z.boolean() }),
    MAX_LISTINGS,
  ),
});

type Audit = z.output<typeof openAuditForm>;
type Attempt = z.output<typeof attemptForm>;
type AuditWithRounds = z.output<typeof auditForm>;
type Page<Node> = {
  nodes: Node[];
  pageInfo: { hasNextPage: boolean; endCursor?: string | null | undefined };
};

/**
 * Asks a node about open audits. The form of each answer is checked, because an auditor signs a verdict by it, and an
 * agent shows its work.
 *
 * @param parameters.baseUrl the node's address
 * @param parameters.client reads the chain: the chain says what is final, not the node. Only auditors need it;
 * `isFinal` throws ChainError without it
 * @throws every call may throw ServiceError (its code is `unreadable_answer` if the answer has another form), or the
 * signal's reason
 */
export function createAuditNode(parameters: {
  baseUrl: string;
  client?: BlockReader | undefined;
  fetch?: Fetch | undefined;
}): AuditNode {
  const { baseUrl, client, fetch } = parameters;
  const { graphql, listings: listingsOf } = createQueryClient({ baseUrl, ...(fetch && { fetch }) });
  const finalBlock = client && createFinalBlock(client);

  return {
    openOfHire: async (hire, signal) => {
      const answer = await graphql.audit({ id: hire }, { signal });
      const { audit } = readServiceAnswer(auditAnswerForm, answer, told("an audit"));
      return audit ? openIn(audit) : [];
    },
    openOfAuditor: async (auditor, signal) => {
      const nodes = await everyPage(async (page) => {
        const where = { auditor, open: true };
        const answer = await graphql.openAudits({ where, ...page }, { signal });
        return readServiceAnswer(openAuditsAnswerForm, answer, told("an auditor's audits")).auditAssignments;
      });
      return nodes.flatMap(({ audit, ...attempt }) =>
        audit && isOpen(audit, attempt) ? asAssignment(audit, attempt) : [],
      );
    },
    openOfSeller: async (seller, signal) => {
      const open: Assignment[] = [];
      // While an audit waits for another auditor, the verdict of the last auditor still counts.
      for (const status of ["ASSIGNED", "ASSIGNING"] as const) {
        const audits = await everyPage(async (page) => {
          const answer = await graphql.audits({ where: { seller, status }, ...page }, { signal });
          return readServiceAnswer(auditsAnswerForm, answer, told("a seller's audits")).audits;
        });
        open.push(...audits.flatMap(openIn));
      }
      return open;
    },
    isFinal: async ({ block, tickHash }, signal) => {
      if (client === undefined || finalBlock === undefined) throw noChain();
      const wait = <T>(work: Promise<T>) => (signal === undefined ? work : abortable(work, signal));
      if (tickHash === null || (await wait(finalBlock())) < BigInt(block)) return false;
      const { hash } = await wait(client.getBlock({ blockNumber: BigInt(block) }));
      return hash === tickHash;
    },
    originsOf: async (agent, capability, signal) => {
      const page = { limit: MAX_LISTINGS };
      const answer = await listingsOf(agent, page, signal && { signal }).catch((error: unknown) => {
        // A buyer without a counted hire is not an agent yet.
        if (error instanceof ServiceError && error.code === "unknown_agent") return { listings: [] };
        throw error;
      });
      const { listings } = readServiceAnswer(listingsAnswerForm, answer, told("an agent's listings"));
      const offers = listings.toSorted((a, b) => rank(b, capability) - rank(a, capability));
      const origins = offers.flatMap(({ endpoint }) =>
        URL.canParse(endpoint) ? [new URL(endpoint).origin] : [],
      );
      return [...new Set(origins)].slice(0, MAX_ORIGINS);
    },
  };
}

/** Says in an error which answer of the node was wrong. */
const told = (about: string) => ({ what: `The node's answer about ${about}` });

async function everyPage<Node>(
  ask: (page: { first: number; after: string | null }) => Promise<Page<Node>>,
): Promise<Node[]> {
  const nodes: Node[] = [];
  let after: string | null = null;
  // A bad node could send empty pages forever, each with a link to the next.
  for (let page = 0; page < MAX_PAGES && nodes.length < MAX_LISTED; page++) {
    const { nodes: some, pageInfo }: Page<Node> = await ask({ first: PAGE, after });
    nodes.push(...some);
    after = pageInfo.endCursor ?? null;
    if (!pageInfo.hasNextPage || after === null) break;
  }
  return nodes.slice(0, MAX_LISTED);
}

/** The last final block. An answer of the chain is used for {@link FINAL_MS}. */
function createFinalBlock(client: BlockReader): () => Promise<bigint> {
  let last: { at: number; block: Promise<bigint> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > FINAL_MS) {
      const block = client.getBlock({ blockTag: "finalized" }).then(({ number }) => number ?? 0n);
      last = { at: performance.now(), block };
      block.catch(() => {
        last = undefined;
      });
    }
    return last.block;
  };
}

function rank(listing: { capability: string; retired: boolean }, capability: string | null): number {
  return (listing.capability === capability ? 2 : 0) + (listing.retired ? 0 : 1);
}

/**
 * The assignment that an audit waits for: that of its last round and attempt, if it has no verdict. Returns a list
 * of at most one.
 */
function openIn(audit: AuditWithRounds): Assignment[] {
  const attempts = audit.rounds.flatMap(({ attempts }) => attempts);
  return attempts.filter((attempt) => isOpen(audit, attempt)).map((attempt) => asAssignment(audit, attempt));
}

function isOpen(audit: Audit, { round, attempt, verdict }: Attempt): boolean {
  const isAsked = audit.status === "ASSIGNED" || audit.status === "ASSIGNING";
  return isAsked && verdict == null && audit.round === round && audit.attempt === attempt;
}

function asAssignment(audit: Audit, it: Attempt): Assignment {
  return {
    hire: audit.auditedHire,
    round: it.round,
    attempt: it.attempt,
    operator: it.operator,
    auditor: it.auditorAddress,
    seller: audit.sellerAddress,
    buyer: audit.buyerAddress,
    capability: audit.capability ?? null,
    hireId: hashOf(audit.receipt?.hireId),
    paramsHash: audit.paramsHash ?? null,
    resultHash: audit.resultHash ?? null,
    verificationVersion: audit.verificationVersion,
    amount: String(audit.amountUsdc),
    block: it.assignedBlock,
    time: it.assignedAt,
    tickHash: it.tickHash ?? null,
    due: it.due ?? it.assignedAt,
  };
}

function hashOf(text: string | undefined): Hex | null {
  return isHex(text, 32) ? text : null;
}

function noChain(): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message: "Nothing says which blocks are final.",
    hint: "Give createAuditNode a `client` of the chain.",
  });
}
