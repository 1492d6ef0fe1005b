import { expect } from "chai";
import { writerAfter } from "../../../../tools/bench/standby/writerAfter.ts";

describe("the writer in the soak of a stand-by", () => {
  it("is never a machine whose process ends while clients write", async () => {
    const doomed = { name: "a", isWriter: true, lives: 3 };
    const next = { name: "b", isWriter: true, lives: 1 };
    // Machine a has lost the ledger. Its process ends, starts again, and is then a stand-by.
    setTimeout(() => Object.assign(doomed, { isWriter: false, lives: 4 }), 10);
    expect(await writerAfter(40, [doomed, next], 1_000)).to.deep.equal({ writer: next, life: 1 });
  });

  it("is not the earlier process of a machine that started again", async () => {
    const machine = { isWriter: true, lives: 3 };
    setTimeout(() => Object.assign(machine, { lives: 4 }), 10);
    expect(await writerAfter(40, [machine], 1_000)).to.deep.equal({ writer: machine, life: 4 });
  });

  it("is nobody when nobody writes in time", async () => {
    const error = await writerAfter(0, [{ isWriter: false, lives: 1 }], 20).catch((it) => it);
    expect(error).to.include({ code: "standby_test_failed", message: "nobody writes" });
  });
});
