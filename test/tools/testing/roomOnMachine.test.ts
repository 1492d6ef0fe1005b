import { expect } from "chai";
import { roomOnMachine } from "../../../tools/testing/roomOnMachine.ts";

const GIB = 2 ** 30;

describe("the room for one more step of a test run", () => {
  /** Asks a machine whose cores were idle for this time since the last question. A second has passed each time. */
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

  it("is there while a third of the cores' time passes unused, whatever was before", () => {
    expect(ask([0, 900, 290, 300, 0])).to.deep.equal([false, true, false, true, false]);
  });

  it("is not there without memory, and not before any time has passed", () => {
    expect(ask([900], 2 * GIB)).to.deep.equal([false]);
    const still = { idle: 1, all: 1 };
    expect(roomOnMachine(() => still)()).to.equal(false);
  });
});
