import { expect } from "chai";
import { DriftQueue } from "../../../services/settlement/engine/driftQueue.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService } from "../support/testService.ts";

describe("the queue of clients with an old head", () => {
  const order = (queue: DriftQueue, tasks: string[]) => {
    const told: string[] = [];
    const all = Promise.all(tasks.map((task) => queue.wait(task).then(() => told.push(task))));
    return { told, all };
  };

  it("tells two clients when the head moves, and the next ones after a short time in which it does not move", async () => {
    const queue = new DriftQueue();
    const { told, all } = order(queue, ["a", "b", "c", "d", "e"]);
    queue.moved();
    await Promise.resolve();
    await Promise.resolve();
    expect(told).to.deep.equal(["a", "b"]);
    await all;
    expect(told).to.deep.equal(["a", "b", "c", "d", "e"]);
    expect(queue.isBusy).to.equal(false);
  });

  it("answers tasks in the order of their first rejections, and counts a settled task as a new one", async () => {
    const queue = new DriftQueue();
    await order(queue, ["a", "b", "c"]).all;
    queue.settled("b");
    const { told, all } = order(queue, ["new", "b", "c", "a"]);
    await all;
    expect(told).to.deep.equal(["a", "c", "new", "b"]);
  });

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it("answers three clients with the same task in the order in which they came", async () => {
    const queue = new DriftQueue();
    const told: number[] = [];
    await Promise.all([1, 2, 3].map((client) => queue.wait("task").then(() => told.push(client))));
    expect(told).to.deep.equal([1, 2, 3]);
  });

  it("tells nobody while an entry is being written, and looks no more when all are told", async () => {
    let isMoving = true;
    let looks = 0;
    const queue = new DriftQueue(() => {
      looks++;
      return isMoving;
    });
    expect(queue.isBusy).to.equal(false);
    const { told, all } = order(queue, ["a", "b", "c"]);
    while (looks < 2) await pause(5);
    expect([told, queue.isBusy]).to.deep.equal([[], true]);
    isMoving = false;
    await all;
    expect([told, queue.isBusy]).to.deep.equal([["a", "b", "c"], false]);
    looks = 0;
    queue.moved();
    await pause(40);
    expect(looks).to.equal(0);
  });

  it("remembers ten thousand tasks, and holds back as many answers", async () => {
    const tasks = Array.from({ length: 10_000 }, (_, n) => `task ${n}`);
    const release = async (queue: DriftQueue, all: Promise<unknown>) => {
      while (queue.isBusy) queue.moved();
      await all;
    };
    for (const isOneMore of [false, true]) {
      const queue = new DriftQueue();
      const { all } = order(queue, tasks);
      if (isOneMore) await queue.wait("one more: its answer goes out at once");
      await release(queue, all);
      const second = order(queue, ["task 5000", "task 0"]);
      await release(queue, second.all);
      // With one more task the oldest is forgotten, so it counts as a new one.
      const [oldest, other] = ["task 0", "task 5000"];
      expect(second.told).to.deep.equal(isOneMore ? [other, oldest] : [oldest, other]);
    }
  });

  const folder = temporaryFolder();

  it("lets each of many contending agents settle in its turn, with few attempts", async () => {
    const service = await openTestService(folder.path);
    const [agents, each] = [16, 4];
    let attempts = 0;
    const settledBy: number[] = [];
    await Promise.all(
      Array.from({ length: agents }, async (_, agent) => {
        let parent = service.ledger.head;
        for (let done = 0; done < each; ) {
          const header = { task_id: `${agent} ${done}`, parent_hash: parent };
          const payload = { data_update: { [`${agent}`]: done }, confidence_score: 0.9 };
          const { json } = await service.post(
            "/v1/settle",
            { header, payload },
            { authorization: `Bearer ${API_KEY}` },
          );
          attempts++;
          parent = json.status === "SETTLED" ? json.hash : json.head;
          if (json.status !== "SETTLED") continue;
          settledBy.push(agent);
          done++;
        }
      }),
    );
    expect(service.ledger.size).to.equal(agents * each);
    // Without the queue, each round would settle one task and reject the others: more than 500 attempts in all.
    expect(attempts).to.be.below(5 * agents * each);
    expect(new Set(settledBy.slice(0, 2 * agents)).size, "agents in the first half").to.be.above(agents / 2);
    await service.close();
  });
});
