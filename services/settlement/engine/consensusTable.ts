import {
  type ConsensusRefusal,
  type ConsensusStep,
  FINALITY_MARGIN,
  type StakedProposal,
} from "tallystick-protocol/consensus/taskConsensus";
import type { IndexDatabase } from "./indexDatabase.ts";
import { nameKey } from "./indexDatabase.ts";

/** A stake that is not final closes after this time, in seconds: nobody can vote on it any more. */
export const STAKE_SECONDS = 30 * 86_400;

/** Why a step changes nothing: one of the reasons of `TaskConsensus`, or the stake has closed. */
export type TableRefusal = ConsensusRefusal | "stake_closed";

/** A staked proposal with the first voters on each side, and the number of all voters. */
export type ListedProposal = StakedProposal & { verifyCount: number; contestCount: number };

type Step = Omit<ConsensusStep, "index"> & { taskId: string; time: number };
type Stake = { staker: string; at: number; time: number; verifies: number; contests: number };

/**
 * The consensus of every task (swarm.at §11), in the index on disk. The cost of a step does not grow with the
 * number of tasks, stakes and votes. It decides like `TaskConsensus`, and closes stakes after {@link
 * STAKE_SECONDS}.
 */
export class ConsensusTable {
  readonly #sql;

  constructor(database: IndexDatabase) {
    this.#sql = {
      final: database.prepare("SELECT final AS proposal, final_at AS at FROM task WHERE name = ?"),
      setFinal: database.prepare("INSERT INTO task (name, final, final_at) VALUES (?, ?, ?)"),
      stake: database.prepare(
        "SELECT staker, at, time, verifies, contests FROM stake WHERE task = ? AND proposal = ?",
      ),
      addStake: database.prepare(
        "INSERT INTO stake (task, proposal, staker, at, time) VALUES (?, ?, ?, ?, ?)",
      ),
      vote: database.prepare("SELECT 1 AS found FROM vote WHERE task = ? AND proposal = ? AND signer = ?"),
      addVote: database.prepare("INSERT INTO vote (task, proposal, signer, kind, at) VALUES (?, ?, ?, ?, ?)"),
      count: database.prepare(
        "UPDATE stake SET verifies = verifies + ?, contests = contests + ? WHERE task = ? AND proposal = ?",
      ),
      stakes: database.prepare(
        "SELECT proposal, staker, at, verifies, contests FROM stake WHERE task = ? ORDER BY at LIMIT ?",
      ),
      voters: database.prepare(
        "SELECT signer FROM vote WHERE task = ? AND proposal = ? AND kind = ? ORDER BY at LIMIT ?",
      ),
    };
  }

  /** Why this step would change nothing, or undefined when it counts. `time` in unix seconds. */
  refusal({ taskId, type, proposal, signer, time }: Step): TableRefusal | undefined {
    const task = nameKey(taskId);
    if (this.#sql.final.get(task)) return "task_final";
    const stake = this.#stake(task, proposal);
    if (type === "stake") return stake ? "staked_already" : undefined;
    if (!stake) return "not_staked";
    if (stake.staker === signer) return "own_proposal";
    if (this.#sql.vote.get(task, proposal, signer)) return "voted_already";
    return time > stake.time + STAKE_SECONDS ? "stake_closed" : undefined;
  }

  /** Applies a step that is in the ledger, at position `index`. A step that {@link refusal} objects to changes nothing. */
  apply(step: Step & { index: number }): void {
    if (this.refusal(step)) return;
    const { taskId, type, proposal, signer, index, time } = step;
    const task = nameKey(taskId);
    if (type === "stake") {
      this.#sql.addStake.run(task, proposal, signer, index, time);
      return;
    }
    this.#sql.addVote.run(task, proposal, signer, type, index);
    this.#sql.count.run(Number(type === "verify"), Number(type === "contest"), task, proposal);
    const { verifies, contests } = this.#stake(task, proposal) as Stake;
    if (verifies >= FINALITY_MARGIN + contests) this.#sql.setFinal.run(task, proposal, index);
  }

  /** The final proposal of a task, and the position of the vote that made it final. */
  final(taskId: string): { proposal: string; index: number } | undefined {
    const row = this.#sql.final.get(nameKey(taskId)) as { proposal: string; at: number } | undefined;
    return row && { proposal: row.proposal, index: row.at };
  }

  /** The first `most` proposals of a task in the order in which they were staked, each with its first `most` voters. */
  proposals(taskId: string, most: number): ListedProposal[] {
    const task = nameKey(taskId);
    const voters = (proposal: string, kind: string) =>
      this.#sql.voters
        .all(task, proposal, kind, most)
        .map(({ signer }) => signer) as StakedProposal["verifies"];
    const rows = this.#sql.stakes.all(task, most) as unknown as (Stake & { proposal: string })[];
    return rows.map(({ proposal, staker, at, verifies, contests }) => ({
      proposal,
      staker: staker as StakedProposal["staker"],
      index: at,
      verifies: voters(proposal, "verify"),
      contests: voters(proposal, "contest"),
      verifyCount: verifies,
      contestCount: contests,
    }));
  }

  #stake(task: Buffer, proposal: string): Stake | undefined {
    return this.#sql.stake.get(task, proposal) as Stake | undefined;
  }
}
