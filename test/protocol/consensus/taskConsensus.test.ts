import { expect } from "chai";
import fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import { TaskConsensus } from "tallystick-protocol/consensus/taskConsensus";
import { type ConsensusType, consensusTypes } from "tallystick-protocol/records/consensus";

const agent = (n: number): Address => `0x${String(n).padStart(40, "0")}`;

describe("consensus on a task", () => {
  let task: TaskConsensus;
  let index = 0;
  const say = (type: ConsensusType, proposal: string, signer: number) =>
    task.apply({ type, proposal, signer: agent(signer), index: index++ });
  const refused = (type: ConsensusType, proposal: string, signer: number) =>
    task.refusal({ type, proposal, signer: agent(signer) });
  beforeEach(() => {
    task = new TaskConsensus();
    index = 0;
  });

  it("is reached by two verifies without a contest", () => {
    say("stake", "a", 1);
    say("verify", "a", 2);
    expect(task.final).to.equal(undefined);
    say("verify", "a", 3);
    expect(task.final).to.deep.equal({ proposal: "a", index: 2 });
  });

  it("needs two verifies more than there are contests", () => {
    say("stake", "a", 1);
    say("contest", "a", 2);
    say("verify", "a", 3);
    say("verify", "a", 4);
    expect(task.final).to.equal(undefined);
    say("verify", "a", 5);
    expect(task.final).to.deep.include({ proposal: "a" });
  });

  it("gives every signer one vote on a proposal, and no vote to the staker", () => {
    expect(refused("verify", "a", 2)).to.equal("not_staked");
    say("stake", "a", 1);
    expect(refused("verify", "a", 1)).to.equal("own_proposal");
    expect(refused("stake", "a", 2)).to.equal("staked_already");
    say("verify", "a", 2);
    expect(refused("verify", "a", 2)).to.equal("voted_already");
    expect(refused("contest", "a", 2)).to.equal("voted_already");
    say("verify", "a", 2);
    expect(task.final).to.equal(undefined);
  });

  it("chooses one of several proposals, and does not change afterwards", () => {
    say("stake", "a", 1);
    say("stake", "b", 2);
    say("verify", "b", 1);
    say("verify", "b", 3);
    expect(task.final).to.deep.equal({ proposal: "b", index: 3 });
    expect(refused("verify", "a", 4)).to.equal("task_final");
    say("contest", "b", 5);
    expect(task.proposals.map(({ verifies, contests }) => [verifies.length, contests.length])).to.deep.equal([
      [0, 0],
      [2, 0],
    ]);
  });

  it("never counts two votes of a signer or a vote of the staker, for any steps in any order", () => {
    const step = fc.tuple(
      fc.constantFrom(...consensusTypes),
      fc.constantFrom("a", "b"),
      fc.integer({ min: 1, max: 6 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        task = new TaskConsensus();
        for (const [type, proposal, signer] of steps) say(type, proposal, signer);
        for (const { staker, verifies, contests, proposal } of task.proposals) {
          const votes = [...verifies, ...contests];
          expect(new Set(votes).size).to.equal(votes.length);
          expect(votes).not.to.include(staker);
          expect(verifies.length >= contests.length + 2).to.equal(task.final?.proposal === proposal);
        }
      }),
    );
  });
});
