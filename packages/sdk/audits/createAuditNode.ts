import type { Address } from "tallystick-protocol/address";
import { parseUsdc } from "tallystick-protocol/amount";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { ChainError } from "../errors.ts";
import type { AuditsAnswer, OpenAuditsAnswer } from "../query/createGraphqlClient.ts";
import { createQueryClient } from "../query/createQueryClient.ts";
import { type Fetch, ServiceError } from "../requestService.ts";
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

type OpenNode = OpenAuditsAnswer["auditAssignments"]["nodes"][number];
type Audit = NonNullable<OpenNode["audit"]>;
type Attempt = Omit<OpenNode, "audit">;
type AuditWithRounds = AuditsAnswer["audits"]["nodes"][number];
type Page<Node> = { nodes: Node[]; pageInfo: { hasNextPage: boolean; endCursor?: string | null } };

/**
 * Asks a node about open audits.
 *
 * @param parameters.baseUrl the node's address
 * @param parameters.client reads the chain: the chain says what is final, not the node. Only auditors need it;
 * `isFinal` throws ChainError without it
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
    openOfHire: async (hire) => {
      const { audit } = await graphql.audit({ id: hire });
      return audit ? openIn(audit) : [];
    },
    openOfAuditor: async (auditor, signal) => {
      const nodes = await everyPage(async (page) => {
        const where = { auditor, open: true };
        return (await graphql.openAudits({ where, ...page })).auditAssignments;
      }, signal);
      return nodes.flatMap(({ audit, ...attempt }) =>
        audit && isOpen(audit, attempt) ? asAssignment(audit, attempt) : [],
      );
    },
    openOfSeller: async (seller, signal) => {
      const open: Assignment[] = [];
      // While an audit waits for another auditor, the verdict of the last auditor still counts.
      for (const status of ["ASSIGNED", "ASSIGNING"] as const) {
        const audits = await everyPage(async (page) => {
          return (await graphql.audits({ where: { seller, status }, ...page })).audits;
        }, signal);
        open.push(...audits.flatMap(openIn));
      }
      return open;
    },
    isFinal: async ({ block, tickHash }) => {
      if (client === undefined || finalBlock === undefined) throw noChain();
      if (tickHash === null || (await finalBlock()) < BigInt(block)) return false;
      const { hash } = await client.getBlock({ blockNumber: BigInt(block) });
      return hash === tickHash;
    },
    originsOf: async (agent, capability) => {
      const { listings } = await listingsOf(agent, { limit: MAX_LISTINGS }).catch((error: unknown) => {
        // A buyer without a counted hire is not an agent yet.
        if (error instanceof ServiceError && error.code === "unknown_agent") return { listings: [] };
        throw error;
      });
      const offers = listings.toSorted((a, b) => rank(b, capability) - rank(a, capability));
      const origins = offers.flatMap(({ endpoint }) =>
        URL.canParse(endpoint) ? [new URL(endpoint).origin] : [],
      );
      return [...new Set(origins)].slice(0, MAX_ORIGINS);
    },
  };
}

async function everyPage<Node>(
  ask: (page: { first: number; after: string | null }) => Promise<Page<Node>>,
  signal: AbortSignal | undefined,
): Promise<Node[]> {
  const nodes: Node[] = [];
  let after: string | null = null;
  // A bad node could send empty pages forever, each with a link to the next.
  for (let page = 0; page < MAX_PAGES && nodes.length < MAX_LISTED; page++) {
    signal?.throwIfAborted();
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
    operator: it.operator as Address,
    auditor: it.auditorAddress as Address,
    seller: audit.sellerAddress as Address,
    buyer: audit.buyerAddress as Address,
    capability: audit.capability ?? null,
    hireId: hashOf(audit.receipt?.hireId),
    paramsHash: hashOf(audit.paramsHash),
    resultHash: hashOf(audit.resultHash),
    verificationVersion: audit.verificationVersion,
    amount: String(parseUsdc(audit.amountUsdc)),
    block: it.assignedBlock,
    time: it.assignedAt,
    tickHash: hashOf(it.tickHash),
    due: it.due ?? it.assignedAt,
  };
}

function hashOf(text: string | null | undefined): Hex | null {
  return isHex(text, 32) ? text : null;
}

function noChain(): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message: "Nothing says which blocks are final.",
    hint: "Give createAuditNode a `client` of the chain.",
  });
}
