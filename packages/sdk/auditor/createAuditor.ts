import type { Address } from "tallystick-protocol/address";
import type { Auditor as AuditorBody } from "tallystick-protocol/records/auditor";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import type { AuditNode, BlockReader } from "../audits/assignment.ts";
import { createAuditNode } from "../audits/createAuditNode.ts";
import { expectSettled } from "../expectSettled.ts";
import { forEachAtOnce } from "../forEachAtOnce.ts";
import { knownLedger } from "../knownLedger.ts";
import { createPublicFetch } from "../net/publicFetch.ts";
import { type Fetch, requestService } from "../requestService.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { auditSteps } from "./auditSteps.ts";
import { type AuditWork, auditWorks } from "./auditWork.ts";
import { followAssignments } from "./followAssignments.ts";
import type { Judge } from "./judge.ts";

export type CreateAuditorParameters = {
  /** The agent's wallet: signs offers, requests for work, and verdicts. It sends no transactions. */
  account: LocalAccount;
  /** The URL of the node that assigns audits and takes the verdicts. */
  baseUrl: string;
  /** Reads the chain, to know which blocks are final: a viem public client. */
  client: BlockReader;
  /** Who judges: `personJudge`, `programJudge`, `modelJudge`, `everyJudge` of them, or your own. */
  judge: Judge;
  /** Remembers audits: `fileStore(folder)`. Only this auditor may use the store. */
  store: KeyValueStore;
  /** Replaces the node at `baseUrl` as the source of assignments. */
  node?: AuditNode;
  /** The node's ledger, for which verdicts are signed. Default: the first answer of the node, kept in `store`. */
  ledger?: LedgerName;
  /** Where operators keep the work of challenged hires: origins, by operator. They are asked last. */
  operatorOrigins?: { [operator: string]: string };
  /** The pause between two rounds, in milliseconds. Default 60,000. */
  everyMs?: number;
  /** The most audits that run at the same time. Default 4. */
  atOnce?: number;
  /** The most audits that this auditor has open. Default 1,000. It leaves further audits to other auditors. */
  maxOpen?: number;
  /** How long one holder of the work may take, in milliseconds. Default 60,000. */
  askMs?: number;
  /** How long the judge may take, in milliseconds. Default 600,000. */
  judgeMs?: number;
  /** The largest disclosure, in bytes. Default 32 MiB. */
  maxBytes?: number;
  /** Allows sellers and buyers at http and private addresses. For local networks only. */
  devMode?: boolean;
  /** Reaches the node, and in `devMode` also sellers and buyers. */
  fetch?: Fetch;
  /**
   * Reaches sellers and buyers. Default: public servers only, checked when the connection is made; see
   * `createPublicFetch`.
   */
  holderFetch?: Fetch;
  /** Milliseconds since 1970. */
  now?: () => number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** What an agent offers to audit, and for whom. `endpoint` is where the operator reaches it. */
export type AuditorOffer = Pick<AuditorBody, "capabilities" | "endpoint"> & {
  operator: string;
  /** False withdraws the offer. Default true. */
  active?: boolean;
};

export type Auditor = {
  address: Address;
  /** Puts the auditor on an operator's rosters, or takes it off them. @throws ServiceError, InvalidInputError */
  offer: (offer: AuditorOffer) => Promise<void>;
  /**
   * Reads the assignments once, and takes every audit as far as it can go now. It does not throw when an audit
   * fails. @throws ServiceError, ChainError when the node or the chain cannot be asked
   */
  round: () => Promise<void>;
  /** Repeats `round` until `close`. */
  start: () => void;
  /** The audits that are not forgotten yet. */
  works: () => Promise<AuditWork[]>;
  /** Stops: aborts the present round and waits until it has ended. */
  close: () => Promise<void>;
};

/**
 * An auditor (SHP §8.3.1). It reads its assignments from a node. For each assignment it asks the seller for the
 * work, then the buyer, then the operator. It checks the work against the receipt, lets `judge` judge it, and puts
 * the verdict into the ledger. If it is killed at any moment, the next process continues from there. It signs only
 * one verdict for each assignment. The work is deleted once the verdict is in the ledger, and after 30 days at the
 * latest.
 *
 * @example
 * const auditor = createAuditor({ account, baseUrl: "https://node.example", client, store: fileStore("./auditor"),
 *   judge: programJudge() });
 * await auditor.offer({ operator, capabilities: ["text.translate.en.it"], endpoint: "https://auditor.example" });
 * auditor.start();
 */
export function createAuditor(parameters: CreateAuditorParameters): Auditor {
  const { account, baseUrl, client, store, fetch, devMode = false, now = Date.now } = parameters;
  const { everyMs = 60_000, atOnce = 4, maxOpen = 1_000, log = () => {} } = parameters;
  const address = account.address.toLowerCase() as Address;
  const node = parameters.node ?? createAuditNode({ baseUrl, client, fetch });
  const platform = fetch ?? globalThis.fetch.bind(globalThis);
  const works = auditWorks(store);
  const ledger = knownLedger({ baseUrl, ledger: parameters.ledger, store, fetch });
  const holderFetch = parameters.holderFetch ?? (devMode ? platform : createPublicFetch());
  const advance = auditSteps({ ...parameters, node, works, ledger, holderFetch, now, log });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function runRound(): Promise<void> {
    const due = await followAssignments({ auditor: address, node, works, maxOpen, now, log }, stop.signal);
    // A few at a time, so that an audit that hangs does not delay the others.
    await forEachAtOnce(due, { atOnce, signal: stop.signal }, async (work) => {
      const { token } = work;
      await advance(work, stop.signal).catch((error) => {
        log("An audit could not go on.", { token, error: String(error) });
      });
    });
  }

  const round = (): Promise<void> => {
    running ??= runRound().finally(() => {
      running = undefined;
    });
    return running;
  };

  const plan = (ms: number): void => {
    timer = setTimeout(() => {
      round()
        .catch((error) => log("The assignments could not be followed.", { error: String(error) }))
        .finally(() => {
          if (!stop.signal.aborted) plan(everyMs);
        });
    }, ms);
  };

  return {
    address,
    offer: async ({ active = true, ...offer }) => {
      const operator = offer.operator.toLowerCase();
      const body = { ...offer, agent_id: address, operator, active, issued_at: Math.floor(now() / 1000) };
      const record = await signRecord({ type: "auditor", ledger: await ledger(), body, account });
      const { text } = await requestService({ baseUrl, path: "/v1/records", body: record, fetch });
      expectSettled(text);
    },
    round,
    start: () => {
      if (timer === undefined) plan(0);
    },
    works: works.all,
    close: async () => {
      stop.abort(new Error("The auditor was closed."));
      clearTimeout(timer);
      await running?.catch(() => {});
    },
  };
}
