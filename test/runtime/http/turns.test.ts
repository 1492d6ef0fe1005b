import { expect } from "chai";
import { Turns } from "tallystick-runtime/http/turns";

/** Starts pieces of work. Each call of `end` ends one of them. */
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
  it("follow a limit that rises or falls while work waits", async () => {
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

  it("run one piece of work even with a limit of 0, and continue after a piece that fails", async () => {
    const turns = new Turns(() => 0);
    const failed = turns.run(() => Promise.reject(new Error("no"))).catch((error: Error) => error.message);
    const next = turns.run(async () => "yes");
    expect(await Promise.all([failed, next])).to.deep.equal(["no", "yes"]);
  });
});
