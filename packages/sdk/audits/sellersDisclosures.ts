import type { Hono } from "hono";
import type { Address } from "tallystick-protocol/address";
import type { Listing } from "tallystick-protocol/records/listing";
import type { Fetch } from "../requestService.ts";
import { escrowDeadline } from "../seller/escrowDeadline.ts";
import type { Job } from "../seller/job.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { unlessDamaged } from "../store/unlessDamaged.ts";
import { type Assignment, type AuditNode, nameOf } from "./assignment.ts";
import { auditedOffers } from "./auditedOffers.ts";
import { createAuditNode } from "./createAuditNode.ts";
import { disclosureRoutes } from "./disclosureRoutes.ts";
import { keptDisclosures } from "./keptDisclosures.ts";
import { openAssignments } from "./openAssignments.ts";

/** What a seller does so that its hires can be audited. */
export type SellersDisclosures = {
  isAudited: (listing: Listing) => boolean;
  /** Stores the request and the result of a finished job for auditors. */
  disclose: (job: Job) => Promise<void>;
  /** The route at which auditors ask for the work. */
  routes: Hono;
  /** Forgets old work. */
  sweep: () => Promise<void>;
};

/** Prepares what a seller does for audits. The store says which listings consented to audits before. */
export async function sellersDisclosures(parameters: {
  seller: Address;
  listings: readonly Listing[];
  store: KeyValueStore;
  /**
   * Where the same agent keeps the work that it bought. Auditors can get it here if the seller of that work does not
   * show it.
   */
  bought?: KeyValueStore | undefined;
  node?: Pick<AuditNode, "openOfSeller" | "openOfHire"> | undefined;
  baseUrl: string;
  fetch?: Fetch | undefined;
  seconds?: number | undefined;
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
}): Promise<SellersDisclosures> {
  const { seller, listings, store, bought, baseUrl, fetch, seconds, now, log } = parameters;
  const kept = keptDisclosures({ store, seconds, now });
  const node = parameters.node ?? createAuditNode({ baseUrl, fetch });
  const ofSales = openAssignments((signal) => node.openOfSeller(seller, signal), now);
  const copies = bought && keptDisclosures({ store: bought, seconds, now });
  const ofHire = await assignmentsOfHires({
    holder: seller,
    load: (hire) => node.openOfHire(hire),
    store,
    now,
  });
  return {
    isAudited: await auditedOffers(listings, store, now),
    disclose: async (job) => {
      const { hireId, request, result } = job;
      if (request === undefined) return;
      await kept.keep(hireId, { request, result: JSON.stringify(result ?? null) }, escrowDeadline(job));
    },
    routes: disclosureRoutes({
      holder: seller,
      findAssignment: async (name, hire, signer) => {
        const sale = await ofSales.find(name);
        // The hire may be one that this agent bought, or a sale for which a full list has no room.
        return sale ?? (copies || ofSales.isCut() ? await ofHire(name, hire, signer) : undefined);
      },
      kept: { find: async (hireId) => (await kept.find(hireId)) ?? (await copies?.find(hireId)) },
      now,
      log,
    }),
    sweep: kept.sweep,
  };
}

/**
 * The most look-ups of single hires at a time, and in a minute. They find the audits that are not in the node's list
 * of the seller's audits: those of hires that this agent bought, and those for which a full list has no room.
 * Strangers may ask for any number of invented hires. The node must still answer the other questions of this agent.
 * Half of a minute's look-ups are only for auditors that were found before, so that strangers cannot use up all.
 */
const MAX_LOOKUPS = 4;
const MAX_LOOKUPS_A_MINUTE = 60;

/** The most auditors that are remembered. The first ones are forgotten first. */
const MAX_AUDITORS = 1_000;

/** The auditors that were found are stored here. After a restart, strangers must not shut them out either. */
const AUDITORS = "audits/auditors";

async function assignmentsOfHires({
  holder,
  load,
  store,
  now,
}: {
  holder: Address;
  load: AuditNode["openOfHire"];
  store: KeyValueStore;
  now: () => number;
}) {
  let running = 0;
  let [minute, begun] = [0, 0];
  const auditors = new Set(await unlessDamaged(store.get<Address[]>(AUDITORS)));
  return async (name: string, hire: string, signer: () => Address): Promise<Assignment | undefined> => {
    const present = Math.floor(now() / 60_000);
    if (present !== minute) [minute, begun] = [present, 0];
    const isFull = running >= MAX_LOOKUPS || begun >= MAX_LOOKUPS_A_MINUTE;
    if (isFull || (begun >= MAX_LOOKUPS_A_MINUTE / 2 && !(auditors.size > 0 && auditors.has(signer()))))
      throw new Error("too many look-ups");
    running++;
    begun++;
    try {
      const found = (await load(hire)).find((assignment) => nameOf(assignment) === name);
      if (found && [found.seller, found.buyer].includes(holder) && !auditors.has(found.auditor)) {
        auditors.add(found.auditor);
        for (const first of auditors) if (auditors.size > MAX_AUDITORS) auditors.delete(first);
        // If this fails, the auditor is only remembered until the next start.
        await store.put(AUDITORS, [...auditors]).catch(() => {});
      }
      return found;
    } finally {
      running--;
    }
  };
}
