import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { repeatRounds } from "tallystick-runtime/repeatRounds";

describe("repeated rounds", () => {
  it("continue after rounds that fail, and log each failure", async () => {
    const logged: string[] = [];
    let rounds = 0;
    const repeated = repeatRounds(
      () => {
        rounds++;
        if (rounds === 1) throw new Error("at once");
        return rounds === 2 ? Promise.reject(new Error("later")) : Promise.resolve();
      },
      { pauseMs: 1, closed: "closed", log: (_, fields) => logged.push(String(fields?.error)) },
    );
    repeated.start();
    while (rounds < 3) await sleep(1);
    await repeated.close();
    expect(rounds).to.be.at.least(3);
    expect(logged).to.deep.equal(["Error: at once", "Error: later"]);
  });

  it("throw the error of a requested round only to its caller, and do not log it when they close", async () => {
    const repeated = repeatRounds(
      async (signal) => {
        await new Promise((done) => signal.addEventListener("abort", done));
        signal.throwIfAborted();
      },
      { pauseMs: 1, closed: "closed", log: () => expect.fail("logged") },
    );
    const failed = repeated.round().catch((error: Error) => error.message);
    await repeated.close();
    expect(await failed).to.equal("closed");
  });
});
