import type { Address } from "../address.ts";
import type { ConsensusType } from "../records/consensus.ts";

/** A proposal is final when it has at least this many more verifies than contests. */
export const FINALITY_MARGIN = 2;

/** One `stake`, `verify` or `contest` in the ledger. `index` is the entry's position. */
export type ConsensusStep = { type: ConsensusType; proposal: string; signer: Address; index: number };

/** A staked proposal and its votes. */
export type StakedProposal = {
  proposal: string;
  staker: Address;
  /** Position of the stake. */
  index: number;
  /** Who voted, in the order of the ledger. */
  verifies: Address[];
  contests: Address[];
};

/** Why a step changes nothing. */
export type ConsensusRefusal =
  | "task_final"
  | "staked_already"
  | "not_staked"
  | "own_proposal"
  | "voted_already";

/**
 * How a swarm agrees on one of its solutions for a task (swarm.at §11).
 *
 * The first stake of a proposal names its staker. A task can have several proposals. Every other signer has one vote on
 * each proposal, `verify` or `contest`. The first proposal with verifies ≥ contests + 2 is final for ever. Later stakes
 * and votes of the task change nothing. The same steps in the same order always give the same state.
 */
export class TaskConsensus {
  readonly #proposals = new Map<string, StakedProposal>();
  #final: { proposal: string; index: number } | undefined;

  /** The final proposal, and the position of the vote that made it final; undefined while no proposal is final. */
  get final(): { proposal: string; index: number } | undefined {
    return this.#final;
  }

  /** The proposals in the order in which they were staked. */
  get proposals(): readonly StakedProposal[] {
    return [...this.#proposals.values()];
  }

  /** Why this step would change nothing, or undefined when it counts. */
  refusal({ type, proposal, signer }: Omit<ConsensusStep, "index">): ConsensusRefusal | undefined {
    if (this.#final) return "task_final";
    const staked = this.#proposals.get(proposal);
    if (type === "stake") return staked ? "staked_already" : undefined;
    if (!staked) return "not_staked";
    if (staked.staker === signer) return "own_proposal";
    return staked.verifies.includes(signer) || staked.contests.includes(signer) ? "voted_already" : undefined;
  }

  /** Applies a step. A step that {@link refusal} objects to changes nothing. */
  apply(step: ConsensusStep): void {
    if (this.refusal(step)) return;
    const { type, proposal, signer, index } = step;
    if (type === "stake") {
      this.#proposals.set(proposal, { proposal, staker: signer, index, verifies: [], contests: [] });
      return;
    }
    const staked = this.#proposals.get(proposal) as StakedProposal;
    (type === "verify" ? staked.verifies : staked.contests).push(signer);
    if (staked.verifies.length >= FINALITY_MARGIN + staked.contests.length) this.#final = { proposal, index };
  }
}
