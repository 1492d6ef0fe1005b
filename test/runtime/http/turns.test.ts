import { expect } from "chai";
import { Turns } from "tallystick-runtime/http/turns";

/** Starts pieces of work that end when they are told to. */
function open(count: number, most: () => number) {
  const turns = new Turns(most);
  const ends: (() => void)[] = [];
  const all = Array.from({ length: count }, () =>
    turns.run(() => new Promise<void>((resolve) => ends.push(resolve))),
  );
  const end = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { all, end, running: () => ends.length };
}

describe("turns", () => {
  it("follow a limit that becomes larger or smaller while work waits", async () => {
    let most = 1;
    const { all, end, running } = open(12, () => most);
    expect(running()).to.equal(1);
    most = 4;
    await end();
    expect(running(), "larger").to.equal(4);
    most = 2;
    await end();
    await end();
    expect(running(), "smaller").to.equal(2);
    while (running() > 0) await end();
    await Promise.all(all);
  });

  it("always run one piece of work, and continue after one that fails", async () => {
    const turns = new Turns(() => 0);
    const failed = turns.run(() => Promise.reject(new Error("no"))).catch((error: Error) => error.message);
    const next = turns.run(async () => "yes");
    expect(await Promise.all([failed, next])).to.deep.equal(["no", "yes"]);
  });
});
