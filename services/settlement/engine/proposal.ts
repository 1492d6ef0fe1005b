import type { Address } from "tallystick-protocol/address";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { MAX_TASK_ID_LENGTH } from "tallystick-protocol/records/taskIdSchema";
import type { TextComparison } from "./compareTexts.ts";

type PyObject = { [key: string]: PyJson };

/** What an agent submits for settlement (swarm.at §4.1), read and checked. */
export type Proposal = {
  taskId: string;
  /** Hash of the last entry that the agent knew: 64 hex digits. */
  parentHash: string;
  agentMetadata: PyObject;
  /** SHA-256 of the context slice that the agent used, if the agent names one. */
  contextHash?: string;
  dataUpdate: PyObject;
  /** The agent's own confidence, from 0 to 1. */
  confidenceScore: number;
  /** Trace of reasoning, free text. */
  proof?: string;
  /**
   * The results of the rules' comparators for its texts and its shadow's texts. Settlement writes this, never
   * the agent.
   */
  comparisons?: TextComparison[];
  /** The agent of the API key that came with the request. It is never read from the proposal itself. */
  agent?: Address;
};

/** The same task done by another model (swarm.at §6.3). Only its result is compared. */
export type ShadowProposal = { dataUpdate: PyObject };

/** A request to settle: the proposal, and a shadow of it when there is one. */
export type SettleRequest = { proposal: Proposal; shadow?: ShadowProposal };

/**
 * Reads the body of `POST /v1/settle`: `{header: {task_id, parent_hash, agent_metadata?, context_hash?},
 * payload: {data_update, confidence_score}, proof?, shadow?: {payload: {data_update}}}`. All other keys are
 * ignored.
 *
 * @throws InvalidInputError naming every field that is missing or of the wrong type
 */
export function parseSettleRequest(body: PyJson): SettleRequest {
  const reader = new Reader();
  const root = reader.object(body, "body");
  const header = reader.object(root.header, "header");
  const payload = reader.object(root.payload, "payload");
  const proposal: Proposal = {
    taskId: reader.taskId(header.task_id),
    parentHash: reader.hash(header.parent_hash, "header.parent_hash"),
    agentMetadata:
      header.agent_metadata === undefined
        ? {}
        : reader.object(header.agent_metadata, "header.agent_metadata"),
    dataUpdate: reader.object(payload.data_update, "payload.data_update"),
    confidenceScore: reader.share(payload.confidence_score, "payload.confidence_score"),
  };
  if (isGiven(header.context_hash))
    proposal.contextHash = reader.hash(header.context_hash, "header.context_hash");
  if (isGiven(root.proof)) proposal.proof = reader.text(root.proof, "proof");
  let shadow: ShadowProposal | undefined;
  if (isGiven(root.shadow)) {
    const shadowPayload = reader.object(reader.object(root.shadow, "shadow").payload, "shadow.payload");
    shadow = { dataUpdate: reader.object(shadowPayload.data_update, "shadow.payload.data_update") };
  }
  reader.done();
  return shadow ? { proposal, shadow } : { proposal };
}

function isGiven(value: PyJson | undefined): boolean {
  return value !== undefined && value !== null;
}

/** Collects all faults, so that one answer names them all. */
class Reader {
  readonly #issues: InputIssue[] = [];

  object(value: PyJson | undefined, field: string): PyObject {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
    // If an object is missing, its fields are not reported separately.
    this.#say(field, "must be an object");
    return {};
  }

  text(value: PyJson | undefined, field: string): string {
    if (typeof value === "string") return value;
    this.#say(field, "must be a string");
    return "";
  }

  taskId(value: PyJson | undefined): string {
    const text = this.text(value, "header.task_id");
    if (typeof value !== "string") return text;
    if (text === "" || text.length > MAX_TASK_ID_LENGTH) {
      this.#say("header.task_id", `must have 1 to ${MAX_TASK_ID_LENGTH} characters`);
    } else if (/\p{Cc}|\p{Cs}/u.test(text)) {
      this.#say("header.task_id", "must not have control characters or lone surrogates");
    }
    return text;
  }

  hash(value: PyJson | undefined, field: string): string {
    if (isLedgerHash(value)) return value;
    this.#say(field, "must be 64 lower-case hex digits");
    return "";
  }

  share(value: PyJson | undefined, field: string): number {
    if (typeof value === "number" || typeof value === "bigint") {
      const number = Number(value);
      if (number >= 0 && number <= 1) return number;
    }
    this.#say(field, "must be a number from 0 to 1");
    return 0;
  }

  done(): void {
    if (this.#issues.length > 0) throw new InvalidInputError({ issues: this.#issues });
  }

  #say(field: string, message: string): void {
    const parents = this.#issues.map((issue) => issue.field);
    if (!parents.some((parent) => parent === "body" || field.startsWith(`${parent}.`)))
      this.#issues.push({ field, message });
  }
}

/** The payload of the ledger entry for a settled proposal. */
export function settlementPayload(proposal: Proposal): PyObject {
  const payload: PyObject = {
    type: "settlement",
    data_update: proposal.dataUpdate,
    confidence_score: proposal.confidenceScore,
    agent_metadata: proposal.agentMetadata,
  };
  if (proposal.contextHash !== undefined) payload.context_hash = proposal.contextHash;
  if (proposal.proof !== undefined) payload.proof = proposal.proof;
  if (proposal.comparisons !== undefined) payload.comparisons = proposal.comparisons;
  if (proposal.agent !== undefined) payload.agent = proposal.agent;
  return payload;
}
