import { expect } from "chai";
import * as fc from "fast-check";
import { TaskConsensus } from "tallystick-protocol/consensus/taskConsensus";
import { ConsensusTable, STAKE_SECONDS } from "../../../services/settlement/engine/consensusTable.ts";
import { IndexDatabase } from "../../../services/settlement/engine/indexDatabase.ts";

const agent = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as const;

describe("the consensus that settlement keeps on disk", () => {
  it("decides every step as the consensus in memory does", () => {
    const step = fc.record({
      taskId: fc.constantFrom("a", "b", "\ud800", "\ud801"),
      type: fc.constantFrom("stake" as const, "verify" as const, "verify" as const, "contest" as const),
      proposal: fc.constantFrom("p", "q"),
      signer: fc.integer({ min: 0, max: 7 }).map(agent),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const database = new IndexDatabase();
        const table = new ConsensusTable(database);
        const tasks = new Map<string, TaskConsensus>();
        for (const [index, { taskId, ...one }] of steps.entries()) {
          const task = tasks.get(taskId) ?? new TaskConsensus();
          tasks.set(taskId, task);
          expect(table.refusal({ taskId, time: index, ...one })).to.equal(task.refusal(one));
          task.apply({ ...one, index });
          table.apply({ taskId, time: index, index, ...one });
        }
        for (const [taskId, task] of tasks) {
          expect(table.final(taskId)).to.deep.equal(task.final);
          const listed = table.proposals(taskId, 100);
          expect(listed.map(({ verifyCount: _, contestCount: __, ...rest }) => rest)).to.deep.equal(
            task.proposals,
          );
          for (const { verifies, contests, verifyCount, contestCount } of listed)
            expect([verifyCount, contestCount]).to.deep.equal([verifies.length, contests.length]);
        }
        database.close();
      }),
      { seed: 11, numRuns: 150 },
    );
  });

  it("closes a stake that is not final thirty days after it was made, and keeps final ones", () => {
    expect(STAKE_SECONDS).to.equal(2_592_000);
    const database = new IndexDatabase();
    const table = new ConsensusTable(database);
    const say = (type: "stake" | "verify", signer: number, time: number, proposal = "p") => {
      const step = { taskId: "t", type, proposal, signer: agent(signer), time };
      const refusal = table.refusal(step);
      table.apply({ ...step, index: signer });
      return refusal;
    };
    expect(say("stake", 1, 1_000)).to.equal(undefined);
    expect(say("verify", 2, 1_000 + STAKE_SECONDS)).to.equal(undefined);
    expect(say("verify", 3, 1_001 + STAKE_SECONDS)).to.equal("stake_closed");
    expect(table.final("t")).to.equal(undefined);
    expect(table.proposals("t", 10)[0]).to.include({ verifyCount: 1 });
    expect(say("stake", 4, 1_001 + STAKE_SECONDS, "q")).to.equal(undefined);
    for (const signer of [5, 6])
      expect(say("verify", signer, 1_002 + STAKE_SECONDS, "q")).to.equal(undefined);
    expect(table.final("t")).to.deep.equal({ proposal: "q", index: 6 });
    expect(say("verify", 7, 1_003 + STAKE_SECONDS, "q")).to.equal("task_final");
    database.close();
  });

  it("lists at most the requested number of proposals and voters, and counts all", () => {
    const database = new IndexDatabase();
    const table = new ConsensusTable(database);
    for (let n = 0; n < 30; n++)
      table.apply({ taskId: "t", type: "stake", proposal: `p${n}`, signer: agent(1), time: 1, index: n });
    for (let n = 2; n < 52; n++) {
      const type = n % 2 === 0 ? "contest" : "verify";
      // The first to vote have the highest addresses. A list in the order of addresses would have them last.
      table.apply({ taskId: "t", type, proposal: "p0", signer: agent(99 - n), time: 1, index: 100 + n });
    }
    const listed = table.proposals("t", 10);
    expect(listed.map(({ proposal }) => proposal)).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => `p${n}`),
    );
    expect(listed[0]).to.include({ verifyCount: 25, contestCount: 25 });
    expect(listed[0]!.contests).to.deep.equal(Array.from({ length: 10 }, (_, n) => agent(97 - 2 * n)));
    database.close();
  });
});
