import { expect } from "chai";
import { roomOnMachine } from "../../../tools/testing/roomOnMachine.ts";

const GIB = 2 ** 30;

describe("the room for one more step of a test run", () => {
  /** Asks once for each idle time. Between two questions one second of core time passes, with this idle time in it. */
  function ask(idleMs: number[], memory = 8 * GIB): boolean[] {
    const now = { idle: 5_000, all: 90_000 };
    const hasRoom = roomOnMachine(
      () => ({ ...now }),
      () => memory,
    );
    return idleMs.map((idle) => {
      now.idle += idle;
      now.all += 1_000;
      return hasRoom();
    });
  }

  it("exists if the cores were idle for about a third of the time since the last question", () => {
    expect(ask([0, 900, 290, 300, 0])).to.deep.equal([false, true, false, true, false]);
  });

  it("does not exist without enough memory, or if no time has passed", () => {
    expect(ask([900], 2 * GIB)).to.deep.equal([false]);
    const still = { idle: 1, all: 1 };
    expect(roomOnMachine(() => still)()).to.equal(false);
  });
});
